#include "core/estimate/card_fit.h"

#include <algorithm>
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

Engine::Workspace workspace_for(const Target& target) {
  return target.name.empty() ? Engine::Workspace::learn : Engine::Workspace::none;
}

/// By a dry run of the changed run.
Saving dry_saving(const TrainedSaving& change, std::int64_t batch, const Target& target, data::DataPool& pool) {
  const run::Forecast forecast = run::forecast(change.spec, pool, workspace_for(target));
  std::int64_t largest = forecast.largest.value_or(0);
  if (largest > 0 && !target.name.empty()) {
    const data::DataSplit data = pool.open(change.spec.data, run::data_options(change.spec));
    const auto dry_run = dry_run_for(change.spec, data::longest_shape(*data.train), data.train->size(), target);
    largest = largest_reserved(*dry_run, target, target.usable_bytes(), largest);
  }
  return {change.name, change.title, static_cast<double>(forecast.at(std::min(batch, forecast.max_batch)).bytes),
          largest, /*by_formula=*/false};
}

/// `spec` has the target's memory as its budget.
std::vector<Saving> savings_of(const run::RunSpec& spec, const CardFit& fit, std::int64_t vocabulary,
                               const Target& target, data::DataPool& pool) {
  const run::ModelSpec model = run::parse_model(spec.model);
  std::vector<Saving> all;
  if (const auto shape = transformer_of(model, fit.forecast.parameters, vocabulary))
    all = savings(*shape, training_of(spec, fit.batch), static_cast<double>(target.usable_bytes()),
                  known_memory(fit.forecast));
  for (const TrainedSaving& change : trained_savings(spec)) {
    const Saving saving = dry_saving(change, fit.batch, target, pool);
    const auto known =
        std::find_if(all.begin(), all.end(), [&](const Saving& each) { return each.name == saving.name; });
    if (known == all.end())
      all.push_back(saving);
    else
      *known = saving;
  }
  return all;
}

} // namespace

CardFit fit_into(const run::RunSpec& spec, const Target& target, data::DataPool& pool) {
  run::RunSpec within = spec;
  within.memory_budget = target.usable_bytes();
  const bool card = !target.name.empty();
  CardFit fit{.forecast = run::forecast(within, pool, workspace_for(target)),
              .largest = {},
              .safe = {},
              .reserve = {},
              .batch = spec.batch.kind == run::BatchChoice::Kind::number ? spec.batch.number : 1,
              .savings = {}};
  const data::DataSplit data = pool.open(spec.data, run::data_options(spec));
  fit.savings = savings_of(within, fit, data.train->shape().vocabulary, target, pool);
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
