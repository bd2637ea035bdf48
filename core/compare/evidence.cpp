#include "core/compare/evidence.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "core/base/processor_time.h"

namespace batchscope::compare {

using telemetry::DependsOn;

bool counts(const ComparedRun& run) {
  return run.row.outcome.status == telemetry::RunStatus::finished;
}

std::int64_t counted(const Comparison& comparison, const std::vector<std::size_t>& runs) {
  return std::count_if(runs.begin(), runs.end(), [&](std::size_t run) { return counts(comparison.runs[run]); });
}

bool is_disturbed(const telemetry::RunOutcome& outcome) {
  return outcome.disturbed.value_or(0) >= disturbed_from;
}

void leave_out_disturbed(std::vector<std::size_t>& runs,
                         const std::function<const telemetry::RunOutcome&(std::size_t)>& outcome_of) {
  const auto disturbed = [&](std::size_t run) { return is_disturbed(outcome_of(run)); };
  if (!std::all_of(runs.begin(), runs.end(), disturbed))
    std::erase_if(runs, disturbed);
}

std::vector<std::size_t> evidence(const Comparison& comparison, const std::vector<std::size_t>& runs, DependsOn what,
                                  const std::function<bool(std::size_t)>& has) {
  std::vector<std::size_t> found;
  std::unordered_set<std::size_t> seen; // Comparison::learnt_as
  for (const std::size_t run : runs)
    if (counts(comparison.runs[run]) && has(run) &&
        (what != DependsOn::learning || seen.insert(comparison.learnt_as[run]).second))
      found.push_back(run);
  if (what == DependsOn::speed)
    leave_out_disturbed(
        found, [&](std::size_t run) -> const telemetry::RunOutcome& { return comparison.runs[run].row.outcome; });
  return found;
}

Summary summary_of(const Comparison& comparison, const std::vector<std::size_t>& runs,
                   const std::vector<double>& values, DependsOn what) {
  std::vector<double> found;
  for (const std::size_t run :
       evidence(comparison, runs, what, [&](std::size_t each) { return std::isfinite(values[each]); }))
    found.push_back(values[run]);
  return summarize(found);
}

} // namespace batchscope::compare
