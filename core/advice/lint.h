#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/advice/run_facts.h"
#include "core/store/run_reader.h"

namespace batchscope::advice {

enum class Severity { information, warning, critical };
std::string to_string(Severity severity);

/// Finding of a rule about a run.
struct Finding {
  std::string rule;  ///< `no-warmup`
  std::string title; ///< `No warm-up for a scaled learning rate`
  Severity severity = Severity::warning;
  std::string message; ///< the facts, one sentence with the number that triggered the rule
  double value = 0;    ///< that number
  std::string mend;    ///< options that mend it: `--warmup auto`; what to do where there is no option
  /// The same options as fields of a RunSpec with their values, in the form that run::set_field() takes.
  std::vector<std::pair<std::string, std::string>> changes;
  std::string source; ///< of the rule
};

/// A run, and the runs of its sweep, as the rules judge them.
struct JudgedRun {
  const RunFacts& run;
  const std::vector<RunFacts>& siblings; ///< `run` itself may be among them
};

/// A rule: a file lint_NAME.cpp with its function, and a line in lints.def.
struct Lint {
  const char* name;
  std::optional<Finding> (*judge)(const JudgedRun& judged);
};
const std::vector<Lint>& lints();

/// Returns the findings of all rules, the most severe first.
std::vector<Finding> judge(const RunFacts& run, const std::vector<RunFacts>& siblings);
/// The same for a stored run and its sweep; throws Error (input) for a run that does not exist.
std::vector<Finding> judge(const store::RunReader& reader, std::int64_t run);

/// Findings for many stored runs; runs that do not exist are left out. Each sweep is read once. `cancelled` is called
/// between runs: if it returns true, judge_all() ends early, with the runs judged so far.
struct RunFindings {
  std::int64_t run = 0;
  std::vector<Finding> findings;
};
std::vector<RunFindings> judge_all(const store::RunReader& reader, const std::vector<std::int64_t>& runs,
                                   const std::function<bool()>& cancelled);

} // namespace batchscope::advice
