#include <QCoreApplication>
#include <QTest>

#include <fstream>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/file/detail/database_files.h"
#include "core/store/run_follower.h"
#include "core/store/run_reader.h"
#include "other_program.h"
#include "replaced_rounds.h"
#include "test_events.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::store;
using namespace batchscope::store::test;

namespace {

/// Often enough that a test need not wait; everything is stored by a call.
constexpr StoreOptions on_demand{.interval = std::chrono::hours(1)};

void record(RunWriter& run, std::int64_t from, std::int64_t to) {
  for (std::int64_t step = from; step <= to; ++step)
    run.sink().record(record_at(step));
}

std::size_t steps_of(const std::filesystem::path& file, std::int64_t run) {
  return RunReader(file).series(run, "loss").size();
}

/// Removes the log of changes, with its index, under those who use it.
void remove_log(const std::filesystem::path& file) {
  QVERIFY(std::filesystem::remove(log_of(file)));
  QVERIFY(std::filesystem::remove(index_of(file)));
}

} // namespace

/// The database's files are opened and closed, removed and replaced while runs are written: nothing is lost.
class TestReplacedFiles : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void who_opens_and_closes_a_file_drops_no_lock();
  void runs_of_two_programs_survive_a_foreign_close();
  void a_removed_log_loses_nothing();
  void a_log_that_another_program_removed_and_made_anew_loses_nothing();
  void a_database_that_is_gone_is_written_again();
  void an_older_copy_in_its_place_gets_the_newer_runs();
  void another_database_in_its_place_gets_the_present_run();
  void a_number_that_was_taken_changes();
  void readers_go_on_with_the_new_files();
  void a_reader_keeps_what_only_it_still_reads();
  void without_room_for_the_copy_it_is_tried_again();
  void random_rounds();
};

void TestReplacedFiles::who_opens_and_closes_a_file_drops_no_lock() {
  const Folder folder;
  const RunStore store(folder.file());
  const auto before = store::detail::files_of(folder.file());
  for (const auto& file : {folder.file(), log_of(folder.file()), index_of(folder.file())})
    open_and_close(file);
  QCOMPARE(list_elsewhere(folder.file()), 0);
  QVERIFY2(!is_replaced(before, store::detail::files_of(folder.file())), "the other program removed the log in use");
}

void TestReplacedFiles::runs_of_two_programs_survive_a_foreign_close() {
  const Folder folder;
  const auto report = folder.file("report");
  {
    RunStore store(folder.file());
    auto first = store.begin(new_run("first"));
    record(*first, 1, 100);
    first->finish(outcome(telemetry::RunStatus::finished));
    for (const auto& file : {folder.file(), log_of(folder.file()), index_of(folder.file())})
      open_and_close(file);
    QCOMPARE(list_elsewhere(folder.file()), 1);
    auto second = store.begin(new_run("second"));
    record(*second, 1, 100);
    second->finish(outcome(telemetry::RunStatus::finished));
    QCOMPARE(SecondProcess(write_arguments(folder.file(), 4, 50, report)).wait(), 0);
    QCOMPARE(list_elsewhere(folder.file()), 6);
  }
  QCOMPARE(RunReader(folder.file()).list().size(), std::size_t(6));
  QCOMPARE(lost(folder.file(), reported(report)), std::string());
}

void TestReplacedFiles::a_removed_log_loses_nothing() {
  const Folder folder;
  std::vector<std::string> notices;
  {
    RunStore store(folder.file(), on_demand);
    NewRun given = new_run("kept");
    given.on_notice = [&](const std::string& what) { notices.push_back(what); };
    auto run = store.begin(given);
    record(*run, 1, 3000);
    store.flush();
    remove_log(folder.file());
    record(*run, 3001, 3100);
    run->finish(outcome(telemetry::RunStatus::finished));
    QVERIFY2(store.backlog().notice.find("replaced by another program") != std::string::npos,
             store.backlog().notice.c_str());
    QCOMPARE(notices.size(), std::size_t(1));
    QCOMPARE(notices.front(), store.backlog().notice);
  }
  QCOMPARE(steps_of(folder.file(), 1), std::size_t(3100));
  QCOMPARE(text_of(RunReader(folder.file()).check()), std::string());
  QCOMPARE(RunReader(folder.file()).run(1).outcome.status, telemetry::RunStatus::finished);
}

