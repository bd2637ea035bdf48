#include "core/compare/evidence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace batchscope::compare {

bool counts(const ComparedRun& run) {
  return run.row.outcome.status == telemetry::RunStatus::finished;
}

std::int64_t counted(const Comparison& comparison, const std::vector<std::size_t>& runs) {
  return std::count_if(runs.begin(), runs.end(), [&](std::size_t run) { return counts(comparison.runs[run]); });
}

bool is_learnt(const std::string& name) {
  constexpr std::array<std::string_view, 4> of_the_machine{"seconds", "examples_per_second", "oom_events", "workers"};
  return std::find(of_the_machine.begin(), of_the_machine.end(), name) == of_the_machine.end() &&
         !name.ends_with("_bytes") && !name.ends_with("_seconds") && !name.ends_with("_per_second");
}

bool Evidence::adds(std::size_t run) {
  return !learnt_ || seen_.insert(comparison_.learnt_as[run]).second;
}

Summary summary_of(const Comparison& comparison, const std::vector<std::size_t>& runs,
                   const std::vector<double>& values, bool learnt) {
  Evidence evidence(comparison, learnt);
  std::vector<double> counted;
  for (const std::size_t run : runs)
    if (counts(comparison.runs[run]) && std::isfinite(values[run]) && evidence.adds(run))
      counted.push_back(values[run]);
  return summarize(counted);
}

} // namespace batchscope::compare
