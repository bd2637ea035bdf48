#include "core/advice/lint.h"
#include "core/store/run_reader.h"

#include <algorithm>
#include <map>

namespace batchscope::advice {

#define LINT(name) std::optional<Finding> name##_lint(const JudgedRun& judged);
#include "core/advice/lints.def"
#undef LINT

std::string to_string(Severity severity) {
  switch (severity) {
  case Severity::information:
    return "information";
  case Severity::warning:
    return "warning";
  case Severity::critical:
    break;
  }
  return "critical";
}

const std::vector<Lint>& lints() {
  static const std::vector<Lint> all = {
#define LINT(name) {#name, name##_lint},
#include "core/advice/lints.def"
#undef LINT
  };
  return all;
}

std::vector<Finding> judge(const RunFacts& run, const std::vector<RunFacts>& siblings) {
  std::vector<Finding> findings;
  for (const Lint& lint : lints())
    if (auto finding = lint.judge({run, siblings})) {
      finding->rule = lint.name;
      std::replace(finding->rule.begin(), finding->rule.end(), '_', '-');
      findings.push_back(std::move(*finding));
    }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  return findings;
}

std::vector<Finding> judge(const store::RunReader& reader, std::int64_t run) {
  reader.run(run); // throws if it does not exist
  std::vector<RunFindings> judged = judge_all(reader, {run}, [] { return false; });
  return judged.empty() ? std::vector<Finding>{} : std::move(judged.front().findings);
}

std::vector<RunFindings> judge_all(const store::RunReader& reader, const std::vector<std::int64_t>& runs,
                                   const std::function<bool()>& cancelled) {
  std::vector<RunFindings> judged;
  std::map<std::int64_t, std::vector<RunFacts>> sweeps;
  reader.at_one_moment([&] {
    for (const store::RunRow& row : reader.present(runs)) {
      if (cancelled())
        return;
      if (row.sweep && sweeps.count(*row.sweep) == 0)
        sweeps[*row.sweep] = read_sweep(reader, *row.sweep);
      judged.push_back(
          {row.id, judge(read_facts(reader, row.id), row.sweep ? sweeps[*row.sweep] : std::vector<RunFacts>{})});
    }
  });
  return judged;
}

} // namespace batchscope::advice
