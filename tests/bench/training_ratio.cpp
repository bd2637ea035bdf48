#include "training_ratio.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/randperm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "core/data/dataset.h"
#include "core/model/detail/model.h"
#include "core/run/engine.h"
#include "core/run/session.h"
#include "core/store/run_store.h"

namespace batchscope::bench {

namespace {

using Clock = std::chrono::steady_clock;

const std::string images = std::string("idx:") + BATCHSCOPE_SOURCE_DIR "/resources/demo/t10k-images-idx3-ubyte.gz," +
                           BATCHSCOPE_SOURCE_DIR "/resources/demo/t10k-labels-idx1-ubyte.gz,validation=0";

double seconds_since(Clock::time_point from) {
  return std::chrono::duration<double>(Clock::now() - from).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

/// What one would write without this program: all data as tensors, an index for each batch.
class BareLoop {
public:
  explicit BareLoop(const std::string& model) {
    const auto data = data::open_data(images).train;
    const std::int64_t count = data->size();
    std::vector<std::int64_t> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    inputs_ = at::empty({count, 1, 28, 28}, at::kFloat);
    labels_ = at::empty({count}, at::kLong);
    data->fill_inputs(all, inputs_.data_ptr<float>());
    data->fill_labels(all, 1, labels_.data_ptr<std::int64_t>());
    model_ = model::make_model(run::parse_model(model), data->shape(), 0, 1, at::kCPU);
    const at::NoGradGuard no_grad;
    for (const at::Tensor& parameter : model_->parameters()) {
      means_.push_back(at::zeros_like(parameter));
      squares_.push_back(at::zeros_like(parameter));
      steps_.push_back(at::zeros({}));
    }
  }

  double run(std::int64_t batch, std::int64_t steps) {
    const auto begin = Clock::now();
    std::int64_t position = inputs_.size(0);
    for (std::int64_t step = 0; step < steps; ++step) {
      if (position + batch > inputs_.size(0)) {
        order_ = at::randperm(inputs_.size(0), at::kLong);
        position = 0;
      }
      const at::Tensor index = order_.slice(0, position, position + batch);
      position += batch;
      const at::Tensor logits = model_->forward(inputs_.index_select(0, index), true);
      const at::Tensor loss = at::cross_entropy_loss(logits, labels_.index_select(0, index));
      loss.backward();
      update();
      sum_ += loss.item<double>();
    }
    return seconds_since(begin);
  }

private:
  void update() {
    const at::NoGradGuard no_grad;
    std::vector<at::Tensor> gradients;
    for (const at::Tensor& parameter : model_->parameters())
      gradients.push_back(parameter.grad());
    sum_ += at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients, 2))).item<double>();
    at::_foreach_add_(steps_, 1);
    at::_fused_adamw_(model_->parameters(), gradients, means_, squares_, {}, steps_, 0.001, 0.9, 0.999, 0.01, 1e-8,
                      false, false);
    for (const at::Tensor& parameter : model_->parameters())
      parameter.mutable_grad() = at::Tensor();
  }

  at::Tensor inputs_, labels_, order_;
  std::unique_ptr<model::Model> model_;
  std::vector<at::Tensor> means_, squares_, steps_;
  double sum_ = 0; ///< so that loss and norm are really used
};

run::RunSpec spec_of(const std::string& model, std::int64_t batch, std::int64_t steps) {
  run::RunSpec spec;
  spec.model = model;
  spec.data = images;
  spec.batch = {run::BatchChoice::Kind::number, batch};
  spec.length = {.epochs = {}, .examples = {}, .steps = steps};
  return spec;
}

double run_whole_loop(const run::RunSpec& spec, store::RunStore& store) {
  const auto session = run::open_session(spec);
  run::RunControl control;
  const auto begin = Clock::now();
  const auto writer = store.begin({.name = "bench", .spec_json = run::to_json(spec)});
  const telemetry::RunOutcome summary = session->run(writer->sink(), control);
  const double seconds = seconds_since(begin);
  writer->finish(summary);
  return seconds;
}

/// Both return seconds. `steps`: that the plain one makes.
TrainingRatio side_by_side(const std::function<double()>& plain, const std::function<double()>& other,
                           std::int64_t steps, int rounds) {
  std::vector<double> ratios, plain_times;
  for (int round = 0; round < rounds; ++round) {
    // The order changes, so that a machine that gets slower or faster favours neither.
    const bool plain_first = round % 2 == 0;
    double plain_seconds = plain_first ? plain() : 0;
    const double other_seconds = other();
    if (!plain_first)
      plain_seconds = plain();
    ratios.push_back(other_seconds / plain_seconds);
    plain_times.push_back(plain_seconds / static_cast<double>(steps) * 1e6);
  }
  return {median(ratios), *std::min_element(ratios.begin(), ratios.end()),
          *std::max_element(ratios.begin(), ratios.end()), median(plain_times)};
}

} // namespace

TrainingRatio measure_training(const std::string& model, std::int64_t batch, std::int64_t steps, int rounds,
                               const std::filesystem::path& folder) {
  store::RunStore store(folder / "bench.db");
  run_whole_loop(spec_of(model, batch, steps / 4), store); // also installs the allocator that both then use
  BareLoop bare(model);
  bare.run(batch, steps / 4);
  return side_by_side([&] { return bare.run(batch, steps); },
                      [&] { return run_whole_loop(spec_of(model, batch, steps), store); }, steps, rounds);
}

TrainingRatio measure_noise(const std::string& model, std::int64_t batch, std::int64_t accumulate, std::int64_t steps,
                            int rounds, const std::filesystem::path& folder) {
  store::RunStore store(folder / "noise.db");
  run::RunSpec plain = spec_of(model, batch, steps);
  plain.accumulate = accumulate;
  run::RunSpec measured = plain;
  measured.noise_every = accumulate > 1 ? 10 : 20; // as if a schedule needed it
  run_whole_loop(measured, store);
  return side_by_side([&] { return run_whole_loop(plain, store); }, [&] { return run_whole_loop(measured, store); },
                      steps, rounds);
}

} // namespace batchscope::bench
