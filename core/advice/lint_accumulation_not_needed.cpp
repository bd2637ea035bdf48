#include <fmt/format.h>

#include "core/advice/detail/siblings.h"
#include "core/advice/sources.h"
#include "core/base/text.h"

namespace batchscope::advice {

std::optional<Finding> accumulation_not_needed_lint(const JudgedRun& judged);
std::optional<Finding> accumulation_not_needed_lint(const JudgedRun& judged) {
  const RunFacts& run = judged.run;
  if (!run.batch || !run.effective_batch)
    return std::nullopt;
  const std::int64_t whole = detail::per_rank(run, *run.effective_batch);
  if (whole <= *run.batch)
    return std::nullopt;
  // Without batch norm only: there the micro batch makes a difference of its own.
  if (run.batch_norm || !detail::fits(run, whole))
    return std::nullopt;
  Finding found{.title = "Accumulation although the whole batch fits"};
  if (run.start.memory) {
    const std::uint64_t bytes = run.start.memory->at(whole).bytes;
    found.value = static_cast<double>(bytes);
    found.message = fmt::format("the whole batch of {} takes {} of {}; it was run in parts of {}", format_count(whole),
                                format_bytes(bytes), format_bytes(run.start.budget_bytes), format_count(*run.batch));
  } else {
    found.value = static_cast<double>(run.row.outcome.peak_bytes);
    found.message = fmt::format("parts of {} take {} of {}: the whole batch of {} fits too", format_count(*run.batch),
                                format_bytes(run.row.outcome.peak_bytes), format_bytes(run.start.budget_bytes),
                                format_count(whole));
  }
  found.mend = fmt::format("--batch {} --accumulate 1", whole);
  found.changes = {{"batch", std::to_string(whole)}, {"effective_batch", ""}, {"accumulate", "1"}};
  found.source = cite("tradeoffs", "pattern 3");
  return found;
}

} // namespace batchscope::advice
