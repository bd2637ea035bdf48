#include "core/sweep/run_prediction.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/median.h"
#include "core/run/automatic_batch.h"
#include "core/run/memory_prediction.h"
#include "core/run/spec_keys.h"

namespace batchscope::sweep {

namespace {

/// Runs with the same key take the same time for a step of the same batch.
std::string rate_key(const std::string& model, const std::string& data, const std::string& optimizer,
                     const std::string& device) {
  return model + '\n' + data + '\n' + optimizer + '\n' + device;
}

std::optional<std::int64_t> batch_of(const run::RunSpec& spec, const run::MemoryPrediction& memory) {
  search::SearchResult predicted;
  predicted.largest = memory.largest;
  predicted.safe = memory.safe;
  return run::answer_to(spec.batch, predicted);
}

/// Examples of the whole run.
double examples_of(const run::RunSpec& spec, std::int64_t batch, std::int64_t examples) {
  const double effective = spec.effective_batch ? static_cast<double>(*spec.effective_batch)
                                                : static_cast<double>(batch) * static_cast<double>(spec.accumulate);
  if (spec.length.steps)
    return static_cast<double>(*spec.length.steps) * effective;
  if (spec.length.examples)
    return static_cast<double>(*spec.length.examples);
  return static_cast<double>(spec.length.epochs.value_or(1)) * static_cast<double>(examples);
}

/// MemoryPredictions by what they depend on, so that runs that differ in other fields share one.
class MemoryPredictions {
public:
  explicit MemoryPredictions(data::DataPool& pool) : pool_(pool) {}

  const run::MemoryPrediction& of(const run::RunSpec& spec) {
    const std::string key = run::memory_key(spec) + std::to_string(spec.memory_budget.value_or(0)) + ' ' +
                            std::to_string(spec.max_batch.value_or(0)) + ' ' + std::to_string(spec.margin);
    auto found = known_.find(key);
    if (found == known_.end())
      found = known_.emplace(key, run::predict_memory(spec, pool_)).first;
    return found->second;
  }

private:
  data::DataPool& pool_;
  std::map<std::string, run::MemoryPrediction> known_;
};

RunPrediction predict_one(const run::RunSpec& spec, MemoryPredictions& known, const Throughputs& throughputs) {
  RunPrediction prediction;
  if (spec.batch.kind == run::BatchChoice::Kind::number)
    prediction.batch = spec.batch.number;
  try {
    check(spec);
    if (spec.program)
      return prediction; // its memory and time are its own
    const run::MemoryPrediction& memory = known.of(spec);
    prediction.batch = batch_of(spec, memory);
    prediction.fits = memory.largest.has_value();
    if (prediction.batch && *prediction.batch > memory.max_batch)
      prediction.problem = fmt::format("batch size {} is above {}, the largest that data and settings allow",
                                       *prediction.batch, memory.max_batch);
    else if (prediction.batch) {
      prediction.peak_bytes = memory.at(*prediction.batch).bytes;
      prediction.fits = prediction.fits && *prediction.peak_bytes <= memory.budget_bytes;
      if (const auto rate = throughputs.examples_per_second(spec, *prediction.batch))
        prediction.seconds = std::min(examples_of(spec, *prediction.batch, memory.examples) / *rate,
                                      spec.max_seconds.value_or(std::numeric_limits<double>::infinity()));
    }
  } catch (const Error& error) {
    if (error.kind() == Error::Kind::input)
      prediction.problem = error.what();
  }
  return prediction;
}

} // namespace

Throughputs::Throughputs(const std::vector<store::RunRow>& rows) {
  for (const store::RunRow& row : rows) {
    const store::RunSettings& settings = row.settings;
    if (row.outcome.status != telemetry::RunStatus::finished || row.workers > 1 || !row.outcome.batch ||
        !(row.outcome.examples_per_second > 0) || settings.schedule != "constant" || !settings.model ||
        !settings.data || !settings.optimizer || !settings.device)
      continue;
    rates_[rate_key(*settings.model, *settings.data, *settings.optimizer, *settings.device)][*row.outcome.batch]
        .push_back(row.outcome.examples_per_second);
  }
}

std::optional<double> Throughputs::examples_per_second(const run::RunSpec& spec, std::int64_t batch) const {
  const auto setting = rates_.find(rate_key(spec.model, spec.data, spec.optimizer, spec.device));
  if (setting == rates_.end())
    return std::nullopt;
  const auto& rates = setting->second;
  const auto above = rates.lower_bound(batch);
  if (above == rates.end())
    return median(std::prev(above)->second);
  if (above->first == batch || above == rates.begin())
    return median(above->second);
  // The time of a step is nearly a straight line of its batch; the throughput is not.
  const auto below = std::prev(above);
  const auto seconds = [](const auto& entry) { return static_cast<double>(entry.first) / median(entry.second); };
  const double place = static_cast<double>(batch - below->first) / static_cast<double>(above->first - below->first);
  return static_cast<double>(batch) / std::lerp(seconds(*below), seconds(*above), place);
}

std::vector<RunPrediction> predict_runs(const std::vector<run::RunSpec>& runs, data::DataPool& pool,
                                        const Throughputs& throughputs, const std::function<bool()>& stop) {
  MemoryPredictions known(pool);
  std::vector<RunPrediction> predictions;
  for (const run::RunSpec& run : runs) {
    if (stop && stop())
      break;
    predictions.push_back(predict_one(run, known, throughputs));
  }
  return predictions;
}

} // namespace batchscope::sweep
