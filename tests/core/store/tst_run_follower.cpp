#include <QCoreApplication>
#include <QTest>

#include <cmath>
#include <csignal>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <string_view>
#include <thread>

#include <unistd.h>

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include "core/store/run_follower.h"
#include "core/store/run_reader.h"
#include "second_process.h"
#include "store_test.h"
#include "test_events.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::store;
using namespace batchscope::store::test;
using std::chrono::milliseconds;

namespace {

/// Everything that a follower gave, put together again by the names of series.
struct Seen {
  std::map<std::string, std::vector<Point>> series;
  std::vector<telemetry::Event> events; ///< those with a kind
  std::vector<telemetry::StepRecord> records;
  RunRow row;

  void take(RunFollower::Update update) {
    std::vector<double> values;
    for (const auto& record : update.records) {
      telemetry::row(record, values);
      for (std::size_t i = 0; i < values.size(); ++i)
        series[telemetry::step_series()[i]].push_back({record.step, values[i]});
      for (const auto& [name, value] : record.more)
        series[name].push_back({record.step, value});
      records.push_back(record);
    }
    for (const auto& event : update.events) {
      for (const auto& [name, value] : event.values)
        series[name].push_back({event.step, value});
      if (telemetry::has_happened(event))
        events.push_back(event);
    }
    row = std::move(update.row);
  }
};

/// What is wrong with what was seen of a run, compared with what the database has of it; empty when nothing is.
std::string difference(const Seen& seen, const RunReader& reader, std::int64_t id) {
  std::size_t names = 0;
  for (const std::string& name : reader.series_names(id)) {
    ++names;
    const auto stored = reader.series(id, name);
    const auto found = seen.series.find(name);
    if (found == seen.series.end() || found->second.size() != stored.size())
      return name + ": another number of points";
    for (std::size_t i = 0; i < stored.size(); ++i)
      if (found->second[i].step != stored[i].step || !same(found->second[i].value, stored[i].value))
        return name + ": another point " + std::to_string(i);
  }
  if (names != seen.series.size())
    return "series that are not there";
  const auto events = reader.events(id);
  if (events.size() != seen.events.size())
    return "another number of events";
  for (std::size_t i = 0; i < events.size(); ++i)
    if (events[i].step != seen.events[i].step || kind_text(events[i]) != kind_text(seen.events[i]) ||
        !same(events[i].seconds, seen.events[i].seconds) || detail_text(events[i]) != detail_text(seen.events[i]))
      return "another event " + std::to_string(i);
  const RunRow row = reader.run(id);
  if (row.outcome.status != seen.row.outcome.status || row.outcome.steps != seen.row.outcome.steps)
    return "another outcome";
  return {};
}

/// A step of a run that reports all there is: values that are no numbers, unknown metrics, events with values.
void report(telemetry::Sink& sink, std::int64_t step) {
  telemetry::StepRecord record = record_at(step);
  if (step % 7 == 0)
    record.loss = step % 2 == 0 ? not_a_number : infinity;
  if (step % 11 == 0)
    record.grad_norm = -infinity;
  if (step % 3 == 0)
    record.more = {{"noise_scale", static_cast<double>(step) / 7}, {"loss", not_a_number}};
  sink.record(record);
  if (step % 50 == 0)
    sink.event(event_of(step, step / 1000.0, "oom", R"({"a":1})"));
  if (step % 500 == 0)
    sink.event(event_of(step, step / 1000.0, "evaluation", "{}",
                        {{"validation_loss", 1.0 / step}, {"validation_accuracy", not_a_number}}));
}

bool is_over(const RunFollower::Update& update) {
  return !update.more && update.row.outcome.status != telemetry::RunStatus::running;
}

// Everything of a run that is over, or of one that goes on as far as it was stored.
Seen all_of(RunFollower& follower, std::size_t most = 8192) {
  Seen seen;
  for (bool more = true; more;) {
    auto update = follower.poll(most);
    more = update.more;
    seen.take(std::move(update));
  }
  return seen;
}

constexpr std::int64_t steps_when_told = 1500;

// The other process.
[[noreturn]] void write(const std::filesystem::path& file, std::int64_t steps, bool killed) {
  {
    RunStore store(file, {.interval = milliseconds(3), .patience = milliseconds(5000), .max_waiting = 1'000'000});
    auto run = store.begin(new_run("elsewhere"));
    for (std::int64_t step = 1; step <= steps; ++step) {
      report(run->sink(), step);
      if (step % 100 == 0)
        std::this_thread::sleep_for(milliseconds(1)); // so that it is seen growing
    }
    if (killed)
      std::raise(SIGKILL);
    run->finish(outcome(telemetry::RunStatus::finished));
  }
  ::_exit(0);
}

// Writes a step, waits until the file `told` is there, writes the other steps and ends without closing anything.
[[noreturn]] void write_when_told(const std::filesystem::path& file, const std::filesystem::path& told) {
  RunStore store(file);
  auto run = store.begin(new_run("elsewhere"));
  report(run->sink(), 1);
  store.flush();
  while (!std::filesystem::exists(told))
    std::this_thread::sleep_for(milliseconds(1));
  for (std::int64_t step = 2; step <= steps_when_told; ++step)
    report(run->sink(), step);
  store.flush();
  std::raise(SIGKILL);
  ::_exit(0);
}

/// Calls a function once, when SQLite has read the first row of the table `run` over any connection opened meanwhile:
/// the snapshot is taken then, and what the row says has not been looked at.
class AfterRowOfRun {
public:
  explicit AfterRowOfRun(std::function<void()> call) {
    call_ = std::move(call);
    ::sqlite3_auto_extension(reinterpret_cast<void (*)()>(&watch));
  }
  ~AfterRowOfRun() {
    ::sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(&watch));
    call_ = nullptr;
  }
  AfterRowOfRun(const AfterRowOfRun&) = delete;
  AfterRowOfRun& operator=(const AfterRowOfRun&) = delete;

