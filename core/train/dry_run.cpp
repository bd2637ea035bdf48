#include "core/train/detail/dry_run.h"

#include <algorithm>
#include <vector>

#include "core/base/error.h"
#include "core/data/sampler.h"
#include "core/memory/detail/torch_errors.h"
#include "core/meta/detail/host_kernel.h"
#include "core/meta/detail/meta_device.h"
#include "core/run/model_spec.h"
#include "core/train/detail/learner.h"
#include "core/train/detail/trials.h"

namespace batchscope::train {

namespace {

/// Examples of one shape without content, all of the greatest length.
class ShapeOnly final : public data::Dataset {
public:
  ShapeOnly(data::ExampleShape shape, std::int64_t examples) : shape_(std::move(shape)), examples_(examples) {}
  std::int64_t size() const override { return examples_; }
  const data::ExampleShape& shape() const override { return shape_; }
  data::BatchLayout layout(std::span<const std::int64_t> indices) const override {
    const auto count = static_cast<std::int64_t>(indices.size());
    const std::int64_t length =
        shape_.input == data::ExampleShape::Input::tokens ? shape_.dimensions.front() : std::int64_t{1};
    return {count, length, count * length};
  }

private:
  data::ExampleShape shape_;
  std::int64_t examples_;
};

class LearnerDryRun final : public run::DryRun {
public:
  LearnerDryRun(const run::RunSpec& spec, const data::ExampleShape& shape, std::int64_t examples, bool learns_workspace)
      : learns_workspace_(learns_workspace), sampler_{.examples = examples,
                                                      .ranks = 1,
                                                      .accumulate = spec.accumulate,
                                                      .effective_batch = spec.effective_batch,
                                                      .drop_last = spec.drop_last},
        learning_rate_(run::learning_rate_or_default(spec)), weight_decay_(run::weight_decay_or_default(spec)),
        clip_(spec.clip), device_(meta::MetaDevice::open()) {
    const meta::MetaDevice::Scope scope(*device_);
    learner_ = std::make_unique<Learner>(
        spec, data::DataSplit{.train = std::make_shared<ShapeOnly>(shape, examples), .validation = nullptr}, *device_);
  }

  telemetry::Trace trace(std::int64_t batch) override {
    if (learns_workspace_)
      return traced(batch);
    const meta::KnownKernelsOnly known_only;
    telemetry::Trace trace = traced(batch);
    complete_ = complete_ && !known_only.missed();
    return trace;
  }

  bool complete() const override { return complete_; }
  std::int64_t largest_whole_batch() const override {
    if (sampler_.effective_batch)
      return std::max<std::int64_t>(std::min(sampler_.examples / 2, *sampler_.effective_batch - 1), 1);
    return std::max<std::int64_t>(sampler_.examples / sampler_.accumulate, 1);
  }
  std::int64_t parameter_count() const override { return learner_->parameter_count(); }

private:
  telemetry::Trace traced(std::int64_t batch) {
    const meta::MetaDevice::Scope scope(*device_);
    const data::StepTakes takes = data::Sampler(probe_options(sampler_, batch)).next(batch);
    const std::vector<std::int64_t> indices(
        static_cast<std::size_t>(*std::max_element(takes.takes.begin(), takes.takes.end())));
    std::vector<MicroBatch> window;
    for (const std::int64_t count : takes.takes) {
      if (count > 0)
        window.push_back(MicroBatch(indices).first(static_cast<std::size_t>(count)));
    }
    device_->start_trace();
    try {
      learner_->attempt(window);
      learner_->update(learning_rate_, weight_decay_, clip_);
    } catch (...) {
      device_->stop_trace();
      throw;
    }
    telemetry::Trace recorded = device_->stop_trace();
    recorded.batch = batch;
    return recorded;
  }

  bool learns_workspace_;
  bool complete_ = true;
  data::SamplerOptions sampler_;
  double learning_rate_;
  double weight_decay_;
  std::optional<double> clip_;
  std::unique_ptr<meta::MetaDevice> device_; // outlives the learner's tensors
  std::unique_ptr<Learner> learner_;
};

} // namespace

std::unique_ptr<run::DryRun> make_dry_run(const run::RunSpec& spec, const data::ExampleShape& shape,
                                          std::int64_t examples, bool learns_workspace) {
  return std::make_unique<LearnerDryRun>(spec, shape, examples, learns_workspace);
}

} // namespace batchscope::train
