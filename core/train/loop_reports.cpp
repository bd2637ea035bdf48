// Reports of the loop to its sink: step records and events.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/utc.h"
#include "core/run/apply_edit.h"
#include "core/schedule/planned_record.h"
#include "core/telemetry/message.h"
#include "core/telemetry/series_info.h"
#include "core/train/detail/loop.h"

namespace batchscope::train {

namespace {

using telemetry::Words;

/// Adds the device's data about a request that it refused.
void add_memory(const memory::OutOfMemoryInfo& info, telemetry::OutOfMemory& event) {
  event.requested_bytes = info.requested;
  event.in_use_bytes = info.in_use;
  event.counts = telemetry::OutOfMemory::Counts::budget;
  event.reserved_bytes = info.reserved;
  event.limit_bytes = info.limit;
  event.phase = info.phase;
  if (info.by_use_known)
    event.in_use_by = info.in_use_by;
}

telemetry::Reason not_accepted(const Error& error) {
  return telemetry::because(Words::not_accepted, {{"error", std::string(error.what())}});
}

} // namespace

void Loop::send(telemetry::EventBody body, std::vector<std::pair<std::string, double>> values) {
  send_at(steps(), std::move(body), std::move(values));
}

void Loop::send_at(std::int64_t step, telemetry::EventBody body, std::vector<std::pair<std::string, double>> values) {
  telemetry::Event event{
      .step = step, .seconds = seconds_since_start(), .body = std::move(body), .values = std::move(values)};
  progress_.take(event);
  events_ += telemetry::has_happened(event) ? 1 : 0;
  sink_.event(std::move(event));
}

void Loop::report(const schedule::PlannedStep& step, const StepOutcome& outcome, const Computed& computed,
                  const memory::Readings& readings) {
  telemetry::StepRecord record = schedule::planned_record(step);
  record.micro_batch = outcome.largest_micro;
  record.micro_batches = outcome.micro_batches;
  record.loss = computed.loss;
  record.grad_norm = computed.grad_norm;
  record.seconds = seconds_since_start();
  record.allocated_bytes = static_cast<std::int64_t>(readings.in_use);
  record.reserved_bytes = static_cast<std::int64_t>(readings.reserved);
  record.peak_bytes = static_cast<std::int64_t>(readings.peak);
  record.device_bytes = readings.device_wide ? static_cast<std::int64_t>(*readings.device_wide) : -1;
  add_streams(record, step.takes, computed);
  add_peak_by_use(record, readings);
  processors_.add_to(record);
  largest_micro_ = std::max(largest_micro_, outcome.largest_micro);
  progress_.take(record);
  if (options_.progression.has_tokens) {
    const auto so_far = static_cast<double>(progression_.tokens_seen() + outcome.tokens);
    const double rate = progress_.outcome().examples_per_second;
    record.more.emplace_back(telemetry::tokens, static_cast<double>(outcome.tokens));
    record.more.emplace_back(telemetry::tokens_per_second, rate * so_far / static_cast<double>(record.examples_seen));
  }
  sink_.record(record);
}

/// Most steps use as much as the one before: only changes are reported.
void Loop::add_peak_by_use(telemetry::StepRecord& record, const memory::Readings& readings) {
  if (!readings.peak_by || readings.peak_by == peak_by_)
    return;
  peak_by_ = *readings.peak_by;
  for (std::size_t use = 0; use < peak_by_.size(); ++use)
    record.more.emplace_back(telemetry::peak_series(static_cast<telemetry::Use>(use)),
                             static_cast<double>(peak_by_[use]));
}

/// A stream without examples in the step has no loss in it.
void Loop::add_streams(telemetry::StepRecord& record, const data::StepTakes& takes, const Computed& computed) const {
  const std::vector<data::Stream>& streams = options_.progression.sampler.streams;
  for (std::size_t i = 0; i < takes.streams.size(); ++i) {
    const data::StreamTake& take = takes.streams[i];
    const auto size = static_cast<double>(streams[i].examples);
    const auto add = [&](const char* series, double value) {
      record.more.emplace_back(telemetry::stream_series(series, streams[i].name), value);
    };
    if (take.count > 0)
      add("loss", computed.stream_losses.at(i));
    add("train_coverage", static_cast<double>(take.seen_in_epoch) / size);
    add("epoch", static_cast<double>(take.seen_in_total) / size);
    add("examples", static_cast<double>(take.count));
  }
}

void Loop::report_out_of_memory(const OutOfMemory& event, bool tried_again) {
  using Outcome = telemetry::OutOfMemory::Outcome;
  telemetry::OutOfMemory report{.attempted_batch = event.attempted,
                                .split_to = event.largest_after,
                                .nominal_batch = event.nominal,
                                .accumulate = event.accumulate,
                                .effective_batch = event.examples_again,
                                .micro_batches_before = event.parts_before,
                                .micro_batches_after = event.parts_after,
                                .micro_batch_before = event.largest_before,
                                .examples_again = event.examples_again,
                                .cause = likely_cause(event, before_)};
  add_memory(event.info, report);
  if (event.length > 1)
    report.longest_example = event.length;
  if (event.parts_after != event.parts_before)
    report.outcome = Outcome::split;
  else if (tried_again)
    report.outcome = Outcome::retried;
  else
    report.reason = telemetry::because(event.attempted <= 1 ? Words::single_example : Words::on_oom_fail);
  send_at(steps() + 1, std::move(report), {}); // the step being made
}

void Loop::report_shrunk_evaluation(std::int64_t tried, std::int64_t now, const memory::OutOfMemoryInfo& info) {
  telemetry::OutOfMemory report{.where = telemetry::OutOfMemory::Where::evaluation,
                                .outcome = telemetry::OutOfMemory::Outcome::smaller,
                                .attempted_batch = tried,
                                .split_to = now,
                                .micro_batch_before = tried};
  add_memory(info, report);
  send(std::move(report));
}

void Loop::report_schedule(const schedule::ScheduleEvent& event) {
  send(body_of(event));
}

void Loop::apply(const run::ScheduleEdit& edit) {
  send(run::apply_edit(edit, progression_));
}

void Loop::apply(const run::BudgetChange& change) {
  memory::Device& device = learner_.device();
  const memory::Readings now = device.readings();
  telemetry::BudgetChange answer{
      .before_bytes = now.limit, .asked_bytes = change.bytes, .budget_bytes = now.limit, .command = change.command};
  if (change.bytes <= now.in_use) {
    answer.refused =
        telemetry::because(Words::budget_in_use, {{"in_use_bytes", static_cast<std::int64_t>(now.in_use)}});
    return send(std::move(answer));
  }
  try {
    device.set_budget(change.bytes);
    if (!budget_before_)
      budget_before_ = now.limit;
    free_memory_.reset(); // it is the user's now
    answer.budget_bytes = change.bytes;
    answer.applies_from_step = steps() + 1;
  } catch (const Error& error) {
    answer.refused = not_accepted(error);
  }
  send(std::move(answer));
}

void Loop::follow_free_memory() {
  memory::Device& device = learner_.device();
  const auto budget = free_memory_ ? free_memory_->new_budget(device) : std::nullopt;
  if (!budget)
    return;
  const memory::Readings now = device.readings();
  if (!budget_before_)
    budget_before_ = now.limit;
  device.set_budget(*budget);
  send(telemetry::BudgetChange{.why = telemetry::BudgetChange::Why::follows_free_memory,
                               .before_bytes = now.limit,
                               .budget_bytes = *budget,
                               .applies_from_step = steps() + 1});
}

/// A budget in which not even one example fits does not end the run. False if the budget was not changed.
bool Loop::return_to_budget_before() {
  if (!budget_before_)
    return false;
  memory::Device& device = learner_.device();
  telemetry::BudgetChange change{.why = telemetry::BudgetChange::Why::taken_back,
                                 .before_bytes = device.readings().limit,
                                 .budget_bytes = *budget_before_,
                                 .reason = telemetry::because(Words::single_example)};
  device.set_budget(*budget_before_);
  budget_before_.reset();
  free_memory_.reset(); // or it would be tried again and again
  send(std::move(change));
  return true;
}

/// Every accepted edit gets an answer in the events of its run.
void Loop::close_control() {
  for (const run::ScheduleEdit& edit : control_.close())
    send(run::refused(edit, telemetry::because(Words::too_late)));
}

/// Once per pause and once per end of a pause, however many single steps are made in between.
void Loop::report_paused(bool paused) {
  using Status = telemetry::StatusChange::Status;
  if (paused == said_paused_)
    return;
  said_paused_ = paused;
  send(telemetry::StatusChange{.status = paused ? Status::paused : Status::running, .at = utc_now()});
}

void Loop::report_validation(const Validation& validation, double seconds) {
  std::vector<std::pair<std::string, double>> values = {{telemetry::evaluation_seconds, seconds},
                                                        {"validation_loss", validation.loss}};
  if (validation.accuracy)
    values.emplace_back("validation_accuracy", *validation.accuracy);
  send(telemetry::Evaluation{.loss = validation.loss, .accuracy = validation.accuracy}, std::move(values));
}

} // namespace batchscope::train
