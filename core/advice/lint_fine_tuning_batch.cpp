#include <fmt/format.h>

#include "core/advice/lint.h"
#include "core/advice/sources.h"
#include "core/base/text.h"

namespace batchscope::advice {

std::optional<Finding> fine_tuning_batch_lint(const JudgedRun& judged);
/// The sources advise 16 to 128; above the largest that one of them calls useful, all agree.
std::optional<Finding> fine_tuning_batch_lint(const JudgedRun& judged) {
  constexpr std::int64_t most_useful = 256, advised = 32;
  const RunFacts& run = judged.run;
  if (!run.fine_tuning || run.last_effective.value_or(0) <= most_useful)
    return std::nullopt;
  Finding found{.title = "Pre-training batch size used for fine-tuning"};
  found.value = static_cast<double>(*run.last_effective);
  found.message = fmt::format("fine-tuning with an effective batch of {}; at most {} is useful, {} is advised",
                              format_count(*run.last_effective), most_useful, advised);
  found.mend = fmt::format("--batch {} --accumulate 1", advised);
  found.changes = {{"batch", std::to_string(advised)}, {"effective_batch", ""}, {"accumulate", "1"}};
  found.source = fmt::format("{}; {}", cite("tradeoffs", "pitfall 10"), cite("unsloth", "effective batch sizes"));
  return found;
}

} // namespace batchscope::advice
