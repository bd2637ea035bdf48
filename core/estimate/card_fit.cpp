#include "core/estimate/card_fit.h"

#include <limits>

#include "core/base/error.h"
#include "core/estimate/target_dry_run.h"
#include "core/predict/reserved_predictor.h"
#include "core/run/engine.h"
#include "core/run/model_spec.h"

namespace batchscope::estimate {

namespace {

using run::Engine;

/// The largest batch of which a dry run fits into `bytes`; 0 if none.
std::int64_t largest_reserved(run::DryRun& dry_run, const Target& target, std::uint64_t bytes, std::int64_t highest) {
  return predict::largest_served([&](std::int64_t batch) { return fits(dry_run, batch, target, bytes); }, 1, highest);
}

std::optional<std::int64_t> or_nothing(std::int64_t batch) {
  return batch > 0 ? std::optional(batch) : std::nullopt;
}

std::vector<Saving> savings_of(const run::RunSpec& spec, const CardFit& fit, std::int64_t vocabulary,
                               const Target& target) {
  const run::ModelSpec model = run::parse_model(spec.model);
  const auto shape = transformer_of(model, fit.forecast.parameters, vocabulary);
  if (!shape)
    return {};
  return savings(*shape, training_of(spec, fit.batch), static_cast<double>(target.usable_bytes()),
                 known_memory(fit.forecast));
}

} // namespace

CardFit fit_into(const run::RunSpec& spec, const Target& target, data::DataPool& pool) {
  run::RunSpec within = spec;
  within.memory_budget = target.usable_bytes();
  const bool card = !target.name.empty();
  CardFit fit{.forecast = run::forecast(within, pool, card ? Engine::Workspace::none : Engine::Workspace::learn),
              .largest = {},
              .safe = {},
              .reserve = {},
              .batch = spec.batch.kind == run::BatchChoice::Kind::number ? spec.batch.number : 1,
              .savings = {}};
  const data::DataSplit data = pool.open(spec.data, {.context = run::parse_model(spec.model).context()});
  fit.savings = savings_of(spec, fit, data.train->shape().vocabulary, target);
  fit.largest = fit.forecast.largest;
  fit.safe = fit.forecast.safe;
  if (!card)
    return fit;
  const auto dry_run = dry_run_for(spec, data::longest_shape(*data.train), data.train->size(), target);
  const auto margin = static_cast<std::uint64_t>((1 - spec.margin) * static_cast<double>(target.usable_bytes()));
  if (fit.largest)
    fit.largest = or_nothing(largest_reserved(*dry_run, target, target.usable_bytes(), *fit.largest));
  if (fit.safe)
    fit.safe = or_nothing(largest_reserved(*dry_run, target, margin, *fit.safe));
  try {
    constexpr std::uint64_t unlimited = std::uint64_t{1} << 46; // address space
    fit.reserve = predict::reserve(dry_run->trace_from_start(fit.largest.value_or(1)), unlimited);
  } catch (const Error& error) {
    if (error.kind() != Error::Kind::unavailable)
      throw;
  }
  return fit;
}

} // namespace batchscope::estimate