  void arm() { armed_ = true; }
  bool armed() const { return armed_; }

private:
  static int watch(sqlite3* database, char**, const sqlite3_api_routines*) {
    return ::sqlite3_trace_v2(database, SQLITE_TRACE_ROW, &row, nullptr);
  }
  static int row(unsigned, void*, void* statement, void*) {
    const char* sql = ::sqlite3_sql(static_cast<sqlite3_stmt*>(statement));
    if (armed_ && std::string_view(sql).starts_with("SELECT run.id")) {
      armed_ = false;
      call_();
    }
    return 0;
  }

  // SQLite hands no context to the function that it calls for a new connection.
  static inline std::function<void()> call_;
  static inline bool armed_ = false;
};

} // namespace

class TestRunFollower : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void a_run_that_is_over_data();
  void a_run_that_is_over();
  void a_run_written_by_another_thread_data();
  void a_run_written_by_another_thread();
  void a_run_of_another_process_data();
  void a_run_of_another_process();
  void a_process_that_ends_while_its_run_is_read();
  void points_move_from_the_tail_into_chunks_between_polls();
  void what_comes_later_is_held_back();
  void steps_that_go_back();
  void series_of_other_programs();
  void each_chunk_of_five_hundred_series_is_read_once_data();
  void each_chunk_of_five_hundred_series_is_read_once();
  void a_run_without_records();
  void what_is_not_there();
  void damage_is_told_and_nothing_lost();
};

