#include "core/train/detail/loop.h"

#include <algorithm>
#include <cmath>

#include "core/memory/detail/torch_errors.h"
#include "core/telemetry/message.h"

namespace batchscope::train {

namespace {

using telemetry::RunStatus;

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

} // namespace

Loop::Loop(const LoopOptions& options, Learner& learner, telemetry::Sink& sink, run::RunControl& control,
           const Resumption* resumption)
    : options_(options), learner_(learner), sink_(sink), control_(control),
      progression_(options.progression, [this](const schedule::ScheduleEvent& event) { report_schedule(event); }),
      stepper_(learner, options.on_oom, options.may_halve, options.grow_back),
      evaluator_(learner, [this](std::int64_t tried, std::int64_t now,
                                 const memory::OutOfMemoryInfo& info) { report_shrunk_evaluation(tried, now, info); }),
      order_(learner.train_data(), options.seed, options.group_by_length),
      progress_(telemetry::RunStatus::running, options.progression.batch) {
  budget_at_start_ = learner.device().readings().limit;
  if (options.follow_free_memory)
    free_memory_.emplace(*options.follow_free_memory);
  if (options.checkpoints)
    checkpoints_.emplace(*options.checkpoints, learner);
  if (resumption) {
    restore(resumption->state);
    resumed_ = resumption->report;
  }
}

telemetry::RunOutcome Loop::run() {
  started_ = Clock::now();
  if (resumed_)
    send(*resumed_);
  const telemetry::RunOutcome result = make_steps();
  close_control();
  if (result.status == RunStatus::failed)
    return outcome(result.status, result.reason);
  make_last_checkpoint();
  try {
    save_weights();
  } catch (const std::exception& error) {
    return outcome(RunStatus::failed, std::string("the weights were not saved: ") + error.what());
  }
  return outcome(result.status, result.reason);
}

telemetry::RunOutcome Loop::make_steps() {
  try {
    if (resumed_ && is_evaluation_due())
      evaluate(); // a stop had ended it
    // Without a step left there is no boundary: commands are too late now.
    while (progression_.next()) {
      if (!follow_commands())
        return outcome(RunStatus::stopped, "");
      const auto step = progression_.next();
      if (!step)
        break;
      const double begin = progress_.clock().training_seconds();
      if (!make(*step))
        return outcome(RunStatus::failed, failure_);
      step_seconds_ = progress_.clock().training_seconds() - begin;
      if (is_evaluation_due())
        evaluate();
      make_checkpoint_if_due();
      if (is_target_reached() || is_time_over())
        break;
    }
    close_control();
    evaluate();
  } catch (const std::exception& error) {
    return outcome(RunStatus::failed, memory::first_line(error));
  }
  return outcome(control_.stopping() && evaluated_at_ != steps() ? RunStatus::stopped : RunStatus::finished, "");
}

bool Loop::follow_commands() {
  const run::RunControl::Requests requests = control_.at_boundary([this] { report_paused(true); });
  paused_seconds_ += requests.waited_seconds;
  if (requests.stop)
    return false;
  if (!requests.paused)
    report_paused(false);
  for (const run::ScheduleEdit& edit : requests.edits)
    apply(edit);
  for (const run::BudgetChange& change : requests.budgets)
    apply(change);
  follow_free_memory();
  return true;
}

bool Loop::make(const schedule::PlannedStep& step) {
  window_.fill(step.takes, order_);
  learner_.set_epoch(step.takes.epoch_index);
  memory::Device& device = learner_.device();
  device.reset_peak();
  note_before(device.readings());
  const std::int64_t reference = options_.progression.learning_rate.reference_batch;
  if (options_.dropout > 0)
    learner_.set_dropout(
        schedule::scaled_dropout(options_.dropout, options_.regularization, step.nominal_effective, reference));
  StepOutcome outcome = attempt(step);
  if (!outcome.ready && return_to_budget_before())
    outcome = attempt(step);
  if (!outcome.ready) {
    failure_ = outcome.failure;
    return false;
  }
  budget_before_.reset();
  learner_.update(
      step.learning_rate,
      schedule::scaled_weight_decay(options_.weight_decay, options_.regularization, step.nominal_effective, reference),
      options_.clip);
  const Computed computed = learner_.computed();
  const memory::Readings after = device.readings();
  if (step.batch >= before_.largest_nominal)
    before_.limit = after.limit;
  before_.largest_nominal = std::max(before_.largest_nominal, step.batch);
  before_.longest = std::max(before_.longest, outcome.longest);
  report(step, outcome, computed, after);
  if (!learner_.not_deterministic().empty() && !std::exchange(said_not_deterministic_, true))
    send(telemetry::Lint{
        telemetry::because(telemetry::Words::not_deterministic, {{"error", learner_.not_deterministic()}})});
  if (computed.norms)
    if (const auto noise = progression_.add_gradient_norms(*computed.norms))
      send(telemetry::ValuesOnly{}, {{telemetry::noise_scale, *noise}});
  progression_.done({.loss = computed.loss,
                     .vram_fraction = static_cast<double>(after.peak) / static_cast<double>(after.limit),
                     .tokens = options_.progression.has_tokens ? outcome.tokens : 0,
                     .stream_losses = computed.stream_losses});
  return true;
}

StepOutcome Loop::attempt(const schedule::PlannedStep& step) {
  StepOutcome outcome = stepper_.run(window_.micro_batches(), is_noise_due(step.step));
  for (const OutOfMemory& event : outcome.out_of_memory)
    report_out_of_memory(event, budget_before_.has_value()); // to which it can return
  return outcome;
}

/// One-time allocations of the first step (kernels' workspaces) are not growth, so the comparison begins after it.
void Loop::note_before(const memory::Readings& readings) {
  before_.baseline = readings.in_use;
  before_.others =
      readings.device_wide ? *readings.device_wide - std::min(*readings.device_wide, readings.reserved) : 0;
  if (steps() <= 1) {
    before_.first_baseline = before_.baseline;
    before_.others_first = before_.others;
  }
}

bool Loop::is_noise_due(std::int64_t step) const {
  if (!options_.noise_every && !progression_.needs_noise())
    return false;
  // So that it takes less than 3 % of the time: a norm more is next to nothing, but two halves of a small batch take up
  // to half as long again as the whole.
  const std::int64_t often_enough = window_.micro_batches().size() > 1 ? 10 : 20;
  return step % options_.noise_every.value_or(often_enough) == 0;
}

bool Loop::is_evaluation_due() const {
  if (progression_.epoch_ended())
    return true;
  if (!options_.evaluate_every)
    return false;
  const auto& [every_steps, percent] = *options_.evaluate_every;
  if (every_steps > 0)
    return steps() % every_steps == 0;
  const double interval = percent / 100 * static_cast<double>(options_.progression.sampler.examples);
  const auto intervals = [&](std::int64_t examples) { return std::floor(static_cast<double>(examples) / interval); };
  return intervals(progress_.outcome().examples_seen) > intervals(evaluated_examples_);
}

/// Whether the next step, if it takes as long as the last one, would end too late.
bool Loop::is_time_over() const {
  return options_.max_seconds && steps() > 0 &&
         progress_.clock().training_seconds() + step_seconds_ > *options_.max_seconds;
}

bool Loop::is_target_reached() const {
  const telemetry::RunOutcome& so_far = progress_.outcome();
  return options_.target_score && evaluated_at_ == steps() && so_far.validation_loss &&
         run::reaches(*options_.target_score, *so_far.validation_loss, so_far.validation_accuracy);
}

/// Draws no random numbers and changes no state of the model, so that training goes on as it would have without it.
void Loop::evaluate() {
  if (evaluated_at_ == steps())
    return;
  const double begin = seconds_since_start();
  const auto result = evaluator_.run(largest_micro_, [this] { return control_.stopping(); });
  if (!result) {
    if (learner_.validation_data() == nullptr || learner_.validation_data()->size() == 0)
      evaluated_at_ = steps();
    return;
  }
  evaluated_at_ = steps();
  evaluated_examples_ = progress_.outcome().examples_seen;
  report_validation(*result, seconds_since_start() - begin);
}

double Loop::seconds_since_start() const {
  return seconds_before_ + seconds_between(started_, Clock::now()) - paused_seconds_;
}

telemetry::RunOutcome Loop::outcome(telemetry::RunStatus status, std::string reason) const {
  telemetry::RunOutcome result = progress_.outcome();
  result.status = status;
  result.reason = std::move(reason);
  return result;
}

} // namespace batchscope::train