void TestReplacedFiles::a_log_that_another_program_removed_and_made_anew_loses_nothing() {
  const Folder folder;
  const auto report = folder.file("report");
  {
    RunStore store(folder.file(), on_demand);
    auto done = store.begin(new_run("done"));
    record(*done, 1, 200);
    done->finish(outcome(telemetry::RunStatus::finished));
    store.rename(1, "renamed");
    auto run = store.begin(new_run("goes on"));
    record(*run, 1, 1500);
    run->sink().event(event_of(7, 0, "note"));
    store.flush();
    remove_log(folder.file());
    QCOMPARE(SecondProcess(write_arguments(folder.file(), 2, 60, report)).wait(), 0);
    record(*run, 1501, 1600);
    run->sink().event(event_of(1550, 0, "note"));
    run->finish(outcome(telemetry::RunStatus::finished));
  }
  const RunReader reader(folder.file());
  QCOMPARE(text_of(reader.check()), std::string());
  QCOMPARE(lost(folder.file(), reported(report)), std::string());
  const auto runs = reader.list();
  QCOMPARE(runs.size(), std::size_t(4));
  std::map<std::string, std::int64_t> ids;
  for (const RunRow& run : runs)
    ids[run.name] = run.id;
  QCOMPARE(reader.series(ids.at("renamed"), "loss").size(), std::size_t(200));
  const auto points = reader.series(ids.at("goes on"), "loss");
  QCOMPARE(points.size(), std::size_t(1600));
  for (std::size_t i = 0; i < points.size(); ++i)
    QCOMPARE(points[i].step, static_cast<std::int64_t>(i) + 1);
  QCOMPARE(reader.events(ids.at("goes on")).size(), std::size_t(2));
  QCOMPARE(list_elsewhere(folder.file()), 4);
}

void TestReplacedFiles::a_database_that_is_gone_is_written_again() {
  const Folder folder;
  {
    RunStore store(folder.file(), on_demand);
    auto run = store.begin(new_run("kept"));
    record(*run, 1, 50);
    store.flush();
    remove_log(folder.file());
    QVERIFY(std::filesystem::remove(folder.file()));
    record(*run, 51, 60);
    run->finish(outcome(telemetry::RunStatus::finished));
  }
  QCOMPARE(steps_of(folder.file(), 1), std::size_t(60));
  QCOMPARE(text_of(RunReader(folder.file()).check()), std::string());
}

void TestReplacedFiles::an_older_copy_in_its_place_gets_the_newer_runs() {
  const Folder folder;
  {
    RunStore store(folder.file());
    store.begin(new_run("in the copy"))->finish(outcome(telemetry::RunStatus::finished));
  }
  std::filesystem::copy_file(folder.file(), folder.file("copy.db"));
  {
    RunStore store(folder.file(), on_demand);
    store.begin(new_run("newer"))->finish(outcome(telemetry::RunStatus::finished));
    auto run = store.begin(new_run("going on"));
    record(*run, 1, 40);
    store.flush();
    std::filesystem::rename(folder.file("copy.db"), folder.file());
    record(*run, 41, 50);
    run->finish(outcome(telemetry::RunStatus::finished));
  }
  const RunReader reader(folder.file());
  QCOMPARE(reader.list().size(), std::size_t(3));
  QCOMPARE(reader.series(3, "loss").size(), std::size_t(50));
  QCOMPARE(text_of(reader.check()), std::string());
}

void TestReplacedFiles::another_database_in_its_place_gets_the_present_run() {
  const Folder folder;
  {
    RunStore store(folder.file("another.db"));
    store.begin(new_run("another"))->finish(outcome(telemetry::RunStatus::finished));
  }
  std::string notice;
  {
    RunStore store(folder.file(), on_demand);
    store.begin(new_run("done"))->finish(outcome(telemetry::RunStatus::finished));
    auto run = store.begin(new_run("going on"));
    record(*run, 1, 40);
    store.flush();
    std::filesystem::rename(folder.file("another.db"), folder.file());
    record(*run, 41, 50);
    run->finish(outcome(telemetry::RunStatus::finished));
    notice = store.backlog().notice;
  }
  const RunReader reader(folder.file());
  QCOMPARE(reader.list().size(), std::size_t(2));
  QCOMPARE(reader.series(2, "loss").size(), std::size_t(50));
  QCOMPARE(text_of(reader.check()), std::string());
  const auto saved = folder.file("runs.db.saved");
  QVERIFY2(notice.find(saved.string()) != std::string::npos, notice.c_str());
  QCOMPARE(RunReader(saved).run(1).name, std::string("done"));
}

