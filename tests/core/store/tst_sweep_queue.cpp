#include "core/store/run_reader.h"
#include "core/store/sweep_queue.h"

#include <QCoreApplication>
#include <QTest>

#include <csignal>
#include <thread>

#include "second_process.h"
#include "store_test.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::store;
using namespace batchscope::store::test;
using telemetry::RunStatus;

namespace {

constexpr const char* claim_and_die = "--claim-and-die";

std::optional<std::uint64_t> any(const WaitingRun& /*run*/, const SweepQueue::Load& /*load*/) {
  return 0;
}

/// Specs that are texts of their own: what is in them does not matter to the queue.
std::vector<WaitingRun> runs_named(std::initializer_list<const char*> names) {
  std::vector<WaitingRun> runs;
  for (const char* name : names)
    runs.push_back({.id = 0, .name = name, .spec_json = std::string(R"({"model":")") + name + "\"}"});
  return runs;
}

/// A run that was claimed begins and ends.
void make(RunStore& store, std::int64_t sweep, const WaitingRun& waiting, RunStatus status,
          const std::string& reason = {}) {
  NewRun run;
  run.name = waiting.name;
  run.spec_json = waiting.spec_json;
  run.sweep = sweep;
  run.claimed = waiting.id;
  auto writer = store.begin(run);
  QCOMPARE(writer->id(), waiting.id);
  writer->sink().record(record_at(1));
  auto end = outcome(status);
  end.reason = reason;
  writer->finish(end);
}

std::string statuses(const Folder& folder) {
  std::string text;
  for (const RunRow& row : RunReader(folder.file()).list())
    text += (text.empty() ? "" : " ") + row.name + ':' + telemetry::to_string(row.outcome.status);
  return text;
}

/// The names in the order in which they would be taken.
std::string order(SweepQueue& queue) {
  std::string names;
  queue.claim([&](const WaitingRun& run, const SweepQueue::Load& /*load*/) -> std::optional<std::uint64_t> {
    names += run.name;
    return std::nullopt;
  });
  return names;
}

} // namespace

class TestSweepQueue : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void runs_are_taken_in_order_once();
  void the_same_run_is_not_added_twice();
  void runs_are_known_by_their_settings();
  void what_dies_comes_back();
  void a_run_that_always_dies_is_given_up();
  void a_claim_returns_with_its_store();
  void the_order_can_be_changed();
  void sweeps_are_listed_without_runs_too();
  void skipped_runs_are_not_made();
  void memory_is_shared();
  void what_trains_beside_others_says_so();
  void withdrawn_runs_leave_nothing();
  void many_take_each_once();
};

void TestSweepQueue::runs_are_taken_in_order_once() {
  const Folder folder;
  RunStore store(folder.file());
  const std::int64_t sweep = store.add_sweep("{}");
  SweepQueue queue(store, sweep);
  QCOMPARE(queue.add(runs_named({"a", "b"})), std::int64_t{2});
  QCOMPARE(statuses(folder), std::string("a:queued b:queued"));
  const auto first = queue.claim(any);
  QCOMPARE(first.run->name, std::string("a"));
  QCOMPARE(first.run->spec_json, std::string(R"({"model":"a"})"));
  QCOMPARE(first.waiting, std::int64_t{1});
  QCOMPARE(first.open, std::int64_t{0});
  make(store, sweep, *first.run, RunStatus::finished);
  const auto second = queue.claim(any);
  QCOMPARE(second.run->name, std::string("b"));
  make(store, sweep, *second.run, RunStatus::failed);
  const auto third = queue.claim(any);
  QVERIFY(!third.run && third.waiting == 0 && third.open == 0);
  QCOMPARE(statuses(folder), std::string("a:finished b:failed"));
  QCOMPARE(queue.begun().size(), std::size_t{2});
  QCOMPARE(RunReader(folder.file()).check(), std::vector<std::string>{});
}

