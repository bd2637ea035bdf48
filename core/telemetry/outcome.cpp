#include "core/telemetry/outcome.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace batchscope::telemetry {

namespace {

constexpr std::array<std::pair<RunStatus, const char*>, 6> statuses = {{{RunStatus::queued, "queued"},
                                                                        {RunStatus::running, "running"},
                                                                        {RunStatus::finished, "finished"},
                                                                        {RunStatus::stopped, "stopped"},
                                                                        {RunStatus::failed, "failed"},
                                                                        {RunStatus::interrupted, "interrupted"}}};

/// Takes the scores of an evaluation, or of a step of a program that prints them.
void take_scores(const std::vector<std::pair<std::string, double>>& values, RunOutcome& outcome) {
  for (const auto& [name, value] : values) {
    if (name == "validation_loss")
      outcome.validation_loss = value;
    if (name == "validation_accuracy")
      outcome.validation_accuracy = value;
  }
}

/// Programs may not say it.
double known_or_0(double value) {
  return std::isfinite(value) ? value : 0;
}

} // namespace

std::string to_string(RunStatus status) {
  for (const auto& [known, text] : statuses)
    if (known == status)
      return text;
  return "unknown";
}

std::vector<std::string> status_names() {
  std::vector<std::string> names;
  for (const auto& [status, name] : statuses)
    names.emplace_back(name);
  return names;
}

std::optional<RunStatus> status_from(const std::string& text) {
  for (const auto& [status, known] : statuses)
    if (text == known)
      return status;
  return std::nullopt;
}

bool is_open(RunStatus status) {
  return status == RunStatus::queued || status == RunStatus::running;
}

RunProgress::RunProgress(RunStatus status, std::optional<std::int64_t> batch) {
  outcome_.status = status;
  outcome_.batch = batch;
}

void RunProgress::take(const StepRecord& record) {
  if (!outcome_.batch && record.batch > 0) // a program may not say it
    outcome_.batch = record.batch;
  outcome_.steps = record.step;
  outcome_.examples_seen = record.examples_seen;
  outcome_.epoch = known_or_0(record.epoch);
  outcome_.train_coverage = known_or_0(record.train_coverage);
  if (record.has_loss || !std::isnan(record.loss))
    outcome_.loss = record.loss;
  outcome_.peak_bytes =
      std::max(outcome_.peak_bytes, static_cast<std::uint64_t>(std::max<std::int64_t>(0, record.peak_bytes)));
  take_scores(record.more, outcome_);
  clock_.take(record);
  take_time();
}

void RunProgress::take(const Event& event) {
  outcome_.oom_events += std::holds_alternative<OutOfMemory>(event.body) ? 1 : 0;
  take_scores(event.values, outcome_);
  clock_.take(event);
  take_time();
}

void RunProgress::take_time() {
  outcome_.seconds = clock_.seconds();
  outcome_.examples_per_second = clock_.examples_per_second();
  outcome_.disturbed = clock_.disturbed();
}

} // namespace batchscope::telemetry
