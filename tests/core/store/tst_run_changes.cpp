#include <QTest>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/exchange/export.h"
#include "core/store/run_reader.h"
#include "store_test.h"
#include "test_events.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::store;
using namespace batchscope::store::test;

namespace {

std::int64_t add(RunStore& store, const std::string& name,
                 telemetry::RunStatus status = telemetry::RunStatus::finished) {
  auto run = store.begin(new_run(name));
  for (std::int64_t step = 1; step <= 1500; ++step)
    run->sink().record(record_at(step));
  run->sink().event(event_of(1, 0, "note", "{}", {{"extra", 1.0}}));
  run->finish(outcome(status));
  return run->id();
}

std::vector<std::int64_t> ids(const std::vector<RunRow>& rows) {
  std::vector<std::int64_t> ids;
  for (const RunRow& row : rows)
    ids.push_back(row.id);
  return ids;
}

using Ids = std::vector<std::int64_t>;

} // namespace

/// Names, notes and deletion of runs that are stored.
class TestRunChanges : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void names_and_notes();
  void names_and_notes_of_a_run_that_is_written();
  void tags();
  void deleted_runs_are_not_there();
  void deletion_is_all_or_nothing();
  void runs_that_go_on_are_not_deleted();
  void a_queued_run_waits_for_any_process();
  void purging_removes_everything_for_good();
  void purging_goes_in_parts();
};

