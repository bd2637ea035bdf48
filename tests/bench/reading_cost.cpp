#include "reading_cost.h"

#include <chrono>
#include <string>

#include "core/store/run_follower.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "tests/test_events.h"

namespace batchscope::bench {

namespace {

using Clock = std::chrono::steady_clock;

template <typename Work> double milliseconds(Work&& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

telemetry::RunOutcome finished() {
  telemetry::RunOutcome outcome;
  outcome.status = telemetry::RunStatus::finished;
  return outcome;
}

void measure_list(const std::filesystem::path& file, int runs, ReadingCost& cost) {
  store::RunStore store(file);
  store::NewRun run;
  run.spec_json = std::string("{}");
  for (int i = 0; i < runs; ++i) {
    run.name = "run " + std::to_string(i);
    store.add_finished(run, finished());
  }
  const store::RunReader reader(file);
  cost.whole_list_milliseconds = milliseconds([&] { reader.list(); });
  store::ListCursor cursor;
  reader.changes(cursor);
  cost.nothing_milliseconds = milliseconds([&] { reader.changes(cursor); });
  store.rename(runs / 2, "another");
  cost.change_milliseconds = milliseconds([&] { reader.changes(cursor); });
}

std::int64_t store_wide_run(const std::filesystem::path& file, int series, std::int64_t steps) {
  store::RunStore store(file);
  store::NewRun run;
  run.name = std::string("wide");
  run.spec_json = std::string("{}");
  auto writer = store.begin(run);
  std::vector<std::pair<std::string, double>> values;
  for (int i = 0; i < series; ++i)
    values.emplace_back("metric_" + std::to_string(i), i);
  for (std::int64_t step = 1; step <= steps; ++step) {
    telemetry::StepRecord record;
    record.step = step;
    writer->sink().record(record);
    if (step % 10 == 0)
      writer->sink().event(batchscope::test::event_of(step, 0, "", "{}", values));
  }
  writer->finish(finished());
  return writer->id();
}

void measure_wide_run(const std::filesystem::path& file, int series, std::int64_t steps, ReadingCost& cost) {
  constexpr std::size_t records_a_batch = 4096; // as the window reads them
  const std::int64_t id = store_wide_run(file, series, steps);
  store::RunFollower follower(file, id);
  cost.wide_run_milliseconds = milliseconds([&] {
    while (follower.poll(records_a_batch).more) {
    }
  });
  const auto chunks_of = [](std::int64_t points) {
    constexpr std::int64_t chunk = 1024;
    return static_cast<std::uint64_t>((points + chunk - 1) / chunk);
  };
  const auto known = static_cast<std::uint64_t>(telemetry::step_series().size());
  cost.chunks = chunks_of(steps) * (1 + known) + 2 * static_cast<std::uint64_t>(series) * chunks_of(steps / 10);
  cost.chunks_read = follower.chunks_read().steps + follower.chunks_read().values;
}

} // namespace

ReadingCost measure_reading(const std::filesystem::path& folder, int runs, int series, std::int64_t steps) {
  ReadingCost cost;
  measure_list(folder / "list.db", runs, cost);
  measure_wide_run(folder / "wide.db", series, steps, cost);
  return cost;
}

} // namespace batchscope::bench
