#include "core/train/detail/trials.h"

#include <algorithm>
#include <chrono>

#include "core/base/error.h"

namespace batchscope::train {

namespace {

using Clock = std::chrono::steady_clock;

/// A size is timed for at least so long, and at least one step.
constexpr double timing_seconds = 0.3;

double seconds_since(Clock::time_point from) {
  return std::chrono::duration<double>(Clock::now() - from).count();
}

/// Position of the longest example within the order: memory is asked for what a run may meet at worst.
std::int64_t longest_example(const data::Dataset& data) {
  std::int64_t longest = 0;
  std::int64_t length = 0;
  for (std::int64_t index = 0; index < data.size(); ++index) {
    const std::int64_t own = data.layout(std::span(&index, 1)).length;
    if (own > length) {
      length = own;
      longest = index;
    }
  }
  return longest;
}

} // namespace

LearnerTrials::LearnerTrials(Learner& learner, const TrialOptions& options)
    : learner_(learner), options_(options), before_(learner.snapshot()) {}

LearnerTrials::~LearnerTrials() {
  learner_.device().release_cache();
}

void LearnerTrials::fill_window(std::int64_t batch) {
  data::Sampler sampler(options_.sampler);
  const data::StepTakes takes = sampler.next(batch);
  window_.fill(takes, data::EpochOrder(options_.sampler.examples, options_.seed, 0));
  examples_ = takes.examples;
  if (learner_.train_data().shape().input == data::ExampleShape::Input::tokens)
    window_.indices().front() = longest_example(learner_.train_data());
}

bool LearnerTrials::step() {
  const Attempt attempt = learner_.attempt(window_.micro_batches());
  if (attempt.out_of_memory)
    return false;
  learner_.update(options_.learning_rate, options_.weight_decay, options_.clip);
  return true;
}

search::Probe LearnerTrials::run(const search::Proposal& proposal) {
  if (options_.stop && options_.stop())
    throw Error(Error::Kind::failed, "stopped");
  memory::Device& device = learner_.device();
  search::Probe probe;
  probe.batch = proposal.batch;
  probe.predicted_bytes = proposal.predicted_bytes;
  fill_window(proposal.batch);
  device.release_cache();
  device.reset_peak();
  // The first step at a size meets what is made once (kernels' own caches); the second is what a run repeats.
  bool fits = step();
  if (fits && !std::exchange(warm_, true))
    fits = step();
  if (fits) {
    const bool traced = proposal.trace && device.start_trace();
    const auto begin = Clock::now();
    fits = step();
    device.synchronize();
    probe.seconds = seconds_since(begin);
    if (traced) {
      predict::Trace trace = device.stop_trace();
      trace.batch = proposal.batch;
      if (fits)
        probe.trace = std::make_shared<const predict::Trace>(std::move(trace));
    }
  }
  probe.outcome = fits ? search::Outcome::fits : search::Outcome::out_of_memory;
  probe.peak_bytes = device.readings().peak;
  if (fits)
    probe.examples_per_second = static_cast<double>(examples_) / *probe.seconds;
  else
    probe.seconds.reset();
  learner_.restore(*before_);
  return probe;
}

search::Timing LearnerTrials::time(std::int64_t batch) {
  if (options_.stop && options_.stop())
    throw Error(Error::Kind::failed, "stopped");
  fill_window(batch);
  bool fits = step();
  const auto begin = Clock::now();
  int steps = 0;
  double seconds = 0;
  while (fits && (steps == 0 || seconds < timing_seconds)) {
    fits = step();
    ++steps;
    learner_.device().synchronize();
    seconds = seconds_since(begin);
  }
  learner_.restore(*before_);
  search::Timing timing{batch, seconds / std::max(steps, 1), 0};
  if (fits)
    timing.examples_per_second = static_cast<double>(examples_) / timing.seconds;
  return timing;
}

} // namespace batchscope::train
