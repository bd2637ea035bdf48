#include "core/advice/detail/siblings.h"

#include <algorithm>

namespace batchscope::advice::detail {

bool comparable(const RunFacts& a, const RunFacts& b) {
  return a.rest == b.rest;
}

std::vector<const RunFacts*> smallest_batch(const JudgedRun& judged) {
  std::vector<const RunFacts*> smallest;
  for (const RunFacts& sibling : judged.siblings) {
    if (!sibling.effective_batch || !judged.run.effective_batch ||
        *sibling.effective_batch >= *judged.run.effective_batch || !comparable(sibling, judged.run))
      continue;
    if (!smallest.empty() && *sibling.effective_batch < *smallest.front()->effective_batch)
      smallest.clear();
    if (smallest.empty() || *sibling.effective_batch == *smallest.front()->effective_batch)
      smallest.push_back(&sibling);
  }
  return smallest;
}

bool fits(const RunFacts& run, std::int64_t micro_batch) {
  constexpr double share = 0.8;
  const double room = share * static_cast<double>(run.start.budget_bytes);
  if (room <= 0)
    return false;
  if (run.start.memory)
    return static_cast<double>(run.start.memory->at(micro_batch).bytes) <= room;
  if (!run.micro_batch || run.row.outcome.peak_bytes == 0)
    return false;
  // An upper bound: only a part of the peak grows with the batch.
  const double times = static_cast<double>(micro_batch) / static_cast<double>(*run.micro_batch);
  return static_cast<double>(run.row.outcome.peak_bytes) * std::max(times, 1.0) <= room;
}

std::int64_t micro_batches(const RunFacts& run) {
  if (!run.effective_batch || !run.micro_batch)
    return run.accumulate;
  const std::int64_t examples = per_rank(run, *run.effective_batch);
  const std::int64_t micro = std::min(*run.micro_batch, examples);
  return (examples + micro - 1) / micro;
}

std::int64_t per_rank(const RunFacts& run, std::int64_t examples) {
  return std::max<std::int64_t>(1, examples / run.ranks);
}

} // namespace batchscope::advice::detail
