#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSignalSpy>
#include <QTest>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/search/run_search.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "core/store/sweep_queue.h"
#include "test_program.h"
#include "tests/core/store/store_test.h"
#include "ui/workbench_test.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

namespace {

telemetry::RunOutcome finished() {
  telemetry::RunOutcome outcome;
  outcome.status = telemetry::RunStatus::finished;
  outcome.steps = 10;
  return outcome;
}

store::NewRun named(const char* name) {
  store::NewRun run;
  run.name = name;
  run.spec_json = run::to_json(small_run(10));
  return run;
}

} // namespace

/// The database's thread: what it reads, changes and says.
class TestLibrary : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void showsWhatOthersStore() {
    QTemporaryDir folder;
    const std::filesystem::path file = (folder.path() + "/runs.db").toStdString();
    RunDatabase run_database(file);
    QTRY_VERIFY(run_database.loaded()); // no database is no problem: it is made by the first run
    QVERIFY(run_database.runs().empty());
    store::RunStore store(file);
    store.add_finished(named("first"), finished());
    QTRY_COMPARE(run_database.runs().size(), std::size_t{1});
    store.add_finished(named("second"), finished());
    QTRY_COMPARE(run_database.runs().size(), std::size_t{2});
    QCOMPARE(run_database.runs().back().name, std::string("second"));
  }

  void savesAndDeletesViews() {
    QTemporaryDir folder;
    const std::filesystem::path file = (folder.path() + "/runs.db").toStdString();
    store::RunStore store(file);
    RunDatabase run_database(file);
    QSignalSpy changed(&run_database, &RunDatabase::views_changed);
    QSignalSpy problem(&run_database, &RunDatabase::problem);
    run_database.save_view("by memory", R"({"columns": ["peak_bytes"]})");
    QTRY_COMPARE(run_database.views().size(), std::size_t{1});
    QCOMPARE(run_database.views().front().name, std::string("by memory"));
    QCOMPARE(run_database.views().front().content_json, std::string(R"({"columns": ["peak_bytes"]})"));
    run_database.delete_view("another");
    QTRY_COMPARE(problem.size(), 1);
    QCOMPARE(problem.front().front().toString(), QStringLiteral("Not changed: there is no view \"another\""));
    store.save_view("by another program", "{}");
    QTRY_COMPARE(run_database.views().size(), std::size_t{2});
    run_database.delete_view("by memory");
    QTRY_COMPARE(run_database.views().size(), std::size_t{1});
    QCOMPARE(changed.size(), 3); // and not each time that anything changes
  }

  void showsTheSearchesThatAreStored() {
    QTemporaryDir folder;
    const std::filesystem::path file = (folder.path() + "/runs.db").toStdString();
    const std::string spec = run::to_json(small_run(10));
    search::SearchResult result;
    result.strategy = "binary";
    result.found = true;
    result.largest = 96;
    store::RunStore store(file);
    store.add_search(spec, search::to_json(result));
    store.add_search("not JSON", "neither"); // of another version, say
    RunDatabase run_database(file);
    QTRY_COMPARE(run_database.searches().size(), std::size_t{1});
    const StoredSearch& first = *run_database.searches().front();
    QCOMPARE(first.id, std::int64_t{1});
    QCOMPARE(first.result->largest, std::optional<std::int64_t>(96));
    QCOMPARE(run::to_json(first.spec), spec);
    QVERIFY(QDateTime::fromString(first.created, Qt::ISODate).isValid());
    // What comes later is added, and what is known stays what it is.
    const auto* known = run_database.searches().front().get();
    store.add_search(spec, search::to_json(result));
    QTRY_COMPARE(run_database.searches().size(), std::size_t{2});
    QCOMPARE(run_database.searches().front().get(), known);
    QCOMPARE(run_database.searches().back()->id, std::int64_t{3});
  }

  void changesRuns() {
    QTemporaryDir folder;
    const std::filesystem::path file = (folder.path() + "/runs.db").toStdString();
    const std::int64_t id = store::RunStore(file).add_finished(named("first"), finished());
    RunDatabase run_database(file);
    QTRY_COMPARE(run_database.runs().size(), std::size_t{1});
    run_database.rename(id, "better");
    run_database.set_note(id, "kept");
    QTRY_COMPARE(run_database.runs().front().note, std::string("kept"));
    QCOMPARE(run_database.runs().front().name, std::string("better"));
    run_database.set_deleted({id}, true);
    QTRY_VERIFY(run_database.runs().empty());
    run_database.set_deleted({id}, false);
    QTRY_COMPARE(run_database.runs().size(), std::size_t{1});
  }

  void skipsAndMovesRunsThatWait() {
    QTemporaryDir folder;
    const std::filesystem::path file = (folder.path() + "/runs.db").toStdString();
    store::RunStore store(file);
    const std::int64_t sweep = store.add_sweep("{}");
    store::SweepQueue(store, sweep)
        .add({{.id = 0, .name = "a", .spec_json = R"({"seed":1})"},
              {.id = 0, .name = "b", .spec_json = R"({"seed":2})"},
              {.id = 0, .name = "c", .spec_json = R"({"seed":3})"}});
    RunDatabase run_database(file);
    QTRY_COMPARE(run_database.runs().size(), std::size_t{3});
    run_database.move_waiting(sweep, 3, 1);
    run_database.skip_waiting(sweep, {1});
    QTRY_COMPARE(run_database.runs().front().outcome.status, telemetry::RunStatus::stopped);
    QCOMPARE(run_database.runs().front().outcome.reason, std::string("skipped"));
    QCOMPARE(store::RunReader(file).waiting_runs(sweep), (std::vector<std::int64_t>{3, 2}));
  }

  void aChangeOfOneOfManyIsReadAndToldAlone() {
    constexpr std::int64_t count = 10'000;
    QTemporaryDir folder;
    const std::filesystem::path file = (folder.path() + "/runs.db").toStdString();
    store::RunStore store(file);
    {
      SQLite::Database database(file.string(), SQLite::OPEN_READWRITE, 5000);
      SQLite::Transaction transaction(database);
      SQLite::Statement insert(database, "INSERT INTO run (uid, name, status, reason, started, spec, start, steps, "
                                         "examples_seen, oom_events, peak_bytes) VALUES (?, 'one', 'finished', '', "
                                         "'2026-01-01T00:00:00Z', '{}', '{}', 1, 1, 0, 1)");
      for (std::int64_t i = 0; i < count; ++i) {
        insert.bind(1, i);
        insert.exec();
        insert.reset();
      }
      transaction.commit();
    }
    RunDatabase run_database(file);
    std::vector<store::ListChanges> told;
    connect(&run_database, &RunDatabase::runs_changed, this,
            [&](const store::ListChanges& changes) { told.push_back(changes); });
    QTRY_COMPARE(run_database.runs().size(), std::size_t{count});
    told.clear();
    store.rename(5000, "another");
    QTRY_COMPARE(run_database.runs()[4999].name, std::string("another"));
    const std::int64_t added = store.add_finished(named("new"), finished());
    QTRY_COMPARE(run_database.runs().back().id, added);
    run_database.set_deleted({1}, true);
    QTRY_COMPARE(run_database.runs().front().id, std::int64_t{2});
    QCOMPARE(run_database.runs().size(), std::size_t{count});
    QCOMPARE(told.size(), std::size_t{3});
    for (const auto& changes : told) {
      QVERIFY(!changes.all);
      QCOMPARE(changes.rows_read, std::size_t{1});
      QCOMPARE(changes.rows.size() + changes.removed.size(), std::size_t{1});
    }
  }

  void saysThatNothingCanBeWritten() {
    QTemporaryDir folder;
    const std::filesystem::path file = (folder.path() + "/runs.db").toStdString();
    store::RunStore(file).add_finished(named("first"), finished());
    RunDatabase run_database(file);
    QTRY_COMPARE(run_database.runs().size(), std::size_t{1});
    QCOMPARE(run_database.read_only(), QString());
    QSignalSpy changed(&run_database, &RunDatabase::read_only_changed);
    std::filesystem::permissions(folder.path().toStdString(), std::filesystem::perms(0555));
    {
      const store::test::OrdinaryUser user;
      if (user.is_root())
        QSKIP("root cannot become an ordinary user here");
      QTRY_VERIFY(run_database.read_only().contains("folder cannot be written"));
      QCOMPARE(changed.count(), 1);
    }
    std::filesystem::permissions(folder.path().toStdString(), std::filesystem::perms(0755));
    QTRY_COMPARE(run_database.read_only(), QString());
    QCOMPARE(changed.count(), 2);
  }

  void givesExportsUp() {
    QTemporaryDir folder;
    const std::filesystem::path file = (folder.path() + "/runs.db").toStdString();
    std::int64_t id = 0;
    {
      store::RunStore store(file);
      auto run = store.begin(named("long"));
      id = run->id();
      for (std::int64_t step = 1; step <= 2000; ++step)
        run->sink().record(store::test::record_at(step));
      run->finish(finished());
    }
    RunDatabase run_database(file);
    QSignalSpy changed(&run_database, &RunDatabase::exports_changed);
    QStringList errors;
    for (const char* name : {"/one.csv", "/two.csv"})
      run_database.export_runs(std::vector<std::int64_t>(5000, id), "csv", folder.path() + name, this,
                               [&](const QString& error) { errors.append(error); });
    QCOMPARE(run_database.exports(), (QStringList{folder.path() + "/one.csv", folder.path() + "/two.csv"}));
    run_database.cancel_exports();
    QTRY_COMPARE_WITH_TIMEOUT(errors.size(), 2, 60'000);
    for (const QString& error : errors)
      QVERIFY2(error.contains("cancelled"), qPrintable(error));
    QVERIFY(run_database.exports().isEmpty());
    QCOMPARE(changed.count(), 4);
    QCOMPARE(QDir(folder.path()).entryList({"*.csv*", ".*.csv*"}, QDir::Files | QDir::Hidden), QStringList());
  }

  void saysWhatCannotBeChanged() {
    QTemporaryDir folder;
    const std::filesystem::path file = (folder.path() + "/runs.db").toStdString();
    store::RunStore(file).add_finished(named("first"), finished());
    RunDatabase run_database(file);
    QTRY_COMPARE(run_database.runs().size(), std::size_t{1});
    QSignalSpy problem(&run_database, &RunDatabase::problem);
    run_database.rename(99, "nobody");
    QTRY_COMPARE(problem.count(), 1);
    QVERIFY(problem.front().front().toString().contains("99"));
    run_database.rename(1, "somebody"); // a change that succeeds takes nothing back
    QTRY_COMPARE(run_database.runs().front().name, std::string("somebody"));
    QCOMPARE(problem.count(), 1);
  }

  void saysOnceThatADatabaseIsGoneAndGoesOn() {
    QTemporaryDir folder;
    const QString name = folder.path() + "/runs.db";
    store::RunStore(name.toStdString()).add_finished(named("first"), finished());
    RunDatabase run_database(name.toStdString());
    QTRY_COMPARE(run_database.runs().size(), std::size_t{1});
    QSignalSpy problem(&run_database, &RunDatabase::problem);
    QVERIFY(QFile::rename(name, name + ".away"));
    QTRY_COMPARE(problem.count(), 1);
    QVERIFY(problem.front().front().toString().contains("no longer exists"));
    QCOMPARE(run_database.runs().size(), std::size_t{1}); // what was read is still shown
    QVERIFY(QFile::rename(name + ".away", name));
    QTRY_COMPARE(problem.count(), 2);
    QVERIFY(problem.back().front().toString().isEmpty());
  }

  void changesNothingWhereTheDatabaseIsGone() {
    QTemporaryDir folder;
    const QString name = folder.path() + "/runs.db";
    store::RunStore(name.toStdString()).add_finished(named("first"), finished());
    RunDatabase run_database(name.toStdString());
    QTRY_COMPARE(run_database.runs().size(), std::size_t{1});
    QSignalSpy problem(&run_database, &RunDatabase::problem);
    QVERIFY(QFile::rename(name, name + ".away"));
    run_database.rename(1, "first again");
    // Once for the change and once for the list.
    QTRY_COMPARE(problem.count(), 2);
    for (const auto& each : problem)
      QVERIFY2(each.front().toString().contains("no longer exists"), qPrintable(each.front().toString()));
    QVERIFY(!QFileInfo::exists(name));
    QVERIFY(QFile::rename(name + ".away", name));
    run_database.rename(1, "third");
    QTRY_COMPARE(run_database.runs().front().name, std::string("third"));
  }

  void anEmptyFileHoldsNoRuns() {
    QTemporaryDir folder;
    const QString name = folder.path() + "/runs.db";
    QFile file(name);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.close();
    RunDatabase run_database(name.toStdString());
    QSignalSpy problem(&run_database, &RunDatabase::problem);
    QTRY_VERIFY(run_database.loaded());
    QVERIFY(run_database.runs().empty());
    QCOMPARE(problem.count(), 0);
    store::RunStore(name.toStdString()).add_finished(named("first"), finished());
    QTRY_COMPARE(run_database.runs().size(), std::size_t{1});
    QCOMPARE(problem.count(), 0);
  }

  void saysThatAFollowedRunsFileWasReplaced() {
    QTemporaryDir folder;
    const QString name = folder.path() + "/runs.db";
    store::RunStore store(name.toStdString());
    const auto writer = store.begin(named("going on"));
    RunDatabase run_database(name.toStdString());
    std::vector<RunBatch> batches;
    const RunDatabase::Token token =
        run_database.follow(writer->id(), [&](RunBatch&& batch) { batches.push_back(std::move(batch)); });
    QTRY_VERIFY(!batches.empty());
    QCOMPARE(batches.back().error, QString());
    QVERIFY(QFile::rename(name, name + ".away"));
    QFile other(name);
    QVERIFY(other.open(QIODevice::WriteOnly));
    QTRY_VERIFY(!batches.back().error.isEmpty());
    QVERIFY2(batches.back().error.contains("replaced"), qPrintable(batches.back().error));
  }

  void nobodyIsCalledWhoHasDroppedTheToken() {
    QTemporaryDir folder;
    const std::filesystem::path file = (folder.path() + "/runs.db").toStdString();
    store::RunStore store(file);
    const auto writer = store.begin(named("going on"));
    RunDatabase run_database(file);
    for (int time = 0; time < 20; ++time) {
      bool wanted = true;
      int calls = 0, late = 0;
      RunDatabase::Token token = run_database.follow(writer->id(), [&](RunBatch&&) {
        ++calls;
        late += wanted ? 0 : 1;
      });
      QTRY_VERIFY(calls > 0);
      wanted = false;
      token.reset();
      QTest::qWait(1);
      QCOMPARE(late, 0);
    }
  }

  void saysThatACommandCouldNotBeSent() {
    QTemporaryDir folder;
    const std::filesystem::path file = (folder.path() + "/runs.db").toStdString();
    const std::int64_t over = store::RunStore(file).add_finished(named("over"), finished());
    RunDatabase run_database(file);
    QSignalSpy problem(&run_database, &RunDatabase::problem);
    int refused = 0;
    run_database.send(over, {"pause", "{}"}, this, [&] { ++refused; });
    QTRY_COMPARE(refused, 1);
    QCOMPARE(problem.count(), 1);
    // Whoever is gone hears nothing.
    auto gone = std::make_unique<QObject>();
    run_database.send(over, {"pause", "{}"}, gone.get(), [&] { ++refused; });
    gone.reset();
    QTRY_COMPARE(problem.count(), 2);
    QCoreApplication::processEvents();
    QCOMPARE(refused, 1);
  }

  void saysWhatIsNoDatabase() {
    QTemporaryDir folder;
    const QString name = folder.path() + "/runs.db";
    QFile file(name);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QByteArray(4096, 'x'));
    file.close();
    RunDatabase run_database(name.toStdString());
    QSignalSpy problem(&run_database, &RunDatabase::problem);
    QTRY_COMPARE(problem.count(), 1);
    QVERIFY(problem.front().front().toString().contains("not a BatchScope database"));
  }

  void exportsAndSaysWhatIsWrong() {
    QTemporaryDir folder;
    const std::filesystem::path file = (folder.path() + "/runs.db").toStdString();
    const std::int64_t id = store::RunStore(file).add_finished(named("first"), finished());
    RunDatabase run_database(file);
    std::optional<QString> answer;
    run_database.export_runs({id}, "json", folder.path() + "/runs.json", this,
                             [&](const QString& error) { answer = error; });
    QTRY_VERIFY(answer);
    QVERIFY2(answer->isEmpty(), qPrintable(*answer));
    QVERIFY(QFileInfo::exists(folder.path() + "/runs.json"));
    answer.reset();
    run_database.export_runs({id}, "json", "/nowhere/runs.json", this, [&](const QString& error) { answer = error; });
    QTRY_VERIFY(answer);
    QVERIFY(answer->contains("/nowhere"));
  }
};

BATCHSCOPE_TEST(TestLibrary)
#include "tst_run_database.moc"