void TestSweepQueue::the_same_run_is_not_added_twice() {
  const Folder folder;
  RunStore store(folder.file());
  const std::int64_t sweep = store.add_sweep("{}");
  SweepQueue queue(store, sweep);
  queue.add(runs_named({"a", "b", "c", "d"}));
  QCOMPARE(queue.add(runs_named({"a", "e"})), std::int64_t{1});
  make(store, sweep, *queue.claim(any).run, RunStatus::finished);
  make(store, sweep, *queue.claim(any).run, RunStatus::failed);
  make(store, sweep, *queue.claim(any).run, RunStatus::stopped);
  make(store, sweep, *queue.claim(any).run, RunStatus::stopped, "ended early");
  QCOMPARE(queue.add(runs_named({"a", "b", "c", "d", "e"})), std::int64_t{1}); // c was stopped by the user
  QCOMPARE(queue.claim(any).run->name, std::string("e"));
  QCOMPARE(queue.claim(any).run->name, std::string("c"));
}

void TestSweepQueue::runs_are_known_by_their_settings() {
  const Folder folder;
  RunStore store(folder.file());
  const std::int64_t sweep = store.add_sweep("{}");
  SweepQueue queue(store, sweep);
  queue.add(runs_named({"a", "b", "foreign"})); // as an earlier version, which had no keys
  make(store, sweep, *queue.claim(any).run, RunStatus::finished);
  queue.add_missing_keys([](const std::string& spec) {
    return spec.find("foreign") == std::string::npos ? std::optional("key of " + spec.substr(10, 1)) : std::nullopt;
  });
  // Their specs have a field that is new.
  const auto again = [](const char* name) {
    return WaitingRun{.name = name,
                      .spec_json = std::string(R"({"model":")") + name + R"(","new":1})",
                      .settings_key = std::string("key of ") + name};
  };
  QCOMPARE(queue.add({again("a"), again("b"), again("c")}), std::int64_t{1});
  QCOMPARE(queue.add(runs_named({"foreign"})), std::int64_t{0});
  QCOMPARE(queue.claim(any).run->settings_key, std::string("key of b"));
  QCOMPARE(queue.claim(any).run->settings_key, std::string());
  QCOMPARE(queue.claim(any).run->settings_key, std::string("key of c"));
  const auto begun = queue.begun();
  QCOMPARE(begun.size(), std::size_t{1});
  QCOMPARE(begun[0].second, std::string("key of a"));
  const RunReader reader(folder.file());
  QCOMPARE(reader.settings_key(1), std::string("key of a"));
  QCOMPARE(reader.settings_key(3), std::string());
  QCOMPARE(reader.check(), std::vector<std::string>{});
}

void TestSweepQueue::what_dies_comes_back() {
  const Folder folder;
  RunStore store(folder.file());
  const std::int64_t sweep = store.add_sweep("{}");
  SweepQueue queue(store, sweep);
  queue.add(runs_named({"a", "b"}));
  QCOMPARE(SecondProcess({claim_and_die, folder.file().string(), "1"}).wait(), 128 + SIGKILL);
  QCOMPARE(statuses(folder), std::string("a:interrupted b:queued"));
  const auto again = queue.claim(any);
  QCOMPARE(again.run->name, std::string("a")); // at its place
  QCOMPARE(again.run->id, std::int64_t{3});
  make(store, sweep, *again.run, RunStatus::finished);
  make(store, sweep, *queue.claim(any).run, RunStatus::finished);
  QVERIFY(!queue.claim(any).run);
  QCOMPARE(statuses(folder), std::string("a:interrupted b:finished a:finished"));
}

void TestSweepQueue::a_run_that_always_dies_is_given_up() {
  const Folder folder;
  RunStore store(folder.file());
  SweepQueue queue(store, store.add_sweep("{}"));
  queue.add(runs_named({"a"}));
  for (std::int64_t i = 0; i < SweepQueue::max_attempts; ++i)
    QCOMPARE(SecondProcess({claim_and_die, folder.file().string(), "1"}).wait(), 128 + SIGKILL);
  const auto claim = queue.claim(any);
  QVERIFY(!claim.run && claim.waiting == 0 && claim.open == 0);
  QCOMPARE(RunReader(folder.file()).list("status = interrupted").size(), std::size_t(SweepQueue::max_attempts));
  QCOMPARE(queue.add(runs_named({"a"})), std::int64_t{1}); // asked for anew
  QVERIFY(queue.claim(any).run);
}

void TestSweepQueue::a_claim_returns_with_its_store() {
  const Folder folder;
  RunStore store(folder.file());
  const std::int64_t sweep = store.add_sweep("{}");
  SweepQueue queue(store, sweep);
  queue.add(runs_named({"a"}));
  {
    RunStore other(folder.file());
    QVERIFY(SweepQueue(other, sweep).claim(any).run);
    const auto nothing = queue.claim(any);
    QVERIFY(!nothing.run && nothing.open == 1);
  }
  const auto claim = queue.claim(any);
  QVERIFY(claim.run);
  queue.release(claim.run->id);
  QCOMPARE(queue.claim(any).run->id, claim.run->id);
}

void TestSweepQueue::the_order_can_be_changed() {
  const Folder folder;
  RunStore store(folder.file());
  SweepQueue queue(store, store.add_sweep("{}"));
  queue.add(runs_named({"a", "b", "c", "d"}));
  QCOMPARE(order(queue), std::string("abcd"));
  queue.move(3, 1);
  QCOMPARE(order(queue), std::string("cabd"));
  queue.move(1, {});
  QCOMPARE(order(queue), std::string("cbda"));
  queue.move(4, 4);
  queue.move(99, 1);
  QCOMPARE(order(queue), std::string("cbda"));
  queue.add(runs_named({"e"}));
  QCOMPARE(order(queue), std::string("cbdae"));
  QCOMPARE(RunReader(folder.file()).waiting_runs(1), (std::vector<std::int64_t>{3, 2, 4, 1, 5}));
  queue.claim(any);
  queue.move(3, 1); // no longer waits
  QCOMPARE(order(queue), std::string("bdae"));
  QCOMPARE(RunReader(folder.file()).waiting_runs(1), (std::vector<std::int64_t>{2, 4, 1, 5}));
  QVERIFY(RunReader(folder.file()).waiting_runs(2).empty());
}

void TestSweepQueue::sweeps_are_listed_without_runs_too() {
  const Folder folder;
  RunStore store(folder.file());
  QVERIFY(RunReader(folder.file()).sweeps().empty());
  store.add_sweep(R"({"repeats":2})");
  SweepQueue(store, store.add_sweep("{}")).add(runs_named({"a"}));
  const auto sweeps = RunReader(folder.file()).sweeps();
  QCOMPARE(sweeps.size(), std::size_t{2});
  QCOMPARE(sweeps.front().id, std::int64_t{1});
  QCOMPARE(sweeps.front().spec_json, std::string(R"({"repeats":2})"));
  QCOMPARE(sweeps.back().id, std::int64_t{2});
  QVERIFY(!sweeps.back().created.empty());
}

void TestSweepQueue::skipped_runs_are_not_made() {
  const Folder folder;
  RunStore store(folder.file());
  SweepQueue queue(store, store.add_sweep("{}"));
  queue.add(runs_named({"a", "b", "c"}));
  queue.claim(any);
  QCOMPARE(queue.skip({1, 2, 99}, "skipped"), std::int64_t{1}); // 1 is in somebody's hands
  QCOMPARE(order(queue), std::string("c"));
  QCOMPARE(RunReader(folder.file()).run(2).outcome.reason, std::string("skipped"));
  QCOMPARE(queue.add(runs_named({"a", "b", "c"})), std::int64_t{0});
}

void TestSweepQueue::memory_is_shared() {
  const Folder folder;
  RunStore store(folder.file());
  SweepQueue queue(store, store.add_sweep("{}"));
  queue.add(runs_named({"large", "middle", "small", "small too"}));
  const auto fits = [](const WaitingRun& run, const SweepQueue::Load& load) -> std::optional<std::uint64_t> {
    const std::uint64_t bytes = run.name == "large" ? 80 : run.name == "middle" ? 50 : 20;
    return load.reserved_bytes + bytes <= 100 ? std::optional(bytes) : std::nullopt;
  };
  const auto large = queue.claim(fits);
  QCOMPARE(large.run->name, std::string("large"));
  QCOMPARE(queue.claim(fits).run->name, std::string("small")); // the middle one does not fit beside it
  const auto none = queue.claim(fits);
  QVERIFY(!none.run && none.waiting == 2 && none.open == 2);
  queue.release(large.run->id);
  queue.skip({large.run->id}, "skipped");
  QCOMPARE(queue.claim(fits).run->name, std::string("middle"));
  QCOMPARE(queue.claim(fits).run->name, std::string("small too"));
}

void TestSweepQueue::what_trains_beside_others_says_so() {
  const Folder folder;
  RunStore store(folder.file());
  const std::int64_t sweep = store.add_sweep("{}");
  SweepQueue queue(store, sweep);
  queue.add(runs_named({"alone", "one", "two", "alone again"}));
  make(store, sweep, *queue.claim(any).run, RunStatus::finished);
  const auto one = queue.claim(any);
  const auto two = queue.claim(any);
  make(store, sweep, *two.run, RunStatus::finished);
  make(store, sweep, *one.run, RunStatus::finished);
  make(store, sweep, *queue.claim(any).run, RunStatus::finished);
  std::string workers;
  for (const RunRow& row : RunReader(folder.file()).list())
    workers += std::to_string(row.workers);
  QCOMPARE(workers, std::string("1221"));
  QCOMPARE(RunReader(folder.file()).list("workers > 1").size(), std::size_t{2});
}

void TestSweepQueue::withdrawn_runs_leave_nothing() {
  const Folder folder;
  RunStore store(folder.file());
  const std::int64_t sweep = store.add_sweep("{}");
  SweepQueue queue(store, sweep);
  queue.add(runs_named({"a", "b", "c"}));
  const auto claim = queue.claim(any);
  queue.withdraw(); // the claimed one may be another program's
  QCOMPARE(order(queue), std::string("bc"));
  make(store, sweep, *claim.run, RunStatus::stopped);
  queue.withdraw();
  QCOMPARE(statuses(folder), std::string("a:stopped"));
  QCOMPARE(RunReader(folder.file()).check(), std::vector<std::string>{});
}

void TestSweepQueue::many_take_each_once() {
  constexpr int runs = 60;
  const Folder folder;
  RunStore first(folder.file());
  const std::int64_t sweep = first.add_sweep("{}");
  std::vector<WaitingRun> waiting;
  for (int i = 0; i < runs; ++i)
    waiting.push_back({.id = 0, .name = std::to_string(i), .spec_json = "{\"seed\":" + std::to_string(i) + "}"});
  SweepQueue(first, sweep).add(waiting);
  std::vector<std::thread> threads;
  for (int worker = 0; worker < 4; ++worker)
    threads.emplace_back([&] {
      RunStore store(folder.file(), {.interval = std::chrono::milliseconds(2)});
      SweepQueue queue(store, sweep);
      for (auto claim = queue.claim(any); claim.run; claim = queue.claim(any))
        make(store, sweep, *claim.run, RunStatus::finished);
    });
  for (std::thread& thread : threads)
    thread.join();
  const auto rows = RunReader(folder.file()).list("status = finished");
  QCOMPARE(rows.size(), std::size_t{runs});
  std::set<std::string> names;
  for (const RunRow& row : rows)
    names.insert(row.name);
  QCOMPARE(names.size(), std::size_t{runs});
}

static int claim_a_run_and_die(int count, char** arguments) {
  if (count != 4 || std::string(arguments[1]) != claim_and_die)
    return -1;
  RunStore store(arguments[2]);
  const auto claim = SweepQueue(store, std::atoll(arguments[3])).claim(any);
  NewRun run;
  run.name = claim.run->name;
  run.spec_json = claim.run->spec_json;
  run.claimed = claim.run->id;
  const auto writer = store.begin(run);
  std::raise(SIGKILL);
  return 0;
}

BATCHSCOPE_TEST(TestSweepQueue, claim_a_run_and_die)
#include "tst_sweep_queue.moc"
