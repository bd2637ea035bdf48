#include "ui/workbench/known_prediction.h"

#include <algorithm>
#include <ranges>

#include "core/run/automatic_batch.h"
#include "core/run/spec_keys.h"

namespace batchscope::ui {

namespace {

/// The largest size whose predicted peak leaves the margin free.
std::optional<std::int64_t> predicted_safe(const KnownPrediction& memory, const run::RunSpec& spec) {
  const auto fits = [&](std::int64_t batch) {
    return static_cast<double>(memory.curve.at(batch).bytes) <=
           static_cast<double>(memory.limit_bytes) * (1 - spec.margin);
  };
  const std::int64_t most = memory.curve.points().back().batch;
  std::int64_t good = 0;
  std::int64_t bad = std::min(spec.max_batch.value_or(most), most) + 1;
  while (bad - good > 1) {
    const std::int64_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good > 0 ? std::optional(good) : std::nullopt;
}

} // namespace

std::optional<KnownPrediction> known_prediction(Workbench& workbench, const run::RunSpec& spec) {
  // Without a budget, the limit is what was free when it was measured.
  const auto limit = [&spec](const run::RunSpec& known, std::uint64_t bytes) {
    return spec.memory_budget ? *spec.memory_budget : known.memory_budget ? 0 : bytes;
  };
  const std::string key = run::memory_key(spec);
  for (const Job* job : std::ranges::reverse_view(workbench.job_queue().jobs())) {
    const auto& found = job->search_result();
    const auto& curve = found && found->memory ? found->memory : job->predicted();
    if (curve && run::memory_key(job->spec()) == key)
      return KnownPrediction{*curve, limit(job->spec(), job->budget_bytes())};
  }
  for (const OpenRun* run : workbench.opened())
    if (run->spec() && run->start() && run->start()->memory && run::memory_key(*run->spec()) == key)
      return KnownPrediction{*run->start()->memory, limit(*run->spec(), run->start()->budget_bytes)};
  return std::nullopt;
}

std::optional<std::int64_t> known_batch(Workbench& workbench, const run::RunSpec& spec) {
  if (spec.batch.kind == run::BatchChoice::Kind::number)
    return spec.batch.number;
  const std::string key = run::trial_key(spec);
  for (const Job* job : std::ranges::reverse_view(workbench.job_queue().jobs()))
    if (job->search_result() && run::trial_key(job->spec()) == key)
      if (const auto answer = run::answer_to(spec.batch, *job->search_result()))
        return answer;
  const auto memory = known_prediction(workbench, spec);
  return memory && memory->limit_bytes > 0 ? predicted_safe(*memory, spec) : std::nullopt;
}

} // namespace batchscope::ui
