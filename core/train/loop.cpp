#include "core/train/detail/loop.h"

#include <algorithm>

#include "core/memory/detail/torch_errors.h"

namespace batchscope::train {

namespace {

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

} // namespace

Loop::Loop(const LoopOptions& options, Learner& learner, telemetry::Sink& sink, run::RunControl& control)
    : options_(options), learner_(learner), sink_(sink), control_(control),
      progression_(options.progression, [this](const schedule::ScheduleEvent& event) { report_schedule(event); }),
      stepper_(learner, options.on_oom),
      evaluator_(learner, [this](std::int64_t tried, std::int64_t now, const memory::OutOfMemoryInfo& refusal) {
        report_shrunk_evaluation(tried, now, refusal);
      }) {}

run::RunSummary Loop::run() {
  started_ = Clock::now();
  const run::RunSummary result = make_steps();
  close_control();
  return result;
}

run::RunSummary Loop::make_steps() {
  try {
    // Without a step left there is no boundary: commands are too late now.
    while (progression_.next()) {
      if (!obey_orders())
        return summary(run::Status::stopped, "");
      const auto step = progression_.next();
      if (!step)
        break;
      if (!make(*step))
        return summary(run::Status::failed, failure_);
      if (progression_.epoch_ended())
        evaluate();
    }
    close_control();
    evaluate();
  } catch (const std::exception& error) {
    return summary(run::Status::failed, memory::first_line(error));
  }
  return summary(control_.stopping() && evaluated_at_ != totals_.steps ? run::Status::stopped : run::Status::finished,
                 "");
}

bool Loop::obey_orders() {
  const run::RunControl::Orders orders = control_.at_boundary([this] { report_paused(true); });
  paused_seconds_ += orders.waited_seconds;
  if (orders.stop)
    return false;
  if (!orders.paused)
    report_paused(false);
  for (const run::ScheduleEdit& edit : orders.edits)
    apply(edit);
  return true;
}

bool Loop::make(const schedule::PlannedStep& step) {
  if (order_epoch_ != step.takes.epoch_index) {
    order_.emplace(options_.progression.sampler.examples, options_.seed, step.takes.epoch_index);
    order_epoch_ = step.takes.epoch_index;
  }
  window_.fill(step.takes, *order_);
  memory::Device& device = learner_.device();
  device.reset_peak();
  note_before(device.readings());
  const std::int64_t reference = options_.progression.learning_rate.reference_batch;
  if (options_.dropout > 0)
    learner_.set_dropout(
        schedule::scaled_dropout(options_.dropout, options_.regularization, step.nominal_effective, reference));
  const StepOutcome outcome = stepper_.run(window_.micro_batches());
  for (const OutOfMemory& event : outcome.out_of_memory)
    report_out_of_memory(event);
  if (!outcome.ready) {
    failure_ = outcome.failure;
    return false;
  }
  learner_.update(
      step.learning_rate,
      schedule::scaled_weight_decay(options_.weight_decay, options_.regularization, step.nominal_effective, reference),
      options_.clip);
  before_.largest_nominal = std::max(before_.largest_nominal, step.batch);
  before_.longest = std::max(before_.longest, outcome.longest);
  report(step, outcome);
  return true;
}

/// One-time allocations of the first step (kernels' workspaces) are not growth, so the comparison begins after it.
void Loop::note_before(const memory::Readings& readings) {
  before_.baseline = readings.in_use;
  before_.others =
      readings.device_wide ? *readings.device_wide - std::min(*readings.device_wide, readings.reserved) : 0;
  if (totals_.steps <= 1) {
    before_.first_baseline = before_.baseline;
    before_.others_first = before_.others;
  }
}

void Loop::evaluate() {
  if (evaluated_at_ == totals_.steps)
    return;
  const double begin = seconds_since_start();
  const auto result = evaluator_.run(largest_micro_, [this] { return control_.stopping(); });
  if (!result) {
    if (learner_.validation_data() == nullptr || learner_.validation_data()->size() == 0)
      evaluated_at_ = totals_.steps;
    return;
  }
  evaluated_at_ = totals_.steps;
  totals_.validation = result;
  report_validation(*result, seconds_since_start() - begin);
}

double Loop::seconds_since_start() const {
  return seconds_between(started_, Clock::now()) - paused_seconds_;
}

run::RunSummary Loop::summary(run::Status status, std::string reason) {
  totals_.status = status;
  totals_.reason = std::move(reason);
  totals_.seconds = clock_.seconds();
  totals_.examples_per_second = clock_.examples_per_second();
  return totals_;
}

} // namespace batchscope::train
