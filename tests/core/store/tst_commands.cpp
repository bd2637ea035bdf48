#include <QTest>

#include <algorithm>
#include <array>
#include <mutex>
#include <random>
#include <thread>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/run_reader.h"
#include "store_test.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::store;
using namespace batchscope::store::test;
using std::chrono::milliseconds;

namespace {

const StoreOptions quick{.interval = milliseconds(2), .patience = milliseconds(5000), .max_waiting = 1000};

// Between the two no command can be taken.
constexpr const char* no_taking =
    "CREATE TRIGGER no_taking BEFORE UPDATE OF taken ON command BEGIN SELECT RAISE(ABORT, 'refused'); END";
constexpr const char* taking_again = "DROP TRIGGER no_taking";

/// Commands that a run received, from the writer thread to the test's.
class Received {
public:
  NewRun run(const std::string& name) {
    NewRun run = new_run(name);
    run.on_command = [this](const Command& command) {
      const std::lock_guard lock(mutex_);
      commands_.push_back(command.verb + command.detail_json);
    };
    return run;
  }
  std::vector<std::string> commands() const {
    const std::lock_guard lock(mutex_);
    return commands_;
  }

private:
  mutable std::mutex mutex_;
  std::vector<std::string> commands_;
};

using Texts = std::vector<std::string>;

} // namespace

/// What one process asks of the run of another.
class TestCommands : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void each_arrives_once_and_in_order();
  void arrive_by_way_of_the_same_store();
  void several_senders_and_runs_at_once();
  void a_run_without_a_receiver_leaves_them();
  void none_arrive_once_a_run_has_ended();
  void a_database_that_refuses_delays_but_loses_none();
  void refused();
};

void TestCommands::each_arrives_once_and_in_order() {
  const Folder folder;
  RunStore store(folder.file(), quick);
  Received told;
  auto run = store.begin(told.run("steered"));
  RunStore other(folder.file());
  const RunReader reader(folder.file());
  Texts sent;
  std::int64_t last = 0;
  const char* verbs[] = {"pause", "step", "edit", "continue"};
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    const Command command{.verb = verbs[random() % 4], .detail_json = "{\"batch\":" + std::to_string(i) + "}"};
    sent.push_back(command.verb + command.detail_json);
    const std::int64_t number = other.send(run->id(), command);
    QVERIFY(number > last);
    last = number;
    if (random() % 8 == 0)
      QTRY_VERIFY(reader.taken(number));
  }
  QTRY_COMPARE(told.commands().size(), sent.size());
  store.flush();
  store.flush(); // the writer looks after each
  QVERIFY(told.commands() == sent);
  QVERIFY(reader.taken(last));
  run->finish(outcome(telemetry::RunStatus::finished));
  QCOMPARE(reader.check(), Texts{});
}

void TestCommands::arrive_by_way_of_the_same_store() {
  const Folder folder;
  RunStore store(folder.file(), quick);
  Received told;
  auto run = store.begin(told.run("own"));
  store.send(run->id(), {.verb = "stop"});
  QTRY_COMPARE(told.commands(), Texts{"stop{}"});
}

void TestCommands::several_senders_and_runs_at_once() {
  const Folder folder;
  RunStore store(folder.file(), quick);
  constexpr std::size_t runs = 3;
  constexpr std::size_t per_sender = 40;
  std::array<Received, runs> told;
  std::vector<std::unique_ptr<RunWriter>> writers;
  for (Received& each : told)
    writers.push_back(store.begin(each.run("one of several")));
  std::vector<std::thread> threads;
  for (int sender = 0; sender < 2; ++sender)
    threads.emplace_back([&, sender] {
      RunStore other(folder.file());
      for (std::size_t i = 0; i < per_sender; ++i)
        for (const auto& writer : writers)
          other.send(writer->id(), {.verb = "step", .detail_json = "{\"n\":" + std::to_string(sender) + "}"});
    });
  std::thread loop([&] {
    for (std::int64_t step = 1; step <= 5000; ++step)
      writers[0]->sink().record(record_at(step));
  });
  for (auto& thread : threads)
    thread.join();
  loop.join();
  for (Received& each : told) {
    QTRY_COMPARE(each.commands().size(), 2 * per_sender);
    for (const char* text : {"step{\"n\":0}", "step{\"n\":1}"}) {
      const auto commands = each.commands();
      QCOMPARE(static_cast<std::size_t>(std::count(commands.begin(), commands.end(), text)), per_sender);
    }
  }
  for (auto& writer : writers)
    writer->finish(outcome(telemetry::RunStatus::finished));
  QCOMPARE(RunReader(folder.file()).series(writers[0]->id(), "loss").size(), std::size_t{5000});
}

