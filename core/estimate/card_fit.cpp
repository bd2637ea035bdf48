#include "core/estimate/card_fit.h"

#include <limits>

#include "core/base/error.h"
#include "core/run/engine.h"
#include "core/run/model_spec.h"

namespace batchscope::estimate {

namespace {

using run::Engine;

std::unique_ptr<run::DryRun> dry_run_of(const run::RunSpec& spec, data::DataPool& pool) {
  const data::DataSplit data = pool.open(spec.data, {.context = run::parse_model(spec.model).context()});
  return run::engine().dry_run(spec, data::longest_shape(*data.train), data.train->size(), Engine::Workspace::none);
}

/// The largest batch that the allocator can serve, at most `highest`; 0 if none.
std::int64_t largest_reserved(run::DryRun& dry_run, std::uint64_t bytes, std::int64_t highest) {
  std::int64_t fits = 0;
  std::int64_t too_large = highest + 1;
  std::int64_t next = highest; // usually it loses little to fragmentation
  while (too_large - fits > 1) {
    (reserve(dry_run.trace_from_start(next), bytes).fits ? fits : too_large) = next;
    const std::int64_t gap = too_large - fits;
    next = fits == 0 && gap > 16 ? too_large - gap / 8 : fits + gap / 2;
  }
  return fits;
}

std::optional<std::int64_t> or_nothing(std::int64_t batch) {
  return batch > 0 ? std::optional(batch) : std::nullopt;
}

} // namespace

CardFit fit_into(const run::RunSpec& spec, const Target& target, data::DataPool& pool) {
  run::RunSpec within = spec;
  within.memory_budget = target.usable_bytes();
  const bool card = !target.name.empty();
  CardFit fit{.forecast = run::forecast(within, pool, card ? Engine::Workspace::none : Engine::Workspace::learn),
              .largest = {},
              .safe = {},
              .reserve = {}};
  fit.largest = fit.forecast.largest;
  fit.safe = fit.forecast.safe;
  if (!card)
    return fit;
  try {
    const auto dry_run = dry_run_of(spec, pool);
    const auto margin = static_cast<std::uint64_t>((1 - spec.margin) * static_cast<double>(target.usable_bytes()));
    if (fit.largest)
      fit.largest = or_nothing(largest_reserved(*dry_run, target.usable_bytes(), *fit.largest));
    if (fit.safe)
      fit.safe = or_nothing(largest_reserved(*dry_run, margin, *fit.safe));
    constexpr std::uint64_t unlimited = std::uint64_t{1} << 46; // address space
    fit.reserve = reserve(dry_run->trace_from_start(fit.largest.value_or(1)), unlimited);
  } catch (const Error& error) {
    if (error.kind() != Error::Kind::unavailable)
      throw;
  }
  return fit;
}

} // namespace batchscope::estimate