void TestRunFollower::a_run_that_is_over_data() {
  QTest::addColumn<int>("steps");
  QTest::addColumn<int>("most");
  for (const int steps : {0, 1, 1023, 1024, 1025, 5000})
    for (const int most : {0, 1, 700, 1024, 100'000})
      if (most > 1 || steps < 1100)
        QTest::addRow("%d steps, %d at once", steps, most) << steps << most;
}

void TestRunFollower::a_run_that_is_over() {
  QFETCH(int, steps);
  QFETCH(int, most);
  const Folder folder;
  RunStore store(folder.file());
  auto run = store.begin(new_run("over"));
  for (std::int64_t step = 1; step <= steps; ++step)
    report(run->sink(), step);
  run->finish(outcome(telemetry::RunStatus::finished));
  RunFollower follower(folder.file(), run->id());
  Seen seen;
  std::size_t polls = 0;
  for (bool more = true; more; ++polls) {
    auto update = follower.poll(static_cast<std::size_t>(most));
    QVERIFY(update.records.size() <= static_cast<std::size_t>(std::max(1, most)));
    more = update.more;
    seen.take(std::move(update));
  }
  QCOMPARE(difference(seen, RunReader(folder.file()), run->id()), std::string());
  QVERIFY(polls <= static_cast<std::size_t>(steps / std::max(1, most)) + 1);
  const auto nothing = follower.poll();
  QVERIFY(nothing.records.empty() && nothing.events.empty() && !nothing.more);
  // Records come back as they went in, whole numbers and all.
  for (std::int64_t step = 1; step <= steps; ++step) {
    const telemetry::StepRecord& record = seen.records[static_cast<std::size_t>(step - 1)];
    const telemetry::StepRecord expected = record_at(step);
    QVERIFY(record.step == step && record.examples_seen == expected.examples_seen && record.batch == expected.batch &&
            record.micro_batches == expected.micro_batches && record.allocated_bytes == expected.allocated_bytes &&
            record.device_bytes == -1 && record.seconds == expected.seconds && record.epoch == expected.epoch);
  }
}

void TestRunFollower::a_run_written_by_another_thread_data() {
  QTest::addColumn<unsigned>("seed");
  for (unsigned seed = 1; seed <= (batchscope::test::sanitized ? 1 : 4); ++seed)
    QTest::addRow("seed %u", seed) << seed;
}

void TestRunFollower::a_run_written_by_another_thread() {
  QFETCH(unsigned, seed);
  const Folder folder;
  RunStore store(folder.file(), {.interval = milliseconds(1), .patience = milliseconds(5000), .max_waiting = 100'000});
  auto run = store.begin(new_run("growing"));
  std::thread loop([&] {
    std::mt19937 random(seed);
    std::int64_t step = 0;
    for (int burst = 0; burst < 60; ++burst) {
      for (unsigned n = random() % 300; n > 0; --n)
        report(run->sink(), ++step);
      if (burst % 3 == 0)
        store.flush();
      else
        std::this_thread::yield();
    }
    run->finish(outcome(telemetry::RunStatus::stopped));
  });
  std::mt19937 random(seed + 100);
  RunFollower follower(folder.file(), run->id());
  Seen seen;
  for (bool over = false; !over;) {
    auto update = follower.poll(1 + random() % (random() % 2 == 0 ? 10 : 3000));
    over = is_over(update);
    seen.take(std::move(update));
  }
  loop.join();
  QCOMPARE(difference(seen, RunReader(folder.file()), run->id()), std::string());
  QCOMPARE(seen.row.outcome.status, telemetry::RunStatus::stopped);
}

void TestRunFollower::a_run_of_another_process_data() {
  QTest::addColumn<bool>("killed");
  QTest::newRow("to its end") << false;
  QTest::newRow("killed") << true;
}

void TestRunFollower::a_run_of_another_process() {
  QFETCH(bool, killed);
  const Folder folder;
  { const RunStore makes_the_file(folder.file()); }
  const SecondProcess child({killed ? "--write-until-killed" : "--write", folder.file().string(), "4000"});
  const RunReader reader(folder.file());
  QTRY_COMPARE_WITH_TIMEOUT(reader.list().size(), std::size_t(1), 60'000);
  RunFollower follower(folder.file(), 1);
  Seen seen;
  std::mt19937 random(7);
  for (bool over = false; !over;) {
    auto update = follower.poll(1 + random() % 500);
    over = is_over(update);
    seen.take(std::move(update));
  }
  QCOMPARE(seen.row.outcome.status, killed ? telemetry::RunStatus::interrupted : telemetry::RunStatus::finished);
  QCOMPARE(difference(seen, reader, 1), std::string());
  QVERIFY(killed || seen.records.size() == 4000);
}

// Its last steps are stored after the snapshot of the poll that finds it ended.
void TestRunFollower::a_process_that_ends_while_its_run_is_read() {
  const Folder folder;
  const auto told = folder.path() / "told";
  { const RunStore makes_the_file(folder.file()); }
  SecondProcess child({"--write-when-told", folder.file().string(), told.string()});
  const RunReader reader(folder.file());
  QTRY_VERIFY_WITH_TIMEOUT(reader.list().size() == 1 && reader.list().front().outcome.steps == 1, 60'000);
  AfterRowOfRun after_row([&] {
    std::ofstream(told) << "now";
    child.wait();
  });
  RunFollower follower(folder.file(), 1);
  Seen seen;
  seen.take(follower.poll());
  QCOMPARE(seen.row.outcome.status, telemetry::RunStatus::running);
  QCOMPARE(seen.records.size(), std::size_t(1));
  after_row.arm();
  for (bool over = false; !over;) {
    auto update = follower.poll();
    over = is_over(update);
    seen.take(std::move(update));
  }
  QVERIFY(!after_row.armed());
  QCOMPARE(seen.row.outcome.status, telemetry::RunStatus::interrupted);
  QCOMPARE(seen.records.size(), static_cast<std::size_t>(steps_when_told));
  QCOMPARE(difference(seen, reader, 1), std::string());
}

void TestRunFollower::points_move_from_the_tail_into_chunks_between_polls() {
  const Folder folder;
  RunStore store(folder.file());
  auto run = store.begin(new_run("moving"));
  RunFollower follower(folder.file(), run->id());
  Seen seen;
  std::int64_t step = 0;
  for (const int n : {3, 1000, 20, 1, 2, 1021, 1, 2500, 1, 0, 5}) {
    for (int i = 0; i < n; ++i)
      report(run->sink(), ++step);
    store.flush();
    auto update = follower.poll(100'000);
    QVERIFY(!update.more);
    QCOMPARE(update.records.size(), static_cast<std::size_t>(n));
    QCOMPARE(update.row.outcome.steps, step);
    seen.take(std::move(update));
  }
  run->finish(outcome(telemetry::RunStatus::finished)); // all that was in the tail is sealed
  seen.take(follower.poll());
  QCOMPARE(difference(seen, RunReader(folder.file()), run->id()), std::string());
}

void TestRunFollower::what_comes_later_is_held_back() {
  const Folder folder;
  RunStore store(folder.file());
  auto run = store.begin(new_run("long"));
  for (std::int64_t step = 1; step <= 3000; ++step)
    report(run->sink(), step);
  run->finish(outcome(telemetry::RunStatus::finished));
  RunFollower follower(folder.file(), run->id());
  Seen seen;
  std::int64_t last_event = 0;
  for (bool more = true; more;) {
    auto update = follower.poll(130);
    more = update.more;
    for (const auto& event : update.events) {
      QVERIFY(!more || event.step <= update.records.back().step);
      QVERIFY(event.step >= last_event); // points of series are among the events in their place
      last_event = event.step;
      // For points of series the time is that of their step.
      QCOMPARE(event.seconds, static_cast<double>(event.step) / 1000);
      if (!telemetry::has_happened(event) && event.step % 500 == 0)
        QCOMPARE(event.values.size(), std::size_t(event.step % 3 == 0 ? 4 : 2));
    }
    seen.take(std::move(update));
  }
  QCOMPARE(seen.records.size(), std::size_t(3000));
  QCOMPARE(difference(seen, RunReader(folder.file()), run->id()), std::string());
}

void TestRunFollower::steps_that_go_back() {
  const Folder folder;
  RunStore store(folder.file());
  auto run = store.begin(new_run("resumed"));
  for (std::int64_t step = 1; step <= 1500; ++step)
    report(run->sink(), step);
  for (std::int64_t step = 1001; step <= 2100; ++step)
    report(run->sink(), step);
  run->finish(outcome(telemetry::RunStatus::finished));
  RunFollower follower(folder.file(), run->id());
  QCOMPARE(difference(all_of(follower, 77), RunReader(folder.file()), run->id()), std::string());
}

void TestRunFollower::each_chunk_of_five_hundred_series_is_read_once_data() {
  QTest::addColumn<int>("every");
  QTest::newRow("values at every step") << 1;
  QTest::newRow("values now and then") << 10; // those of later steps wait for their records
}

void TestRunFollower::each_chunk_of_five_hundred_series_is_read_once() {
  QFETCH(int, every);
  constexpr int series = batchscope::test::sanitized ? 50 : 500;
  const std::int64_t steps = every == 1 ? 1500 : 10'000;
  const Folder folder;
  std::int64_t id = 0;
  {
    RunStore store(folder.file());
    auto run = store.begin(new_run("wide"));
    id = run->id();
    std::vector<std::pair<std::string, double>> values;
    for (int i = 0; i < series; ++i)
      values.emplace_back("metric_" + std::to_string(i), i);
    for (std::int64_t step = 1; step <= steps; ++step) {
      run->sink().record(record_at(step));
      if (step % every == 0)
        run->sink().event(event_of(step, 0, "", "{}", values));
    }
    run->finish(outcome(telemetry::RunStatus::finished));
  }
  const auto stored = [&](const char* table) {
    SQLite::Database database(folder.file().string(), SQLite::OPEN_READONLY);
    return static_cast<std::uint64_t>(database.execAndGet(std::string("SELECT count(*) FROM ") + table).getInt64());
  };
  RunFollower follower(folder.file(), id);
  const Seen seen = all_of(follower, 1024);
  QCOMPARE(seen.records.size(), static_cast<std::size_t>(steps));
  for (int i = 0; i < series; ++i)
    QCOMPARE(seen.series.at("metric_" + std::to_string(i)).size(), static_cast<std::size_t>(steps / every));
  QCOMPARE(follower.chunks_read().steps, stored("step_chunk"));
  QCOMPARE(follower.chunks_read().values, stored("value_chunk"));
}

void TestRunFollower::series_of_other_programs() {
  const Folder folder;
  RunStore store(folder.file());
  auto run = store.begin(new_run("other"));
  for (std::int64_t step = 1; step <= 1030; ++step)
    run->sink().record(record_at(step));
  store.flush();
  SQLite::Database(folder.file().string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE series SET name = name || ' of another' WHERE name IN ('grad_norm', 'device_bytes', 'batch')");
  RunFollower follower(folder.file(), run->id());
  const Seen seen = all_of(follower);
  QCOMPARE(seen.records.size(), std::size_t(1030));
  for (const auto& record : seen.records) {
    const auto expected = record_at(record.step);
    QVERIFY(std::isnan(record.grad_norm) && record.loss == expected.loss);
    QCOMPARE(record.device_bytes, std::int64_t(-1));
    QCOMPARE(record.batch, std::int64_t(0));
    QCOMPARE(record.more.size(), std::size_t(3));
    QCOMPARE(record.more[1].first, std::string("grad_norm of another"));
    QCOMPARE(record.more[1].second, expected.grad_norm);
  }
}

void TestRunFollower::a_run_without_records() {
  const Folder folder;
  RunStore store(folder.file());
  auto run = store.begin(new_run("empty"));
  RunFollower follower(folder.file(), run->id());
  auto update = follower.poll();
  QVERIFY(update.records.empty() && update.events.empty() && !update.more);
  QCOMPARE(update.row.outcome.status, telemetry::RunStatus::running);
  for (std::int64_t step = 1; step <= 30; ++step)
    run->sink().event(event_of(step, 1, "probe", "{}", {{"x", 1.0 / step}}));
  store.flush();
  Seen seen = all_of(follower, 10);
  QCOMPARE(difference(seen, RunReader(folder.file()), run->id()), std::string());
  run->finish(outcome(telemetry::RunStatus::finished));
  RunFollower moved = std::move(follower);
  update = moved.poll();
  QVERIFY(is_over(update) && update.records.empty() && update.events.empty());
}

void TestRunFollower::what_is_not_there() {
  const Folder folder;
  Error::Kind kind = Error::Kind::failed;
  QVERIFY(!error_of([&] { RunFollower(folder.file(), 1); }, &kind).empty());
  QCOMPARE(kind, Error::Kind::input);
  RunStore store(folder.file());
  const std::int64_t id = store.add_finished(new_run("one"), outcome(telemetry::RunStatus::finished));
  const std::string missing = folder.file().string() + ": there is no run ";
  kind = Error::Kind::failed;
  QCOMPARE(error_of([&] { RunFollower(folder.file(), 7); }, &kind), missing + "7");
  QCOMPARE(kind, Error::Kind::input);
  RunFollower follower(folder.file(), id);
  store.set_deleted({id}, true);
  kind = Error::Kind::failed;
  QCOMPARE(error_of([&] { follower.poll(); }, &kind), missing + "1");
  QCOMPARE(kind, Error::Kind::input);
  QCOMPARE(error_of([&] { RunFollower(folder.file(), id); }), missing + "1");
  store.set_deleted({id}, false);
  QCOMPARE(follower.poll().row.name, std::string("one"));
}

void TestRunFollower::damage_is_told_and_nothing_lost() {
  const Folder folder;
  RunStore store(folder.file());
  auto run = store.begin(new_run("damaged"));
  for (std::int64_t step = 1; step <= 3000; ++step)
    report(run->sink(), step);
  run->finish(outcome(telemetry::RunStatus::finished));
  RunFollower follower(folder.file(), run->id());
  Seen seen;
  seen.take(follower.poll(1000));
  SQLite::Database database(folder.file().string(), SQLite::OPEN_READWRITE);
  const auto problem = [&](const char* damage, const char* repair) {
    database.exec(damage);
    Error::Kind kind = Error::Kind::input;
    const std::string error = error_of([&] { follower.poll(); }, &kind);
    database.exec(repair);
    return kind == Error::Kind::failed ? error : "not a failure: " + error;
  };
  const std::string start = folder.file().string() + ": run 1: series ";
  const std::string end = "; `batchscope-cli check` shows more";
  QCOMPARE(problem("UPDATE value_chunk SET crc = crc + 1 WHERE series = 11 AND first = 1024",
                   "UPDATE value_chunk SET crc = crc - 1 WHERE series = 11 AND first = 1024"),
           start + "examples_seen: points 1024 to 2047 of learning_rate have damaged values" + end);
  QCOMPARE(problem("UPDATE step_chunk SET last_step = 5 WHERE frame = 1 AND first = 2048",
                   "UPDATE step_chunk SET last_step = 3000 WHERE frame = 1 AND first = 2048"),
           start + "examples_seen: points 2048 to 2999 have damaged steps" + end);
  QCOMPARE(problem("UPDATE step_chunk SET frame = 2 WHERE frame = 1 AND first = 1024",
                   "UPDATE step_chunk SET frame = 1 WHERE frame = 2 AND first = 1024"),
           start + "examples_seen: points 1024 to 2047 are missing" + end);
  QCOMPARE(
      problem("UPDATE series SET n = n + 5 WHERE id = 1; UPDATE step_chunk SET first = first - 9000 WHERE frame = 1",
              "UPDATE series SET n = n - 5 WHERE id = 1; UPDATE step_chunk SET first = first + 9000 WHERE frame = 1"),
      start + "examples_seen: points 1000 to 3004 are missing" + end);
  for (bool more = true; more;) {
    auto update = follower.poll(1500);
    more = update.more;
    seen.take(std::move(update));
  }
  QCOMPARE(difference(seen, RunReader(folder.file()), run->id()), std::string());
}

static int write_for_followers(int count, char** arguments) {
  const std::string first = count == 4 ? arguments[1] : "";
  if (first == "--write" || first == "--write-until-killed")
    write(arguments[2], std::atoll(arguments[3]), first != "--write");
  if (first == "--write-when-told")
    write_when_told(arguments[2], arguments[3]);
  return -1;
}

BATCHSCOPE_TEST(TestRunFollower, write_for_followers)
#include "tst_run_follower.moc"
