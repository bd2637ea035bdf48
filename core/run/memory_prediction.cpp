#include "core/run/memory_prediction.h"

#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "core/base/host.h"
#include "core/run/dry_run.h"
#include "core/run/engine.h"
#include "core/run/model_spec.h"
#include "core/run/run_plan.h"

namespace batchscope::run {

namespace {

constexpr double default_fraction = 0.8; ///< of the free memory, as the device takes it

std::int64_t max_batch(const RunSpec& spec, const data::Dataset& train) {
  const std::int64_t largest = data::largest_batch(sampler_options(spec, data::count_examples(train)));
  const std::int64_t most = std::min(largest, spec.max_batch.value_or(largest));
  return std::max<std::int64_t>(std::min(most, spec.effective_batch.value_or(most)), 1);
}

/// Computes the peak by a dry run. Memory that an allocator takes beyond the bytes of the blocks counts as workspace.
predict::PeakCurve::Point exact(std::int64_t batch, const DryRunPredictor& predictor) {
  const predict::Peak peak = predictor.peak(batch);
  predict::PeakCurve::Point point{
      .batch = batch, .bytes = peak.bytes, .onto_gradients = peak.onto_gradients, .by = peak.by};
  const std::uint64_t blocks = std::accumulate(point.by.begin(), point.by.end(), std::uint64_t{0});
  point.by[static_cast<std::size_t>(telemetry::Use::workspace)] += point.bytes - std::min(point.bytes, blocks);
  return point;
}

} // namespace

MemoryPrediction predict_memory(const RunSpec& spec, data::DataPool& pool, Engine::Workspace workspace) {
  if (spec.device != "cpu")
    throw Error(Error::Kind::unavailable, "the memory of a run on " + spec.device +
                                              " cannot be computed before it runs here; find and the window's "
                                              "\"Predict memory\" measure two small trials");
  return predict_memory(spec, pool, [&](const RunSpec& of, const data::ExampleShape& shape, std::int64_t examples) {
    return engine().dry_run(of, shape, examples, workspace);
  });
}

MemoryPrediction predict_memory(const RunSpec& spec, data::DataPool& pool, const MakeDryRun& make) {
  check(spec);
  const ModelSpec model = about_field("model", [&] { return parse_model(spec.model); });
  const data::DataSplit data = about_field("data", [&] { return pool.open(spec.data, data_options(spec)); });
  about_field("model", [&] { check_fits(model, data.train->shape()); });
  const std::int64_t examples = data.train->size();
  const std::int64_t most = max_batch(spec, *data.train);
  const std::uint64_t budget = spec.memory_budget.value_or(
      static_cast<std::uint64_t>(default_fraction * static_cast<double>(free_host_memory())));
  auto made = make(spec, data::longest_shape(*data.train), examples);
  DryRun& dry_run = *made;
  const std::uint64_t model_bytes = made->trace(1).start_bytes;
  const DryRunPredictor predictor(std::move(made), budget, most);
  const auto fitting = [&](double bytes) {
    const std::int64_t largest = predictor.largest_within(static_cast<std::uint64_t>(bytes), 1, most);
    return largest > 0 ? std::optional(largest) : std::nullopt;
  };
  const auto room = static_cast<double>(budget);
  const auto largest = fitting(room), safe = fitting(room * (1 - spec.margin));
  const bool number = spec.batch.kind == BatchChoice::Kind::number;
  const std::int64_t batch = number ? std::min(spec.batch.number, most) : largest.value_or(1);
  if (predictor.tolerance() > dry_run_error) // peaks are no curve, so how far it is off has to be seen
    for (const std::int64_t size : {batch / 2 + 1, batch / 3 + 1})
      predictor.peak(size);
  predict::PeakCurve::Point peak = exact(batch, predictor);
  predict::PeakCurve curve(predictor.model(), most, predictor.error());
  return {.curve = std::move(curve),
          .peak = peak,
          .examples = examples,
          .max_batch = most,
          .parameters = dry_run.parameter_count(),
          .model_bytes = model_bytes,
          .budget_bytes = budget,
          .complete = dry_run.complete(),
          .largest = largest,
          .safe = safe};
}

} // namespace batchscope::run
