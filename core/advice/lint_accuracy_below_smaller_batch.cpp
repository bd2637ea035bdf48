#include <map>

#include <fmt/format.h>

#include "core/advice/detail/siblings.h"
#include "core/advice/sources.h"
#include "core/base/text.h"
#include "core/compare/statistics.h"

namespace batchscope::advice {

std::optional<Finding> accuracy_below_smaller_batch_lint(const JudgedRun& judged);
/// Means over the repeats of each effective batch.
std::optional<Finding> accuracy_below_smaller_batch_lint(const JudgedRun& judged) {
  constexpr double tolerated = 0.02;
  const RunFacts& run = judged.run;
  if (!run.effective_batch || !run.row.outcome.validation_accuracy)
    return std::nullopt;
  std::map<std::int64_t, std::vector<double>> accuracies;
  const auto add = [&](const RunFacts& each) {
    const auto& outcome = each.row.outcome;
    if (outcome.status == telemetry::RunStatus::finished && outcome.validation_accuracy && each.effective_batch)
      accuracies[*each.effective_batch].push_back(*outcome.validation_accuracy);
  };
  add(run);
  for (const RunFacts& sibling : judged.siblings)
    if (sibling.row.id != run.row.id && detail::comparable(sibling, run))
      add(sibling);
  if (accuracies.count(*run.effective_batch) == 0)
    return std::nullopt;
  const double own = compare::summarize(accuracies[*run.effective_batch]).mean;
  std::int64_t best_batch = 0;
  double best = own;
  for (const auto& [batch, values] : accuracies)
    if (const double mean = compare::summarize(values).mean; batch < *run.effective_batch && mean > best) {
      best = mean;
      best_batch = batch;
    }
  if (best - own <= tolerated)
    return std::nullopt;
  Finding found{.title = "Less accurate than a smaller batch", .value = best - own};
  found.message =
      fmt::format("validation accuracy {:.2f} % at effective batch {}, {:.2f} % at {}: {:.2f} points less", 100 * own,
                  format_count(*run.effective_batch), 100 * best, format_count(best_batch), 100 * (best - own));
  const std::int64_t batch = detail::per_rank(run, best_batch);
  found.mend = fmt::format("--batch {} --accumulate 1, or stronger regularization (--regularization-rule sqrt "
                           "--lr-reference-batch {})",
                           batch, best_batch);
  found.changes = {{"batch", std::to_string(batch)}, {"effective_batch", ""}, {"accumulate", "1"}};
  found.source = cite("tradeoffs", "pattern 6, step 4");
  return found;
}

} // namespace batchscope::advice
