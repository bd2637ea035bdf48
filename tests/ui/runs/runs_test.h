#pragma once

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/store/run_row.h"

namespace batchscope::ui::test {

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// A run that has ended, with figures that follow from its number.
inline store::RunRow finished_run(std::int64_t id) {
  store::RunRow run;
  run.id = id;
  run.name = "run " + std::to_string(id);
  run.started = "2024-05-03T10:00:00Z";
  run.outcome.status = telemetry::RunStatus::finished;
  run.outcome.batch = 16 * id;
  run.outcome.steps = 100 * id;
  run.outcome.epoch = static_cast<double>(id) / 2;
  run.outcome.loss = 1 / static_cast<double>(id);
  run.outcome.validation_accuracy = 0.5 + static_cast<double>(id % 50) / 100;
  run.outcome.peak_bytes = static_cast<std::uint64_t>(id) * 1'234'567;
  run.outcome.seconds = static_cast<double>(id) * 1.5;
  run.outcome.examples_per_second = 1000 + static_cast<double>(id);
  return run;
}

inline std::vector<store::RunRow> finished_runs(std::int64_t count) {
  std::vector<store::RunRow> runs;
  for (std::int64_t id = 1; id <= count; ++id)
    runs.push_back(finished_run(id));
  return runs;
}

/// As a large database may look: every status, values that are missing, NaN and infinite, names in no order.
inline std::vector<store::RunRow> mixed_runs(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  using Status = telemetry::RunStatus;
  constexpr Status statuses[] = {Status::finished,    Status::finished, Status::failed, Status::stopped,
                                 Status::interrupted, Status::running,  Status::queued};
  std::vector<store::RunRow> runs = finished_runs(count);
  for (store::RunRow& run : runs) {
    run.name = "cnn " + std::to_string(random() % 5000) + (random() % 3 == 0 ? " quick" : "");
    run.outcome.status = statuses[random() % 7];
    run.outcome.loss = random() % 10 == 0 ? not_a_number : static_cast<double>(random() % 10000) / 1000;
    if (random() % 20 == 0)
      run.outcome.loss = random() % 2 == 0 ? infinity : -infinity;
    if (random() % 4 == 0)
      run.outcome.loss.reset();
    if (random() % 5 == 0)
      run.sweep = static_cast<std::int64_t>(random() % 40);
    run.outcome.batch = 1 << random() % 10;
    if (random() % 8 == 0)
      run.note = "look at this again";
  }
  return runs;
}

} // namespace batchscope::ui::test
