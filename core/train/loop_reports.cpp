// What the loop reports to its sink: step records and events.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/run/apply_edit.h"
#include "core/schedule/planned_record.h"
#include "core/telemetry/series_info.h"
#include "core/train/detail/loop.h"

namespace batchscope::train {

namespace {

std::string times(std::int64_t parts, std::int64_t size) {
  return parts == 1 ? format_count(size) : format_count(parts) + " x " + format_count(size);
}

std::string action(const OutOfMemory& event) {
  if (event.parts_after == event.parts_before)
    return event.attempted <= 1 ? "the run ends: even one example does not fit"
                                : "the run was stopped because of --on-oom fail";
  return "retried the same " + format_count(event.examples_again) + " examples as " +
         times(event.parts_after, event.largest_after) + "; effective batch unchanged";
}

Json memory_json(const memory::OutOfMemoryInfo& info) {
  Json json = {{"requested_bytes", info.requested},
               {"in_use_bytes", info.in_use},
               {"reserved_bytes", info.reserved},
               {"limit_bytes", info.limit},
               {"phase", telemetry::to_string(info.phase)}};
  if (info.by_use_known) {
    for (int use = 0; use < telemetry::use_count; ++use)
      json["in_use_by"][telemetry::to_string(static_cast<telemetry::Use>(use))] = info.in_use_by[use];
  }
  return json;
}

} // namespace

void Loop::send(const char* kind, std::string detail, std::vector<std::pair<std::string, double>> values) {
  send_at(steps(), kind, std::move(detail), std::move(values));
}

void Loop::send_at(std::int64_t step, const char* kind, std::string detail,
                   std::vector<std::pair<std::string, double>> values) {
  telemetry::Event event{step, seconds_since_start(), kind, std::move(detail), std::move(values)};
  progress_.take(event);
  events_ += event.kind.empty() ? 0 : 1; // the others only carry values
  sink_.event(std::move(event));
}

void Loop::report(const schedule::PlannedStep& step, const StepOutcome& outcome, const memory::Readings& readings) {
  telemetry::StepRecord record = schedule::planned_record(step);
  record.micro_batch = outcome.largest_micro;
  record.micro_batches = outcome.micro_batches;
  record.loss = outcome.loss;
  record.grad_norm = outcome.grad_norm;
  record.seconds = seconds_since_start();
  record.allocated_bytes = static_cast<std::int64_t>(readings.in_use);
  record.reserved_bytes = static_cast<std::int64_t>(readings.reserved);
  record.peak_bytes = static_cast<std::int64_t>(readings.peak);
  record.device_bytes = readings.device_wide ? static_cast<std::int64_t>(*readings.device_wide) : -1;
  add_streams(record, step.takes, outcome);
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

/// A stream without examples in the step has no loss in it.
void Loop::add_streams(telemetry::StepRecord& record, const data::StepTakes& takes, const StepOutcome& outcome) const {
  const std::vector<data::Stream>& streams = options_.progression.sampler.streams;
  for (std::size_t i = 0; i < takes.streams.size(); ++i) {
    const data::StreamTake& take = takes.streams[i];
    const auto size = static_cast<double>(streams[i].examples);
    const auto add = [&](const char* series, double value) {
      record.more.emplace_back(telemetry::stream_series(series, streams[i].name), value);
    };
    if (take.count > 0)
      add("loss", outcome.stream_losses.at(i));
    add("train_coverage", static_cast<double>(take.seen_in_epoch) / size);
    add("epoch", static_cast<double>(take.seen_in_total) / size);
    add("examples", static_cast<double>(take.count));
  }
}

void Loop::report_out_of_memory(const OutOfMemory& event) {
  Json json = {{"attempted_batch", event.attempted},
               {"nominal_batch", event.nominal},
               {"accumulate", event.accumulate},
               {"effective_batch", event.examples_again}};
  if (event.length > 1)
    json["longest_example"] = event.length;
  json.update(memory_json(event.info));
  json["micro_batches_before"] = event.parts_before;
  json["micro_batches_after"] = event.parts_after;
  json["micro_batch_before"] = event.largest_before;
  json["micro_batch_after"] = event.largest_after;
  json["examples_again"] = event.examples_again;
  json["action"] = action(event);
  json["cause"] = describe(likely_cause(event, before_));
  send_at(steps() + 1, "oom", json_text(json), {}); // the step being made
}

void Loop::report_shrunk_evaluation(std::int64_t tried, std::int64_t now, const memory::OutOfMemoryInfo& info) {
  Json json = {{"attempted_batch", tried}};
  json.update(memory_json(info));
  json["micro_batch_before"] = tried;
  json["micro_batch_after"] = now;
  json["action"] = "evaluation continues with " + format_count(now) + " examples at a time; training is not affected";
  json["cause"] = "evaluation";
  send("oom", json_text(json));
}

void Loop::report_schedule(const schedule::ScheduleEvent& event) {
  send(event.kind.c_str(), run::schedule_event_json(event));
}

void Loop::apply(const run::ScheduleEdit& edit) {
  run::EditAnswer answer = run::apply_edit(edit, progression_);
  send(answer.kind, std::move(answer.detail_json));
}

void Loop::apply(const run::BudgetChange& change) {
  memory::Device& device = learner_.device();
  const memory::Readings now = device.readings();
  Json json = {{"before_bytes", now.limit}, {"asked_bytes", change.bytes}};
  if (change.command)
    json["command"] = *change.command;
  try {
    if (change.bytes <= now.in_use)
      throw input_error("weights and optimizer use " + format_bytes(now.in_use) + "; accepted: more than that");
    device.set_budget(change.bytes);
    if (!budget_before_)
      budget_before_ = now.limit;
    free_memory_.reset(); // it is the user's now
    json["budget_bytes"] = change.bytes;
    json["applies_from_step"] = steps() + 1;
  } catch (const Error& error) {
    json["budget_bytes"] = now.limit;
    json["refused"] = error.what();
  }
  send("budget", json_text(json));
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
  send("budget", json_text(Json{{"before_bytes", now.limit},
                                {"budget_bytes", *budget},
                                {"applies_from_step", steps() + 1},
                                {"message", "follows the memory that is free; --memory-budget sets a fixed one"}}));
}

/// A budget in which not even one example fits does not end the run. False if the budget was not changed.
bool Loop::return_to_budget_before() {
  if (!budget_before_)
    return false;
  memory::Device& device = learner_.device();
  Json json = {{"before_bytes", device.readings().limit}, {"budget_bytes", *budget_before_}};
  json["message"] = "not even one example fits in " + format_bytes(device.readings().limit) + "; the budget is " +
                    format_bytes(*budget_before_) + " again";
  device.set_budget(*budget_before_);
  budget_before_.reset();
  free_memory_.reset(); // or it would be tried again and again
  send("budget", json_text(json));
  return true;
}

/// Every accepted edit gets an answer in the events of its run.
void Loop::close_control() {
  for (const run::ScheduleEdit& edit : control_.close()) {
    run::EditAnswer answer = run::refused(edit, "too late: the run has no further steps");
    send(answer.kind, std::move(answer.detail_json));
  }
}

/// Once per pause and once per end of a pause, however many single steps are made in between.
void Loop::report_paused(bool paused) {
  if (paused == said_paused_)
    return;
  said_paused_ = paused;
  send("status", json_text(Json{{"status", paused ? "paused" : "running"}}));
}

void Loop::report_validation(const Validation& validation, double seconds) {
  Json json = {{"loss", json_number(validation.loss)}};
  std::vector<std::pair<std::string, double>> values = {{telemetry::evaluation_seconds, seconds},
                                                        {"validation_loss", validation.loss}};
  if (validation.accuracy) {
    json["accuracy"] = *validation.accuracy;
    values.emplace_back("validation_accuracy", *validation.accuracy);
  }
  send("evaluation", json_text(json), std::move(values));
}

} // namespace batchscope::train
