// The loop's checkpoints: its state, and when one is made.
#include "core/train/detail/loop.h"

namespace batchscope::train {

LoopState Loop::state() const {
  const std::uint64_t budget = learner_.device().readings().limit;
  return {.progress = progress_,
          .plan = progression_.state_json(),
          .split = stepper_.state(),
          .evaluation = evaluator_.state(),
          .before = before_,
          .changed_budget = budget != budget_at_start_ && !free_memory_ ? std::optional(budget) : std::nullopt,
          .largest_micro = largest_micro_,
          .peak_by = peak_by_,
          .evaluated_at = evaluated_at_,
          .evaluated_examples = evaluated_examples_,
          .best_score = checkpoints_ ? checkpoints_->best_score() : std::nullopt,
          .events = events_,
          .seconds = seconds_since_start()};
}

void Loop::restore(const LoopState& state) {
  progress_ = state.progress;
  progression_.restore(state.plan);
  stepper_.restore(state.split);
  evaluator_.restore(state.evaluation);
  before_ = state.before;
  if (state.changed_budget) {
    learner_.device().set_budget(*state.changed_budget);
    budget_at_start_ = 0; // the next checkpoint has it, too
    free_memory_.reset();
  }
  largest_micro_ = state.largest_micro;
  peak_by_ = state.peak_by;
  evaluated_at_ = state.evaluated_at;
  evaluated_examples_ = state.evaluated_examples;
  if (checkpoints_)
    checkpoints_->set_best_score(state.best_score);
  events_ = state.events;
  seconds_before_ = state.seconds;
}

std::optional<double> Loop::score_here() const {
  const telemetry::RunOutcome& so_far = progress_.outcome();
  return evaluated_at_ == steps() ? checkpoint::score(so_far.validation_loss, so_far.validation_accuracy)
                                  : std::nullopt;
}

void Loop::make_checkpoint_if_due() {
  if (!checkpoints_)
    return;
  report_checkpoints();
  // After the last step there is one that also has the last evaluation.
  if (checkpoints_->due(steps(), score_here()) && progression_.next())
    checkpoints_->make(state());
}

/// Makes the last checkpoint of a run that has finished or was stopped. The loop is over, so it may wait for the disk.
void Loop::make_last_checkpoint() {
  if (!checkpoints_)
    return;
  checkpoints_->wait();
  report_checkpoints();
  if (steps() > 0 && checkpoints_->last_step() != steps())
    checkpoints_->make(state());
  checkpoints_->wait();
  report_checkpoints();
}

void Loop::save_weights() {
  if (options_.save.empty() || steps() == 0)
    return;
  const std::vector<checkpoint::Tensor> weights = learner_.copy_weights();
  checkpoint::write_safetensors(options_.save, weights, {{"format", "pt"}});
  std::uint64_t bytes = 0;
  for (const checkpoint::Tensor& tensor : weights)
    bytes += tensor.bytes;
  send(telemetry::WeightsWritten{.file = options_.save, .bytes = bytes});
}

namespace {

telemetry::CheckpointWritten body_of(const Checkpoints::Report& report) {
  if (!report.problem.empty())
    return {.error = report.problem};
  return {.bytes = report.bytes, .copy_seconds = report.copy_seconds, .write_seconds = report.seconds};
}

} // namespace

/// A problem that persists is reported once.
void Loop::report_checkpoints() {
  for (const Checkpoints::Report& report : checkpoints_->take_reports()) {
    if (report.problem.empty() || checkpoint_problem_.empty())
      send_at(report.step, body_of(report), {});
    checkpoint_problem_ = report.problem;
  }
}

} // namespace batchscope::train
