#include <memory>

#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "test_program.h"
#include "tests/app/cli/cli_program.h"

using namespace batchscope;
using namespace batchscope::test;

namespace {

using Ids = std::vector<std::int64_t>;

Ids ids(const std::vector<store::RunRow>& rows) {
  Ids ids;
  for (const auto& row : rows)
    ids.push_back(row.id);
  return ids;
}

store::NewRun new_run(const std::string& name) {
  return {.name = name, .spec_json = "{}"};
}

} // namespace

/// Names, notes and deletion of stored runs. What is stored then is read by the test itself: to start a program for
/// each look takes long.
class TestEditRuns : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void init();
  void renames();
  void keepsNotes();
  void tags();
  void deletesAndRestores();
  void allOrNone();
  void purges();
  void aRunThatGoesOn();
  void noSuchRun();
  void readOnly();

private:
  Outcome run(const QStringList& arguments) const { return program_->run(arguments); }
  /// What the program printed; all of what came of it where that was no success.
  QByteArray said(const QStringList& arguments) const;
  QJsonObject done(const QStringList& arguments) const;

  std::string database() const { return program_->path("default.db").toStdString(); }
  store::RunReader reader() const { return store::RunReader(database()); }
  Ids stored() const { return ids(reader().list()); }
  Ids deleted() const { return ids(reader().deleted()); }

  std::unique_ptr<CliProgram> program_; ///< with the runs 1 to 3
};

void TestEditRuns::init() {
  program_ = std::make_unique<CliProgram>();
  store::RunStore runs(database());
  for (const char* name : {"one", "two", "three"})
    runs.add_finished(new_run(name), {.status = telemetry::RunStatus::finished});
}

QByteArray TestEditRuns::said(const QStringList& arguments) const {
  const Outcome outcome = run(arguments);
  return outcome.status == 0 && outcome.err.isEmpty() ? outcome.out : outcome.shown();
}

QJsonObject TestEditRuns::done(const QStringList& arguments) const {
  return QJsonDocument::fromJson(said(arguments + QStringList{"--json"})).object();
}

void TestEditRuns::renames() {
  // The name of a verb is a name like another.
  QCOMPARE(said({"rename", "2", "list"}), QByteArray("renamed run 2 to list\n"));
  QCOMPARE(reader().run(2).name, std::string("list"));
  QCOMPARE(reader().run(1).name, std::string("one"));
  // A line of the table stays a line.
  const QString name = QString::fromUtf8("\xc3\xa4 [31m b");
  QCOMPARE(done({"rename", "2", QString::fromUtf8(" \xc3\xa4\n\x1b[31m  b\t")}),
           QJsonObject({{"run", 2}, {"name", name}}));
  QCOMPARE(reader().run(2).name, name.toStdString());
  // A long one does not widen the table of the runs.
  done({"rename", "2", QString(5000, 'n')});
  const QByteArray table = said({"list"});
  QVERIFY2(table.contains("  " + QByteArray(60, 'n') + "... (5,000 characters)  "), table.constData());
  QVERIFY(!table.contains(QByteArray(61, 'n')));
  QCOMPARE(said({"rename", "2", ""}), QByteArray("removed the name of run 2\n"));
  QCOMPARE(reader().run(2).name, std::string());
}

void TestEditRuns::keepsNotes() {
  QCOMPARE(said({"note", "3", "-5 % loss"}), QByteArray("saved the note of run 3\n"));
  QCOMPARE(reader().run(3).note, std::string("-5 % loss"));
  QCOMPARE(done({"note", "3", " try \n more "}), QJsonObject({{"run", 3}, {"note", "try more"}}));
  QCOMPARE(reader().run(3).note, std::string("try more"));
  QCOMPARE(said({"note", "3", ""}), QByteArray("removed the note of run 3\n"));
  QCOMPARE(reader().run(3).note, std::string());
}

void TestEditRuns::tags() {
  QCOMPARE(said({"tag", "1", "3", "best", " to \n publish"}), QByteArray("added best, to publish to 2 runs\n"));
  QCOMPARE(reader().run(3).tags, (std::vector<std::string>{"best", "to publish"}));
  QCOMPARE(done({"list", "--where", "tag = best"})["runs"].toArray().size(), 2);
  QCOMPARE(done({"list", "--where", "tag = best"})["runs"].toArray()[0].toObject()["tags"].toArray(),
           (QJsonArray{"best", "to publish"}));
  QCOMPARE(done({"tag", "--remove", "3", "best"}),
           QJsonObject({{"runs", QJsonArray{3}}, {"removed", QJsonArray{"best"}}}));
  QCOMPARE(done({"tag", "2", "-5 %"}), QJsonObject({{"runs", QJsonArray{2}}, {"added", QJsonArray{"-5 %"}}}));
  QVERIFY(
      refused(run({"tag", "2"}), "TAG is missing; accepted: the numbers of one or more runs, then one or more tags"));
  QVERIFY(refused(run({"tag", "best"}), "RUN is missing"));
  const QByteArray columns = said({"list", "--columns", "name,tags,status", "--where", "status = finished"});
  QVERIFY2(columns.contains("run  name") && columns.contains("best, to publish"), columns);
  QCOMPARE(done({"list", "--columns", "name,id"})["runs"].toArray()[0].toObject(),
           QJsonObject({{"id", 1}, {"name", "one"}}));
  QVERIFY(refused(run({"list", "--columns", "nmae"}), "--columns: unknown column \"nmae\"; accepted: id, name"));
  QVERIFY(refused(run({"tag", "2", "best", "3"}), "the numbers of the runs come first"));
  QVERIFY(refused(run({"tag", "9", "best"}), "there is no run 9"));
  QCOMPARE(reader().run(2).tags, std::vector<std::string>{"-5 %"});
}

