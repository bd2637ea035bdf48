#include <fmt/format.h>

#include "core/advice/lint.h"
#include "core/advice/sources.h"

namespace batchscope::advice {

std::optional<Finding> ema_per_micro_batch_lint(const JudgedRun& judged);
/// Applies to imported runs only: this program's own average moves once per step.
std::optional<Finding> ema_per_micro_batch_lint(const JudgedRun& judged) {
  constexpr double once = 1.01; // a first or last update more than steps is no mistake
  const auto& updates = judged.run.ema_updates_per_step;
  if (!updates || *updates <= once)
    return std::nullopt;
  Finding found{.title = "The averaged weights move with every micro batch", .value = *updates};
  found.message = fmt::format("{:.3g} updates of the averaged weights (EMA) per optimizer step", *updates);
  found.mend = "update the average after optimizer.step() only";
  found.source = cite("tradeoffs", "pitfall 8");
  return found;
}

} // namespace batchscope::advice
