#include <algorithm>

#include <fmt/format.h>

#include "core/advice/detail/siblings.h"
#include "core/advice/sources.h"
#include "core/base/text.h"
#include "core/run/automatic_batch.h"

namespace batchscope::advice {

std::optional<Finding> batch_too_large_for_data_lint(const JudgedRun& judged);
std::optional<Finding> batch_too_large_for_data_lint(const JudgedRun& judged) {
  const RunFacts& run = judged.run;
  if (!run.train_examples || !run.last_effective || *run.last_effective <= 1)
    return std::nullopt;
  const std::int64_t steps = (*run.train_examples + *run.last_effective - 1) / *run.last_effective;
  if (steps >= run::min_steps_in_epoch)
    return std::nullopt;
  const std::int64_t most = std::max<std::int64_t>(1, *run.train_examples / run::min_steps_in_epoch);
  Finding found{.title = "The batch is too large for the data set", .value = static_cast<double>(steps)};
  found.message = fmt::format("an epoch of {} examples has {} step{} of {}; advised: at least {}",
                              format_count(*run.train_examples), steps, steps == 1 ? "" : "s",
                              format_count(*run.last_effective), run::min_steps_in_epoch);
  if (run.last_effective != run.effective_batch) {
    const std::int64_t batch = std::max<std::int64_t>(1, detail::per_rank(run, most) / run.accumulate);
    found.mend = fmt::format("--max-batch {}", batch);
    found.changes = {{"max_batch", std::to_string(batch)}};
  } else {
    const std::int64_t batch = detail::per_rank(run, most);
    found.mend = fmt::format("--batch {} --accumulate 1", batch);
    found.changes = {{"batch", std::to_string(batch)}, {"effective_batch", ""}, {"accumulate", "1"}};
  }
  found.source = cite("unsloth", "best practices, don't");
  return found;
}

} // namespace batchscope::advice