void TestReplacedFiles::a_number_that_was_taken_changes() {
  const Folder folder;
  const auto report = folder.file("report");
  RunStore store(folder.file(), on_demand);
  auto run = store.begin(new_run("ours"));
  record(*run, 1, 40);
  store.flush();
  QCOMPARE(run->id(), std::int64_t(1));
  // The other program's run is there before the files change, so it has number 1 whenever the store looks at them.
  const auto other = folder.file("other.db");
  QCOMPARE(SecondProcess(write_arguments(other, 1, 10, report)).wait(), 0);
  remove_log(folder.file()); // with all that was in it, and the file itself was never written to
  std::filesystem::rename(other, folder.file());
  record(*run, 41, 50);
  run->finish(outcome(telemetry::RunStatus::finished));
  QCOMPARE(run->id(), std::int64_t(2));
  QVERIFY2(store.backlog().notice.find("run 1 is now run 2") != std::string::npos, store.backlog().notice.c_str());
  QCOMPARE(steps_of(folder.file(), 2), std::size_t(50));
  QCOMPARE(lost(folder.file(), reported(report)), std::string());
}

void TestReplacedFiles::readers_go_on_with_the_new_files() {
  const Folder folder;
  RunStore store(folder.file(), on_demand);
  auto run = store.begin(new_run("followed"));
  record(*run, 1, 40);
  run->sink().event(event_of(7, 0, "note"));
  store.flush();
  RunReader reader(folder.file());
  RunFollower follower(folder.file(), run->id());
  const std::int64_t version = reader.version();
  auto first = follower.poll();
  QCOMPARE(first.records.size(), std::size_t(40));
  QCOMPARE(first.events.size(), std::size_t(1));
  remove_log(folder.file());
  record(*run, 41, 50);
  run->sink().event(event_of(45, 0, "note"));
  run->finish(outcome(telemetry::RunStatus::finished));
  QVERIFY(reader.version() != version);
  QCOMPARE(reader.list("status = finished").size(), std::size_t(1));
  const auto second = follower.poll();
  QCOMPARE(second.records.size(), std::size_t(10));
  QCOMPARE(second.records.front().step, std::int64_t(41));
  QCOMPARE(second.events.size(), std::size_t(1));
  QCOMPARE(second.events.front().step, std::int64_t(45));
  QVERIFY(!reader.notice().empty());
}

void TestReplacedFiles::a_reader_keeps_what_only_it_still_reads() {
  const Folder folder;
  const auto report = folder.file("report");
  {
    RunStore store(folder.file());
    store.begin(new_run("first"))->finish(outcome(telemetry::RunStatus::finished));
  }
  const RunReader reader(folder.file());
  QCOMPARE(reader.list().size(), std::size_t(1));
  // The reader keeps the log alive, so the runs of the other program stay in it.
  QCOMPARE(SecondProcess(write_arguments(folder.file(), 3, 30, report)).wait(), 0);
  remove_log(folder.file());
  QCOMPARE(reader.list().size(), std::size_t(4));
  QCOMPARE(lost(folder.file(), reported(report)), std::string());
}

void TestReplacedFiles::without_room_for_the_copy_it_is_tried_again() {
  const Folder folder;
  RunStore store(folder.file(), on_demand);
  auto run = store.begin(new_run("kept"));
  record(*run, 1, 2000);
  store.flush();
  remove_log(folder.file());
  {
    const FileSizeLimit limit(4096);
    record(*run, 2001, 2010);
    QVERIFY_EXCEPTION_THROWN(store.flush(), TransientError);
    QVERIFY_EXCEPTION_THROWN(store.flush(), TransientError);
    QVERIFY(!store.backlog().error.empty());
  }
  run->finish(outcome(telemetry::RunStatus::finished));
  QCOMPARE(steps_of(folder.file(), run->id()), std::size_t(2010));
  QCOMPARE(text_of(RunReader(folder.file()).check()), std::string());
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    QVERIFY2(entry.path().string().find(".saved") == std::string::npos, entry.path().c_str());
}

void TestReplacedFiles::random_rounds() {
  for (unsigned seed = 1; seed <= 6; ++seed)
    if (const std::string lines = random_round(seed); !lines.empty())
      QFAIL(("round " + std::to_string(seed) + ": " + lines).c_str());
}

BATCHSCOPE_TEST(TestReplacedFiles, run_as_other_program)
#include "tst_replaced_files.moc"