void TestRunChanges::names_and_notes() {
  const Folder folder;
  RunStore store(folder.file());
  const std::int64_t one = add(store, "one");
  const std::int64_t two = add(store, "two");
  const RunReader reader(folder.file());
  QCOMPARE(reader.run(one).note, std::string());
  const std::string note = "it's \"good\"\n\xc3\xa4 " + std::string(100'000, 'x');
  store.rename(one, "first; DROP TABLE run");
  store.set_note(one, note);
  QCOMPARE(reader.run(one).name, std::string("first; DROP TABLE run"));
  QVERIFY(reader.run(one).note == note);
  QCOMPARE(reader.run(two).name, std::string("two"));
  QCOMPARE(reader.run(two).note, std::string());
  store.set_note(one, "keep");
  QCOMPARE(ids(reader.list("note = keep")), Ids{one});
  QCOMPARE(ids(reader.list("note != keep")), Ids{two});
  store.set_note(one, "");
  QCOMPARE(reader.run(one).note, std::string());
  Error::Kind kind{};
  QCOMPARE(error_of([&] { store.rename(9, "nine"); }, &kind), std::string("there is no run 9"));
  QCOMPARE(kind, Error::Kind::input);
  QCOMPARE(error_of([&] { store.set_note(9, "nine"); }), std::string("there is no run 9"));
}

void TestRunChanges::names_and_notes_of_a_run_that_is_written() {
  const Folder folder;
  RunStore writing(folder.file());
  RunStore other(folder.file());
  auto run = writing.begin(new_run("before"));
  run->sink().record(record_at(1));
  other.rename(run->id(), "after");
  other.set_note(run->id(), "while it runs");
  run->sink().record(record_at(2));
  run->finish(outcome(telemetry::RunStatus::finished));
  const RunRow row = RunReader(folder.file()).run(run->id());
  QCOMPARE(row.name, std::string("after"));
  QCOMPARE(row.note, std::string("while it runs"));
  QCOMPARE(row.outcome.status, telemetry::RunStatus::finished);
}

void TestRunChanges::tags() {
  const Folder folder;
  RunStore store(folder.file());
  for (const char* name : {"one", "two", "three"})
    store.add_finished(new_run(name), outcome(telemetry::RunStatus::finished));
  const RunReader reader(folder.file());
  using Tags = std::vector<std::string>;
  QCOMPARE(reader.run(1).tags, Tags{});
  store.add_tags({1, 2}, {"to publish", "best"});
  store.add_tags({1}, {"best", "it's \"\xc3\xa4\""});
  QCOMPARE(reader.run(1).tags, (Tags{"best", "it's \"\xc3\xa4\"", "to publish"}));
  QCOMPARE(reader.run(2).tags, (Tags{"best", "to publish"}));
  QCOMPARE(ids(reader.list("tag = best")), (Ids{1, 2}));
  QCOMPARE(ids(reader.list("tag != best")), Ids{3});
  store.remove_tags({1, 3}, {"best", "none"});
  QCOMPARE(ids(reader.list("tag = best")), Ids{2});
  // All or none.
  Error::Kind kind{};
  QCOMPARE(error_of([&] { store.add_tags({3, 9}, {"new"}); }, &kind), std::string("there is no run 9"));
  QCOMPARE(kind, Error::Kind::input);
  for (const char* tag : {"", " ", "12", "two\nlines", " edge"})
    QCOMPARE(error_of(
                 [&] {
                   store.add_tags({3}, {"new", tag});
                 },
                 &kind),
             '"' + std::string(tag) + "\" cannot be a tag; accepted: a text in one line that is not a whole number");
  QCOMPARE(reader.run(3).tags, Tags{});
  QCOMPARE(reader.check(), std::vector<std::string>{});
}

void TestRunChanges::deleted_runs_are_not_there() {
  const Folder folder;
  RunStore store(folder.file());
  const std::int64_t sweep = store.add_sweep("{}");
  NewRun part = new_run("part");
  part.sweep = sweep;
  const std::int64_t kept = store.add_finished(part, outcome(telemetry::RunStatus::finished));
  const std::int64_t gone = store.add_finished(part, outcome(telemetry::RunStatus::failed));
  const RunReader reader(folder.file());
  store.set_deleted({gone}, true);
  QCOMPARE(ids(reader.list()), Ids{kept});
  QCOMPARE(ids(reader.list("status = failed")), Ids{});
  QCOMPARE(ids(reader.deleted()), Ids{gone});
  QCOMPARE(reader.deleted()[0].outcome.status, telemetry::RunStatus::failed);
  QCOMPARE(reader.runs_of_sweep(sweep), Ids{kept});
  const std::string missing = folder.file().string() + ": there is no run 2";
  Error::Kind kind{};
  QCOMPARE(error_of([&] { reader.run(gone); }, &kind), missing);
  QCOMPARE(kind, Error::Kind::input);
  for (const auto& read : {&RunReader::spec_json, &RunReader::start_json})
    QCOMPARE(error_of([&] { (reader.*read)(gone); }), missing);
  QCOMPARE(error_of([&] { reader.events(gone); }), missing);
  QCOMPARE(error_of([&] { reader.series(gone, "loss"); }), missing);
  QCOMPARE(error_of([&] { reader.summaries(gone); }), missing);
  QCOMPARE(error_of([&] { exchange::export_to_file(reader, {gone}, "csv", folder.file("x.csv"), false); }), missing);
  QVERIFY(!std::filesystem::exists(folder.file("x.csv")));
  QCOMPARE(error_of([&] { store.rename(gone, "x"); }), std::string("there is no run 2"));
  QCOMPARE(reader.check(), std::vector<std::string>{});

  store.set_deleted({gone}, false);
  QCOMPARE(ids(reader.list()), (Ids{kept, gone}));
  QCOMPARE(reader.run(gone).name, std::string("part"));
  QCOMPARE(ids(reader.deleted()), Ids{});
  QCOMPARE(store.purge_deleted(), std::int64_t{0});
}

void TestRunChanges::deletion_is_all_or_nothing() {
  const Folder folder;
  RunStore store(folder.file());
  const std::int64_t one = add(store, "one");
  const std::int64_t two = add(store, "two");
  QCOMPARE(error_of([&] { store.set_deleted({one, 77, two}, true); }), std::string("there is no run 77"));
  const RunReader reader(folder.file());
  QCOMPARE(ids(reader.list()), (Ids{one, two}));
  store.set_deleted({one, two, one}, true);
  store.set_deleted({two}, true);
  QCOMPARE(ids(reader.deleted()), (Ids{one, two}));
  store.set_deleted({}, true);
  QCOMPARE(error_of([&] { store.set_deleted({one, 77}, false); }), std::string("there is no run 77"));
  QCOMPARE(ids(reader.deleted()), (Ids{one, two}));
}

/// It belongs to nobody yet, so that nobody marks it as interrupted, and it can be deleted.
void TestRunChanges::a_queued_run_waits_for_any_process() {
  const Folder folder;
  std::int64_t id = 0;
  {
    RunStore store(folder.file());
    id = store.add_finished(new_run("waits"), outcome(telemetry::RunStatus::queued));
  }
  RunStore store(folder.file());
  const RunReader reader(folder.file());
  QCOMPARE(reader.run(id).outcome.status, telemetry::RunStatus::queued);
  store.set_deleted({id}, true);
  QCOMPARE(ids(reader.list()), Ids{});
}

void TestRunChanges::runs_that_go_on_are_not_deleted() {
  const Folder folder;
  RunStore store(folder.file());
  const std::int64_t over = add(store, "over");
  auto run = store.begin(new_run("goes on"));
  NewRun waiting = new_run("waits");
  waiting.status = telemetry::RunStatus::queued;
  auto queued = store.begin(waiting);
  Error::Kind kind{};
  QCOMPARE(error_of(
               [&] {
                 store.set_deleted({over, run->id()}, true);
               },
               &kind),
           std::string("run 2 is running and cannot be deleted; stop it, or wait until it ends"));
  QCOMPARE(kind, Error::Kind::input);
  QVERIFY(!error_of([&] { RunStore(folder.file()).set_deleted({queued->id()}, true); }).empty());
  const RunReader reader(folder.file());
  QCOMPARE(ids(reader.list()), (Ids{over, run->id(), queued->id()}));
  // A run whose process is gone is over.
  SQLite::Database(folder.file().string(), SQLite::OPEN_READWRITE).exec("UPDATE process SET started = started + 1");
  QCOMPARE(reader.run(run->id()).outcome.status, telemetry::RunStatus::interrupted);
  QCOMPARE(reader.run(queued->id()).outcome.status, telemetry::RunStatus::interrupted);
  store.set_deleted({run->id()}, true);
  QCOMPARE(ids(reader.deleted()), Ids{run->id()});
  store.set_deleted({run->id()}, false);
}

void TestRunChanges::purging_removes_everything_for_good() {
  const Folder folder;
  RunStore store(folder.file());
  const std::int64_t one = add(store, "one");
  const std::int64_t two = add(store, "two");
  auto told = store.begin(new_run("told"));
  store.send(told->id(), {.verb = "pause"});
  told->finish(outcome(telemetry::RunStatus::stopped));
  store.set_deleted({one, told->id()}, true);
  QCOMPARE(store.purge_deleted(), std::int64_t{2});
  const RunReader reader(folder.file());
  QCOMPARE(ids(reader.deleted()), Ids{});
  QCOMPARE(ids(reader.list()), Ids{two});
  QCOMPARE(reader.series(two, "loss").size(), std::size_t{1500});
  QCOMPARE(reader.check(), std::vector<std::string>{});
  SQLite::Database database(folder.file().string(), SQLite::OPEN_READONLY);
  const auto count = [&](const std::string& query) {
    return database.execAndGet("SELECT count(*) FROM " + query).getInt();
  };
  for (const char* table : {"event", "frame", "series", "command"})
    QCOMPARE(count(std::string(table) + " WHERE run <> 2"), 0);
  QCOMPARE(count("frame"), 2);
  QCOMPARE(count("step_chunk"), 3);
  QCOMPARE(error_of([&] { store.set_deleted({one}, false); }), std::string("there is no run 1"));
  QVERIFY(add(store, "new") > told->id()); // numbers are not used again
}

void TestRunChanges::purging_goes_in_parts() {
  const Folder folder;
  {
    RunStore store(folder.file());
    Ids all;
    for (int i = 0; i < 8; ++i) {
      auto run = store.begin(new_run("long"));
      telemetry::RunOutcome end = outcome(telemetry::RunStatus::finished);
      end.steps = 30'000;
      for (std::int64_t step = 1; step <= end.steps; ++step)
        run->sink().record(record_at(step));
      run->finish(end);
      all.push_back(run->id());
    }
    store.set_deleted(all, true);
  }
  const auto size = std::filesystem::file_size(folder.file());
  const RunReader reader(folder.file()); // as long as it is open the log stays where it is
  RunStore store(folder.file());
  QCOMPARE(store.purge_deleted(), std::int64_t{8});
  const auto log = std::filesystem::file_size(folder.file().string() + "-wal");
  QVERIFY2(log < size / 2, qPrintable(QString("%1 of %2").arg(log).arg(size)));
  QCOMPARE(ids(reader.deleted()), Ids{});
  QCOMPARE(reader.check(), std::vector<std::string>{});
  add(store, "new");
  QVERIFY(std::filesystem::file_size(folder.file()) <= size); // in the room that became free
}

BATCHSCOPE_TEST(TestRunChanges)
#include "tst_run_changes.moc"