void TestEditRuns::deletesAndRestores() {
  QCOMPARE(said({"delete", "3", "1", "3"}), QByteArray("2 runs deleted; to undo: batchscope-cli restore 1 3\n"));
  QCOMPARE(stored(), Ids{2});
  QCOMPARE(deleted(), (Ids{1, 3}));
  const QJsonArray listed = done({"list", "--deleted", "--where", "name = three"})["runs"].toArray();
  QCOMPARE(listed.size(), 1);
  QCOMPARE(listed[0].toObject()["id"].toInt(), 3);
  const QByteArray table = said({"list", "--deleted"});
  QVERIFY2(table.contains("one") && table.contains("three") && !table.contains("two"), table);
  QCOMPARE(said({"restore", "1"}), QByteArray("1 run restored\n"));
  QCOMPARE(done({"restore", "3"}), QJsonObject({{"restored", QJsonArray{3}}}));
  QCOMPARE(stored(), (Ids{1, 2, 3}));
  QCOMPARE(done({"delete", "2"}), QJsonObject({{"deleted", QJsonArray{2}}}));
  QCOMPARE(deleted(), Ids{2});
}

void TestEditRuns::allOrNone() {
  QVERIFY(refused(run({"delete", "1", "99", "2"}), "no run 99"));
  QCOMPARE(stored(), (Ids{1, 2, 3}));
  store::RunStore(database()).set_deleted({1, 2}, true);
  QVERIFY(refused(run({"restore", "1", "99"}), "no run 99"));
  QCOMPARE(deleted(), (Ids{1, 2}));
}

void TestEditRuns::purges() {
  QCOMPARE(said({"purge"}), QByteArray("no deleted runs\n"));
  store::RunStore(database()).set_deleted({1, 2}, true);
  QCOMPARE(said({"purge"}), QByteArray("purge --yes would permanently remove 2 runs; list --deleted shows them\n"));
  QCOMPARE(done({"purge"}), QJsonObject({{"marked", 2}, {"purged", 0}}));
  QCOMPARE(deleted(), (Ids{1, 2}));
  QCOMPARE(done({"purge", "--yes"}), QJsonObject({{"marked", 0}, {"purged", 2}}));
  QCOMPARE(deleted(), Ids{});
  QCOMPARE(stored(), Ids{3});
  QVERIFY(refused(run({"restore", "1"}), "no run 1"));
  store::RunStore(database()).set_deleted({3}, true);
  QCOMPARE(said({"purge", "--yes"}), QByteArray("1 run permanently removed\n"));
  QCOMPARE(reader().check(), std::vector<std::string>{});
}

void TestEditRuns::aRunThatGoesOn() {
  store::RunStore training(database());
  const auto four = training.begin(new_run("four"));
  QVERIFY(refused(run({"delete", "1", "4"}), "run 4 is running"));
  // Neither a second look from this process nor the end of another one may take the WAL from the writer.
  QCOMPARE(stored(), (Ids{1, 2, 3, 4}));
  QCOMPARE(done({"rename", "4", "renamed"})["name"], QJsonValue("renamed"));
  four->finish({.status = telemetry::RunStatus::finished});
  QCOMPARE(reader().run(4).name, std::string("renamed"));
  QCOMPARE(reader().run(4).outcome.status, telemetry::RunStatus::finished);
}

void TestEditRuns::noSuchRun() {
  store::RunStore(database()).set_deleted({1}, true);
  QVERIFY(refused(run({"rename", "1", "x"}), "no run 1"));
  QVERIFY(refused(run({"note", "99", "x", "--json"}), "no run 99"));
  QVERIFY(refused(run({"note", "one", "x"}), "RUN: \"one\""));
  QVERIFY(refused(run({"delete", "2", "0"}), "RUN: \"0\""));
  QCOMPARE(stored(), (Ids{2, 3}));
}

void TestEditRuns::readOnly() {
  program_->respect_permissions();
  QVERIFY(QFile::setPermissions(program_->path("default.db"), QFile::ReadOwner));
  QVERIFY(refused(run({"rename", "1", "x"}), "default.db"));
  QVERIFY(refused(run({"purge", "--yes"}), "default.db"));
}

BATCHSCOPE_TEST(TestEditRuns)
#include "tst_edit_runs.moc"
