#include "store_rate.h"

#include <chrono>
#include <cmath>

#include "core/store/run_reader.h"
#include "core/store/run_store.h"

namespace batchscope::bench {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Values that look like measured ones, so that nothing is faster than it would be.
telemetry::StepRecord record_at(std::int64_t step) {
  telemetry::StepRecord record;
  record.step = step;
  record.examples_seen = step * 64;
  record.epoch = static_cast<double>(step) / 125;
  record.loss = 2 / std::sqrt(static_cast<double>(step));
  record.learning_rate = 0.001;
  record.grad_norm = 1 + std::sin(static_cast<double>(step));
  record.seconds = static_cast<double>(step) * 0.01;
  record.peak_bytes = 100'000'000 + step % 1000;
  return record;
}

} // namespace

StoreRate measure_store(const std::filesystem::path& folder, std::int64_t steps) {
  const auto file = folder / "store_rate.db";
  StoreRate rate;
  rate.points = steps * static_cast<std::int64_t>(telemetry::step_series().size());
  {
    store::RunStore store(file);
    store::NewRun run;
    run.name = std::string("rate");
    run.spec_json = std::string("{}");
    auto writer = store.begin(run);
    const auto start = Clock::now();
    for (std::int64_t step = 1; step <= steps; ++step)
      writer->sink().record(record_at(step));
    rate.push_nanoseconds = seconds_since(start) * 1e9 / static_cast<double>(steps);
    telemetry::RunOutcome outcome;
    outcome.status = telemetry::RunStatus::finished;
    writer->finish(outcome);
    rate.write_points_per_second = static_cast<double>(rate.points) / seconds_since(start);
  }
  const store::RunReader reader(file);
  const auto start = Clock::now();
  reader.series(1, "loss");
  rate.read_milliseconds = seconds_since(start) * 1e3;
  rate.bytes_per_point = static_cast<double>(std::filesystem::file_size(file)) / static_cast<double>(rate.points);
  std::filesystem::remove(file);
  return rate;
}

} // namespace batchscope::bench
