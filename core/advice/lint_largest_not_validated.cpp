#include <fmt/format.h>

#include "core/advice/lint.h"
#include "core/advice/sources.h"
#include "core/base/text.h"

namespace batchscope::advice {

namespace {

bool is_largest(const RunFacts& run) {
  if (!run.batch)
    return false;
  if (run.largest_batch && *run.batch >= *run.largest_batch)
    return true;
  return run.own && (run.own->batch.kind == run::BatchChoice::Kind::largest ||
                     (run.own->batch.kind == run::BatchChoice::Kind::share && run.own->batch.percent >= 100));
}

} // namespace

std::optional<Finding> largest_not_validated_lint(const JudgedRun& judged);
std::optional<Finding> largest_not_validated_lint(const JudgedRun& judged) {
  const RunFacts& run = judged.run;
  const telemetry::RunOutcome& outcome = run.row.outcome;
  const bool validated = outcome.validation_accuracy || outcome.validation_loss;
  if (telemetry::is_open(outcome.status) || validated || !is_largest(run))
    return std::nullopt;
  Finding found{.title = "The largest batch, without a validation score"};
  found.value = static_cast<double>(*run.batch);
  found.message = fmt::format("batch {} is the largest that fits, and its effect on accuracy was not measured",
                              format_count(*run.batch));
  found.mend = "--batch auto:safe, and data that leave examples for validation (validation=0.2)";
  found.changes = {{"batch", "auto:safe"}};
  found.source = cite("tradeoffs", "pitfall 1");
  return found;
}

} // namespace batchscope::advice
