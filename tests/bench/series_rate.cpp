#include "series_rate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <random>
#include <vector>

#include <unistd.h>

#include "core/schedule/plan.h"
#include "core/series/history.h"

namespace batchscope::bench {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// Median over the series.
double sampling_milliseconds(const series::Column<double>& x, const std::vector<series::Pyramid>& rows, double from,
                             double to, int pixels) {
  std::vector<double> times;
  series::Samples samples;
  for (const series::Pyramid& y : rows) {
    const auto start = Clock::now();
    series::sample(x, y, from, to, pixels, 1, samples);
    times.push_back(seconds_since(start) * 1e3);
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

void measure_sampling(SeriesRate& rate, int series, std::int64_t points, int pixels) {
  std::mt19937_64 random(1);
  std::vector<double> noise(65'536);
  for (double& value : noise)
    value = std::normal_distribution<double>()(random);
  series::Column<double> x;
  std::vector<series::Pyramid> rows(static_cast<std::size_t>(series));
  double appending = 0;
  for (std::int64_t i = 0; i < points; ++i) {
    x.append(static_cast<double>(i + 1));
    const auto start = Clock::now();
    for (std::size_t row = 0; row < rows.size(); ++row)
      rows[row].append(noise[(static_cast<std::size_t>(i) * (2 * row + 1)) % noise.size()]);
    const double seconds = seconds_since(start);
    appending += seconds;
    rate.slowest_append_microseconds = std::max(rate.slowest_append_microseconds, seconds * 1e6);
  }
  rate.append_nanoseconds = appending / static_cast<double>(points) / series * 1e9;
  const double end = static_cast<double>(points);
  rate.first_milliseconds = sampling_milliseconds(x, rows, 1, end, pixels);
  rate.out_milliseconds = sampling_milliseconds(x, rows, 1, end, pixels);
  rate.half_milliseconds = sampling_milliseconds(x, rows, 0.3 * end, 0.8 * end, pixels);
  rate.in_milliseconds = sampling_milliseconds(x, rows, 0.3 * end, 0.3 * end + 2000, pixels);
}

void measure_records(SeriesRate& rate) {
  constexpr std::int64_t steps = 1'000'000;
  std::mt19937_64 random(1);
  std::vector<double> noise(65'536);
  for (double& value : noise)
    value = std::normal_distribution<double>()(random);
  const double before = resident_bytes();
  series::History history;
  telemetry::StepRecord record;
  record.accumulate = 1;
  const auto start = Clock::now();
  for (std::int64_t step = 1; step <= steps; ++step) {
    const double wiggle = noise[static_cast<std::size_t>(step) % noise.size()];
    record.step = step;
    record.batch = record.micro_batch = record.effective_batch = 16 + step / 10'000;
    record.examples_seen += record.batch;
    record.epoch = static_cast<double>(record.examples_seen) / 60'000;
    record.train_coverage = record.epoch - std::floor(record.epoch);
    record.loss = 2 + wiggle;
    record.grad_norm = 1 + wiggle * wiggle;
    record.learning_rate = 0.001 / (1 + record.epoch);
    record.seconds += 0.01 + 0.0001 * wiggle;
    record.peak_bytes = record.reserved_bytes = 100'000'000 + static_cast<std::int64_t>(1e6 * wiggle);
    history.append(record);
  }
  rate.record_nanoseconds = seconds_since(start) * 1e9 / static_cast<double>(steps);
  rate.record_bytes = (resident_bytes() - before) / static_cast<double>(steps);
}

double plan_seconds(const char* schedule) {
  schedule::PlanRequest request;
  request.options.sampler.examples = 3'000'000'000;
  request.options.length.steps = 1'000'000;
  request.options.batch = 16;
  request.options.schedule = schedule;
  const auto start = Clock::now();
  schedule::make_plan(request);
  return seconds_since(start);
}

} // namespace

SeriesRate measure_series(int series, std::int64_t points, int pixels) {
  SeriesRate rate;
  measure_records(rate);
  measure_sampling(rate, series, points, pixels);
  rate.plan_seconds = plan_seconds("step:interval=5,increment=1");
  rate.restless_plan_seconds = plan_seconds("formula:1000 + 500 * sin(step / 1000) + 100 * sin(step * 7)");
  return rate;
}

} // namespace batchscope::bench
