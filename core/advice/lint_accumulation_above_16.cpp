#include <fmt/format.h>

#include "core/advice/detail/siblings.h"
#include "core/advice/sources.h"
#include "core/base/text.h"

namespace batchscope::advice {

std::optional<Finding> accumulation_above_16_lint(const JudgedRun& judged);
/// Only information where memory leaves no choice: twice the micro batch would not fit.
std::optional<Finding> accumulation_above_16_lint(const JudgedRun& judged) {
  constexpr std::int64_t most = 16;
  const RunFacts& run = judged.run;
  const std::int64_t count = detail::micro_batches(run);
  if (count <= most || !run.effective_batch || !run.micro_batch)
    return std::nullopt;
  Finding found{.title = "More than 16 micro batches per step", .value = static_cast<double>(count)};
  found.message = fmt::format("{} micro batches of up to {} make one step of {}: this takes extra time",
                              format_count(count), format_count(*run.micro_batch), format_count(*run.effective_batch));
  const std::int64_t larger = (detail::per_rank(run, *run.effective_batch) + most - 1) / most;
  if (detail::fits(run, larger)) {
    found.mend = fmt::format("--batch {} --effective-batch {}", larger, *run.effective_batch);
    found.changes = {{"batch", std::to_string(larger)},
                     {"accumulate", ""},
                     {"effective_batch", std::to_string(*run.effective_batch)}};
  } else {
    found.severity = Severity::information;
    found.message +=
        fmt::format("; a micro batch of {} does not fit the memory with a margin of 20 %", format_count(larger));
    const std::int64_t smaller = most * *run.micro_batch * run.ranks;
    found.mend = fmt::format("--effective-batch {}, or more memory", smaller);
    found.changes = {{"accumulate", ""}, {"effective_batch", std::to_string(smaller)}};
  }
  found.source = cite("tradeoffs", "pitfall 7");
  return found;
}

} // namespace batchscope::advice
