#include "core/train/detail/dry_run.h"

#include "core/meta/detail/host_kernel.h"
#include "core/meta/detail/meta_device.h"
#include "core/train/detail/learner.h"
#include "core/train/detail/shape_steps.h"

namespace batchscope::train {

namespace {

using Workspace = run::Engine::Workspace;

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
      : steps_(spec, shape, examples), largest_whole_(run::largest_whole_batch(spec, examples)), workspace_(workspace),
        device_(meta::MetaDevice::open()) {
    const meta::MetaDevice::Scope scope(*device_);
    learner_ = steps_.make_learner(*device_);
  }

  telemetry::Trace trace(std::int64_t batch) override {
    const meta::MetaDevice::Scope scope(*device_);
    const meta::LearningScope learning(learning_of(workspace_));
    device_->start_trace();
    try {
      steps_.step(*learner_, batch);
    } catch (...) {
      device_->stop_trace();
      throw;
    }
    telemetry::Trace recorded = device_->stop_trace();
    recorded.batch = batch;
    complete_ = complete_ && !learning.missed();
    return recorded;
  }

  bool complete() const override { return complete_; }
  std::int64_t largest_whole_batch() const override { return largest_whole_; }
  std::int64_t parameter_count() override { return learner_->parameter_count(); }

private:
  ShapeSteps steps_;
  std::int64_t largest_whole_;
  Workspace workspace_;
  bool complete_ = true;
  std::unique_ptr<meta::MetaDevice> device_; // outlives the learner's tensors
  std::unique_ptr<Learner> learner_;
};

} // namespace

std::unique_ptr<run::DryRun> make_dry_run(const run::RunSpec& spec, const data::ExampleShape& shape,
                                          std::int64_t examples, run::Engine::Workspace workspace) {
  return std::make_unique<LearnerDryRun>(spec, shape, examples, workspace);
}

} // namespace batchscope::train
