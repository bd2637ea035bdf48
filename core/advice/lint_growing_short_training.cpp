#include <fmt/format.h>

#include "core/advice/lint.h"
#include "core/advice/sources.h"
#include "core/base/text.h"

namespace batchscope::advice {

std::optional<Finding> growing_short_training_lint(const JudgedRun& judged);
std::optional<Finding> growing_short_training_lint(const JudgedRun& judged) {
  constexpr double least_epochs = 20;
  const RunFacts& run = judged.run;
  const bool grows = run.effective_batch && run.last_effective && *run.last_effective > *run.effective_batch;
  if (!grows || !run.epochs || *run.epochs >= least_epochs)
    return std::nullopt;
  Finding found{.title = "A growing batch in a short training", .value = *run.epochs};
  found.severity = Severity::information;
  found.message = fmt::format(
      "the effective batch grew from {} to {} within {:.3g} epoch{}; that pays in long training, "
      "of 20 epochs at least",
      format_count(*run.effective_batch), format_count(*run.last_effective), *run.epochs, *run.epochs == 1 ? "" : "s");
  found.mend = "--schedule constant";
  found.changes = {{"schedule", "constant"}};
  found.source = cite("tradeoffs", "pattern 7");
  return found;
}

} // namespace batchscope::advice
