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

using Workspace = run::Engine::Workspace;

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

meta::Learning learning_of(Workspace workspace) {
  switch (workspace) {
  case Workspace::learn:
    return meta::Learning::all;
  case Workspace::known_only:
    return meta::Learning::known_only;
  case Workspace::none:
    return meta::Learning::none;
  }
  return meta::Learning::all;
}

class LearnerDryRun final : public run::DryRun {
public:
  LearnerDryRun(const run::RunSpec& spec, const data::ExampleShape& shape, std::int64_t examples, Workspace workspace)
      : spec_(spec), shape_(shape), workspace_(workspace), sampler_{.examples = examples,
                                                                    .ranks = 1,
                                                                    .accumulate = spec.accumulate,
                                                                    .effective_batch = spec.effective_batch,
                                                                    .drop_last = spec.drop_last},
        device_(meta::MetaDevice::open()) {
    const meta::MetaDevice::Scope scope(*device_);
    learner_ = make_learner(*device_);
  }

  telemetry::Trace trace(std::int64_t batch) override {
    return traced(*device_, batch, [&] { step(*learner_, batch); });
  }

  telemetry::Trace trace_from_start(std::int64_t batch) override {
    const auto device = meta::MetaDevice::open();
    std::unique_ptr<Learner> learner; // outlives the trace
    return traced(*device, batch, [&] {
      learner = make_learner(*device);
      step(*learner, batch);
      step(*learner, batch);
    });
  }

  bool complete() const override { return complete_; }
  std::int64_t largest_whole_batch() const override {
    if (sampler_.effective_batch)
      return std::max<std::int64_t>(std::min(sampler_.examples / 2, *sampler_.effective_batch - 1), 1);
    return std::max<std::int64_t>(sampler_.examples / sampler_.accumulate, 1);
  }
  std::int64_t parameter_count() const override { return learner_->parameter_count(); }

private:
  std::unique_ptr<Learner> make_learner(memory::Device& device) const {
    const auto data = std::make_shared<ShapeOnly>(shape_, sampler_.examples);
    return std::make_unique<Learner>(spec_, data::DataSplit{.train = data, .validation = nullptr}, device);
  }

  template <typename Work> telemetry::Trace traced(meta::MetaDevice& device, std::int64_t batch, const Work& work) {
    const meta::MetaDevice::Scope scope(device);
    const meta::LearningScope learning(learning_of(workspace_));
    device.start_trace();
    try {
      work();
    } catch (...) {
      device.stop_trace();
      throw;
    }
    telemetry::Trace recorded = device.stop_trace();
    recorded.batch = batch;
    complete_ = complete_ && !learning.missed();
    return recorded;
  }

  void step(Learner& learner, std::int64_t batch) const {
    const data::StepTakes takes = data::Sampler(probe_options(sampler_, batch)).next(batch);
    const std::vector<std::int64_t> indices(
        static_cast<std::size_t>(*std::max_element(takes.takes.begin(), takes.takes.end())));
    std::vector<MicroBatch> window;
    for (const std::int64_t count : takes.takes) {
      if (count > 0)
        window.push_back(MicroBatch(indices).first(static_cast<std::size_t>(count)));
    }
    learner.attempt(window);
    learner.update(run::learning_rate_or_default(spec_), run::weight_decay_or_default(spec_), spec_.clip);
  }

  run::RunSpec spec_;
  data::ExampleShape shape_;
  Workspace workspace_;
  bool complete_ = true;
  data::SamplerOptions sampler_;
  std::unique_ptr<meta::MetaDevice> device_; // outlives the learner's tensors
  std::unique_ptr<Learner> learner_;
};

} // namespace

std::unique_ptr<run::DryRun> make_dry_run(const run::RunSpec& spec, const data::ExampleShape& shape,
                                          std::int64_t examples, run::Engine::Workspace workspace) {
  return std::make_unique<LearnerDryRun>(spec, shape, examples, workspace);
}

} // namespace batchscope::train
