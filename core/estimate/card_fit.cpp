#include "core/estimate/card_fit.h"

#include <algorithm>

#include "core/run/model_spec.h"

namespace batchscope::estimate {

namespace {

run::MakeDryRun maker(DryRuns& dry_runs) {
  return [&](const run::RunSpec& spec, const data::ExampleShape& shape, std::int64_t examples) {
    return dry_runs.make(spec, shape, examples);
  };
}

/// By a dry run of the changed run.
Saving dry_saving(const TrainedSaving& change, std::int64_t batch, DryRuns& dry_runs, data::DataPool& pool) {
  const run::MemoryPrediction prediction = run::predict_memory(change.spec, pool, maker(dry_runs));
  return {change.name, change.title, static_cast<double>(prediction.at(std::min(batch, prediction.max_batch)).bytes),
          prediction.largest.value_or(0), /*by_formula=*/false};
}

} // namespace

CardFit fit_into(const run::RunSpec& spec, DryRuns& dry_runs, data::DataPool& pool) {
  run::RunSpec within = spec;
  within.memory_budget = dry_runs.target().usable_bytes();
  const data::DataSplit data = pool.open(spec.data, run::data_options(spec)); // read once
  CardFit fit{.target = dry_runs.target(),
              .prediction = run::predict_memory(within, pool, maker(dry_runs)),
              .steps = {},
              .not_on_card = {},
              .batch = spec.batch.kind == run::BatchChoice::Kind::number ? spec.batch.number : 1};
  fit.steps =
      dry_runs.steps(within, data::longest_shape(*data.train), data.train->size(), fit.prediction.largest.value_or(1));
  fit.not_on_card = dry_runs.why();
  return fit;
}

std::vector<Saving> savings_of(const run::RunSpec& spec, const CardFit& fit, DryRuns& dry_runs, data::DataPool& pool,
                               const std::function<bool()>& stop) {
  run::RunSpec within = spec;
  const auto room = static_cast<double>(dry_runs.target().usable_bytes());
  within.memory_budget = dry_runs.target().usable_bytes();
  const data::DataSplit data = pool.open(spec.data, run::data_options(spec));
  std::vector<Saving> all;
  if (const auto shape =
          transformer_of(run::parse_model(spec.model), fit.prediction.parameters, data.train->shape().vocabulary))
    all = savings(*shape, training_of(spec, fit.batch), room, memory_parts(fit.prediction));
  for (const TrainedSaving& change : trained_savings(within)) {
    if (stop && stop())
      break;
    const Saving saving = dry_saving(change, fit.batch, dry_runs, pool);
    const auto known =
        std::find_if(all.begin(), all.end(), [&](const Saving& each) { return each.name == saving.name; });
    if (known == all.end())
      all.push_back(saving);
    else
      *known = saving;
  }
  return all;
}

} // namespace batchscope::estimate
