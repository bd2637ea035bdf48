#include "core/train/detail/checkpoints.h"

#include <algorithm>
#include <cmath>
#include <new>

namespace batchscope::train {

namespace {

double seconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

} // namespace

Checkpoints::Checkpoints(const CheckpointOptions& options, Learner& learner)
    : options_(options), learner_(learner), keeper_(options.folder, options.before_writing) {}

bool Checkpoints::due(std::int64_t step, std::optional<double> score) {
  constexpr double seconds_per_minute = 60;
  if (options_.every && step % *options_.every == 0)
    wanted_ = true;
  if (options_.minutes && seconds_since(last_time_) >= *options_.minutes * seconds_per_minute)
    wanted_ = true;
  if (score && (!best_score_ || *score > *best_score_)) {
    best_score_ = score;
    wanted_ = true;
  }
  return wanted_ && step != last_step_ && !keeper_.full();
}

void Checkpoints::make(const LoopState& state) {
  const auto started = Clock::now();
  last_step_ = state.progress.outcome().steps;
  last_time_ = started;
  wanted_ = false;
  try {
    checkpoint::Checkpoint copied = copy(state);
    copied_.emplace_back(last_step_, seconds_since(started));
    keeper_.keep(std::move(copied));
  } catch (const std::bad_alloc&) {
    Report report;
    report.step = last_step_;
    report.problem = "the system has no memory for a copy of the state";
    failed_.push_back(report);
  }
}

checkpoint::Checkpoint Checkpoints::copy(const LoopState& state) const {
  const telemetry::RunOutcome& outcome = state.progress.outcome();
  checkpoint::Checkpoint checkpoint{.label = options_.label, .texts = {}, .tensors = learner_.copy_state()};
  checkpoint.label.step = outcome.steps;
  if (state.evaluated_at == outcome.steps) {
    checkpoint.label.validation_loss = outcome.validation_loss;
    checkpoint.label.validation_accuracy = outcome.validation_accuracy;
  }
  save(state, checkpoint);
  return checkpoint;
}

std::vector<Checkpoints::Report> Checkpoints::take_reports() {
  std::vector<Report> reports = std::exchange(failed_, {});
  for (checkpoint::Keeper::Report& written : keeper_.take_reports()) {
    reports.push_back({std::move(written), copied_.front().second});
    copied_.erase(copied_.begin()); // they are written in order
  }
  return reports;
}

} // namespace batchscope::train