void TestCommands::a_run_without_a_receiver_leaves_them() {
  const Folder folder;
  RunStore store(folder.file(), quick);
  auto run = store.begin(new_run("deaf"));
  const std::int64_t number = store.send(run->id(), {.verb = "pause"});
  for (int i = 0; i < 3; ++i)
    store.flush();
  QVERIFY(!RunReader(folder.file()).taken(number));
}

void TestCommands::none_arrive_once_a_run_has_ended() {
  const Folder folder;
  RunStore store(folder.file(), {.interval = std::chrono::hours(1), .patience = milliseconds(50), .max_waiting = 1000});
  SQLite::Database other(folder.file().string(), SQLite::OPEN_READWRITE, 5000);
  Received told;
  auto run = store.begin(told.run("ends"));
  other.exec(no_taking);
  const std::int64_t number = store.send(run->id(), {.verb = "pause"});
  run->finish(outcome(telemetry::RunStatus::finished));
  // Nor where the disk refused the end of the run, which waits in memory then.
  auto unlucky = store.begin(told.run("unlucky"));
  store.send(unlucky->id(), {.verb = "pause"});
  other.exec("BEGIN IMMEDIATE");
  QVERIFY(!error_of([&] { unlucky->finish(outcome(telemetry::RunStatus::finished)); }).empty());
  other.exec("ROLLBACK");
  other.exec(taking_again);
  store.flush();
  store.flush();
  QCOMPARE(told.commands(), Texts{});
  QVERIFY(!RunReader(folder.file()).taken(number));
}

void TestCommands::a_database_that_refuses_delays_but_loses_none() {
  const Folder folder;
  RunStore store(folder.file(), {.interval = std::chrono::hours(1), .patience = milliseconds(50), .max_waiting = 1000});
  SQLite::Database other(folder.file().string(), SQLite::OPEN_READWRITE, 5000);
  Received told;
  auto run = store.begin(told.run("refused"));
  other.exec(no_taking);
  const std::int64_t number = store.send(run->id(), {.verb = "pause"});
  store.flush();
  store.flush();
  QCOMPARE(told.commands(), Texts{});
  QVERIFY(!RunReader(folder.file()).taken(number));
  other.exec(taking_again);
  store.flush();
  store.flush();
  QCOMPARE(told.commands(), Texts{"pause{}"});
  QVERIFY(RunReader(folder.file()).taken(number));
}

void TestCommands::refused() {
  const Folder folder;
  RunStore store(folder.file(), quick);
  auto run = store.begin(new_run("one"));
  const auto refusal = [&](std::int64_t id, const Command& command) {
    Error::Kind kind = Error::Kind::failed;
    const std::string error = error_of([&] { store.send(id, command); }, &kind);
    return kind == Error::Kind::input ? error : "not an input error: " + error;
  };
  QCOMPARE(refusal(run->id(), {.verb = "halt"}),
           std::string("unknown command \"halt\"; accepted: pause, continue, step, stop, "
                       "stop-job, edit, budget, shares"));
  QCOMPARE(refusal(run->id(), {.verb = "edit", .detail_json = "[]"}),
           std::string("the details of a command must be a JSON object"));
  QVERIFY(!refusal(run->id(), {.verb = "edit", .detail_json = "{"}).empty());
  QCOMPARE(refusal(9, {.verb = "pause"}), std::string("there is no run 9"));
  run->finish(outcome(telemetry::RunStatus::stopped));
  QCOMPARE(refusal(run->id(), {.verb = "pause"}), std::string("run 1 is stopped; only running runs can be steered"));
  store.set_deleted({run->id()}, true);
  QCOMPARE(refusal(run->id(), {.verb = "pause"}), std::string("there is no run 1"));
  auto lost = store.begin(new_run("lost"));
  SQLite::Database(folder.file().string(), SQLite::OPEN_READWRITE).exec("UPDATE process SET started = started + 1");
  QCOMPARE(refusal(lost->id(), {.verb = "pause"}),
           std::string("run 2 is interrupted; only running runs can be steered"));
  Error::Kind kind{};
  QCOMPARE(error_of([&] { RunReader(folder.file()).taken(5); }, &kind),
           folder.file().string() + ": there is no command 5");
  QCOMPARE(kind, Error::Kind::input);
}

BATCHSCOPE_TEST(TestCommands)
#include "tst_commands.moc"
