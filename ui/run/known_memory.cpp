#include "ui/run/known_memory.h"

#include <algorithm>
#include <ranges>

#include "core/train/automatic_batch.h"

namespace batchscope::ui {

namespace {

/// Without what changes no trial of a size.
train::RunSpec trial_of(train::RunSpec spec) {
  const train::RunSpec standard;
  spec.name = standard.name;
  spec.batch = standard.batch;
  spec.schedule = standard.schedule;
  spec.length = standard.length;
  spec.lr_rule = standard.lr_rule;
  spec.lr_reference_batch = standard.lr_reference_batch;
  spec.lr_decay = standard.lr_decay;
  spec.warmup = standard.warmup;
  spec.task = standard.task;
  spec.on_oom = standard.on_oom;
  spec.margin = standard.margin;
  return spec;
}

/// Without what changes nothing in the memory that a size takes.
bool same_memory(const train::RunSpec& a, const train::RunSpec& b) {
  const auto of = [](const train::RunSpec& spec) {
    const train::RunSpec standard;
    train::RunSpec rest = trial_of(spec);
    rest.memory_budget = standard.memory_budget;
    rest.max_batch = standard.max_batch;
    rest.learning_rate = standard.learning_rate;
    rest.weight_decay = standard.weight_decay;
    rest.seed = standard.seed;
    rest.drop_last = standard.drop_last;
    return train::to_json(rest);
  };
  return of(a) == of(b);
}

/// The largest size whose foretold peak leaves the margin free.
std::optional<std::int64_t> foretold_safe(const KnownMemory& memory, const train::RunSpec& spec) {
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

std::string trials_of(const train::RunSpec& spec) {
  return train::to_json(trial_of(spec));
}

bool same_trials(const train::RunSpec& a, const train::RunSpec& b) {
  return trials_of(a) == trials_of(b);
}

std::optional<KnownMemory> known_memory(Workbench& workbench, const train::RunSpec& spec) {
  // Where no budget is named, the limit is what was free when somebody looked.
  const auto limit = [&spec](const train::RunSpec& known, std::uint64_t bytes) {
    return spec.memory_budget ? *spec.memory_budget : known.memory_budget ? 0 : bytes;
  };
  for (const Job* job : std::ranges::reverse_view(workbench.engine().jobs())) {
    const auto& found = job->search_result();
    const auto& curve = found && found->memory ? found->memory : job->predicted();
    if (curve && same_memory(job->spec(), spec))
      return KnownMemory{*curve, limit(job->spec(), job->budget_bytes())};
  }
  for (const OpenRun* run : workbench.opened())
    if (run->start() && run->start()->memory && same_memory(run->spec(), spec))
      return KnownMemory{*run->start()->memory, limit(run->spec(), run->start()->budget_bytes)};
  return std::nullopt;
}

std::optional<std::int64_t> known_batch(Workbench& workbench, const train::RunSpec& spec) {
  if (spec.batch.kind == train::BatchChoice::Kind::number)
    return spec.batch.number;
  for (const Job* job : std::ranges::reverse_view(workbench.engine().jobs()))
    if (job->search_result() && same_trials(job->spec(), spec))
      if (const auto answer = train::answer_to(spec.batch, *job->search_result()))
        return answer;
  const auto memory = known_memory(workbench, spec);
  return memory && memory->limit_bytes > 0 ? foretold_safe(*memory, spec) : std::nullopt;
}

} // namespace batchscope::ui
