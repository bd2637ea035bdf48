#include "core/train/detail/trials.h"

#include <algorithm>
#include <chrono>

#include "core/base/error.h"
#include "core/base/processor_time.h"
#include "core/base/seconds_since.h"
#include "core/memory/detail/torch_errors.h"

namespace batchscope::train {

namespace {

using Clock = std::chrono::steady_clock;

/// Minimum duration of a timed stretch, which has at least one step.
constexpr double stretch_seconds = 0.2;

} // namespace

data::SamplerOptions probe_options(data::SamplerOptions options, std::int64_t batch) {
  if (options.effective_batch) {
    options.accumulate = batch < *options.effective_batch ? 2 : 1;
    options.effective_batch.reset();
  }
  return options;
}

LearnerTrials::LearnerTrials(Learner& learner, const TrialOptions& options)
    : learner_(learner), options_(options), before_(learner.snapshot()), order_(learner.train_data(), options.seed) {
  if (learner_.train_data().shape().input == data::ExampleShape::Input::tokens)
    longest_ = data::longest_example(learner_.train_data());
}

void LearnerTrials::fill_window(std::int64_t batch, const data::SamplerOptions& options) {
  const data::StepTakes takes = data::Sampler(options).next(batch);
  window_.fill(takes, order_);
  examples_ = takes.examples;
  if (!longest_)
    return;
  std::size_t first = 0;
  for (const MicroBatch& micro : window_.micro_batches()) {
    window_.indices()[first] = *longest_;
    first += micro.size();
  }
}

bool LearnerTrials::step() {
  const Attempt attempt = learner_.attempt(window_.micro_batches());
  if (attempt.out_of_memory)
    return false;
  learner_.update(options_.learning_rate, options_.weight_decay, options_.clip);
  learner_.computed(); // for which a training waits, too
  return true;
}

search::Probe LearnerTrials::run(const search::Proposal& proposal) {
  if (options_.stop && options_.stop())
    throw Error(Error::Kind::failed, "stopped");
  search::Probe probe;
  probe.batch = proposal.batch;
  probe.predicted_bytes = proposal.predicted_bytes;
  fill_window(proposal.batch, probe_options(options_.sampler, proposal.batch));
  learner_.device().release_cache();
  learner_.device().reset_peak();
  try {
    probe.outcome = run_steps(proposal.trace, probe) ? search::Outcome::fits : search::Outcome::out_of_memory;
  } catch (const std::exception& error) {
    const Error failed = memory::failure(error);
    if (failed.kind() == Error::Kind::device_lost) // no other size can be tried
      throw;
    probe.outcome = search::Outcome::error;
    probe.message = failed.what();
  }
  probe.peak_bytes = learner_.device().readings().peak;
  learner_.restore(*before_);
  return probe;
}

/// The first step at a size includes one-time allocations (kernels' caches); the last is what a run repeats.
bool LearnerTrials::run_steps(bool trace, search::Probe& probe) {
  memory::Device& device = learner_.device();
  int before = std::exchange(warm_, true) ? 1 : 2;
  if (device.kind() == memory::DeviceKind::cuda)
    before = std::max(before, steps_to_settle);
  for (int i = 0; i < before; ++i)
    if (!step())
      return false;
  if (trace)
    device.reset_peak();
  const bool traced = trace && device.start_trace();
  const auto begin = Clock::now();
  bool fits = false;
  try {
    fits = step();
  } catch (...) {
    if (traced)
      device.stop_trace();
    throw;
  }
  device.synchronize();
  const double seconds = seconds_since(begin);
  if (traced) {
    telemetry::Trace recorded = device.stop_trace();
    recorded.batch = probe.batch;
    if (fits)
      probe.trace = std::make_shared<const telemetry::Trace>(std::move(recorded));
  }
  if (fits) {
    probe.seconds = seconds;
    probe.examples_per_second = static_cast<double>(examples_) / seconds;
  }
  return fits;
}

std::optional<search::TimedSteps> LearnerTrials::time(std::int64_t batch) {
  if (options_.stop && options_.stop())
    throw Error(Error::Kind::failed, "stopped");
  const auto first = Clock::now();
  fill_window(batch, options_.sampler);
  bool fits = step();
  learner_.device().synchronize();
  const ProcessorWatch watch;
  const auto begin = Clock::now();
  std::vector<double> step_seconds;
  double seconds = 0;
  while (fits && seconds < stretch_seconds) {
    fits = step();
    learner_.device().synchronize();
    const double now = seconds_since(begin);
    step_seconds.push_back(now - std::exchange(seconds, now));
  }
  const ProcessorShare share = watch.share();
  learner_.restore(*before_);
  if (!fits)
    return std::nullopt;
  search::TimedSteps stretch = search::timed_steps_of(step_seconds, static_cast<double>(examples_), share);
  stretch.spent_seconds = seconds_since(first);
  return stretch;
}

} // namespace batchscope::train
