#pragma once

#include <random>
#include <string>
#include <vector>

#include "core/store/run_row.h"
#include "ui/compare/comparison_columns.h"

namespace batchscope::ui::test {

/// A finished run of a sweep over batch size and learning rate, with results that follow from these and the seed.
inline ReadRun compared_run(std::int64_t id, std::int64_t batch, double lr, std::int64_t seed) {
  ReadRun read;
  store::RunRow& row = read.run.row;
  row.id = id;
  row.name = "batch " + std::to_string(batch) + ", seed " + std::to_string(seed);
  row.outcome.status = telemetry::RunStatus::finished;
  row.outcome.batch = batch;
  row.outcome.steps = 8000 / batch;
  row.outcome.examples_seen = 8000;
  row.outcome.loss = 0.3 + lr;
  row.outcome.validation_accuracy = 0.95 - static_cast<double>(batch) / 10'000 + 0.001 * static_cast<double>(seed % 3);
  row.outcome.validation_loss = 0.2 + static_cast<double>(batch) / 1000;
  row.outcome.peak_bytes = static_cast<std::uint64_t>(batch) * 1'000'000;
  row.outcome.seconds = 100.0 / static_cast<double>(batch) + 1;
  row.outcome.examples_per_second = 8000 / row.outcome.seconds;
  read.run.spec = {{"batch", batch}, {"lr", lr}, {"seed", seed}, {"model", "mlp"}, {"name", row.name}};
  read.run.accuracies = {{row.outcome.seconds, *row.outcome.validation_accuracy}};
  read.run.losses = {{row.outcome.seconds, *row.outcome.validation_loss}};
  read.series.push_back(
      {.name = "loss", .count = 10, .last_step = 10, .last = row.outcome.loss.value_or(0), .min = 0.25, .max = 2});
  return read;
}

/// Four sizes, two rates, three seeds.
inline std::vector<ReadRun> compared_sweep() {
  std::vector<ReadRun> runs;
  for (const std::int64_t batch : {16, 64, 256, 1024})
    for (const double lr : {0.001, 0.01})
      for (std::int64_t seed = 1; seed <= 3; ++seed)
        runs.push_back(compared_run(std::ssize(runs) + 1, batch, lr, seed));
  return runs;
}

/// All runs of a comparison.
inline std::vector<std::size_t> everything(const Comparison& comparison) {
  std::vector<std::size_t> all(comparison.runs().size());
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = i;
  return all;
}

inline const CompareField& field(const Comparison& comparison, const char* key) {
  const int index = comparison.field(QString::fromLatin1(key));
  if (index < 0)
    qFatal("no field %s", key);
  return comparison.fields[static_cast<std::size_t>(index)];
}

} // namespace batchscope::ui::test
