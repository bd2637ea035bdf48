#include <QTest>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "test_program.h"
#include "tests/app/cli/cli_program.h"

using namespace batchscope;
using namespace batchscope::test;

/// backup, merge, prune and check --repair, as scripts use them.
class TestMaintain : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void init();
  void backs_up();
  void merges();
  void prunes();
  void repairs();

private:
  QJsonObject done(const QStringList& arguments) const {
    const Outcome outcome = program_->run(arguments + QStringList{"--json"});
    if (outcome.status != 0 || !outcome.err.isEmpty())
      qWarning("%s", outcome.shown().constData());
    return outcome.json();
  }
  std::filesystem::path file(const QString& name) const { return program_->path(name).toStdString(); }

  std::unique_ptr<CliProgram> program_;
};

void TestMaintain::init() {
  program_ = std::make_unique<CliProgram>();
  store::RunStore runs(file("default.db"));
  for (const char* name : {"one", "two"}) {
    store::NewRun run;
    run.name = name;
    run.spec_json = "{}";
    auto writer = runs.begin(run);
    for (std::int64_t step = 1; step <= 2000; ++step) {
      telemetry::StepRecord record;
      record.step = step;
      record.loss = 1;
      writer->sink().record(record);
    }
    writer->finish({.status = telemetry::RunStatus::finished});
  }
}

void TestMaintain::backs_up() {
  const QString copy = program_->path("copy.db");
  const QJsonObject json = done({"backup", copy});
  QCOMPARE(json["runs"].toInt(), 2);
  QCOMPARE(json["bytes"].toInt(), static_cast<int>(QFileInfo(copy).size()));
  QVERIFY(refused(program_->run({"backup", copy}), "already exists; --force overwrites it"));
  QCOMPARE(program_->run({"backup", copy, "--force"}).status, 0);
  QVERIFY(refused(program_->run({"backup"}), "FILE is missing"));
  QVERIFY(refused(program_->run({"--db", program_->path("none.db"), "backup", program_->path("x.db")}),
                  "no such run database"));
}

void TestMaintain::merges() {
  const QString other = program_->path("other.db");
  QJsonObject json = done({"merge", other, program_->path("default.db")});
  QCOMPARE(json["added"].toArray(),
           (QJsonArray{QJsonObject{{"before", 1}, {"run", 1}}, QJsonObject{{"before", 2}, {"run", 2}}}));
  json = done({"merge", other, program_->path("default.db")});
  QCOMPARE(json["added"].toArray().size(), 0);
  QCOMPARE(json["known"].toInt(), 2);
  QCOMPARE(program_->run({"merge", other, program_->path("default.db")}).out,
           QByteArray("0 runs added to " + other.toUtf8() + ", 0 completed, 2 already there\n"));
  QVERIFY(refused(program_->run({"merge", other}), "B is missing"));
  QVERIFY(refused(program_->run({"merge", other, other}), "are the same database"));
  QVERIFY(refused(program_->run({"--db", other, "merge", other, other}), "--db: not used by merge"));
}

void TestMaintain::prunes() {
  const auto before = std::filesystem::file_size(file("default.db"));
  QJsonObject json = done({"prune", "--where", "name = one", "--keep", "loss"});
  QCOMPARE(json["runs"].toArray(), QJsonArray{1});
  QCOMPARE(json["removed"].toBool(), false);
  const Outcome would = program_->run({"prune", "1", "--keep", "loss"});
  QVERIFY2(would.out.startsWith("would remove ") && would.out.contains("add --yes"), would.shown());
  QCOMPARE(std::filesystem::file_size(file("default.db")), before);
  json = done({"prune", "1", "--keep", "loss", "--yes"});
  QCOMPARE(json["removed"].toBool(), true);
  QVERIFY(json["bytes"].toInt() < json["bytes_before"].toInt());
  QCOMPARE(store::RunReader(file("default.db")).series_names(1), std::vector<std::string>{"loss"});
  QVERIFY(store::RunReader(file("default.db")).series_names(2).size() > 1);
  QCOMPARE(program_->run({"check"}).status, 0);
  QVERIFY(refused(program_->run({"prune", "9"}), "there is no run 9"));
  QVERIFY(refused(program_->run({"prune", "--keep", "loss"}), "--keep: no runs are named"));
  QVERIFY(refused(program_->run({"prune", "1", "--where", "id = 1"}), "are both given"));
}

void TestMaintain::repairs() {
  QCOMPARE(program_->run({"check", "--repair"}).out,
           QByteArray(program_->path("default.db").toUtf8() + ": ok, nothing to repair\n"));
  SQLite::Database(file("default.db").string(), SQLite::OPEN_READWRITE).exec("UPDATE run SET note = 'x' WHERE id = 2");
  QCOMPARE(program_->run({"check"}).status, 1);
  const QJsonObject json = done({"check", "--repair"});
  QCOMPARE(json["damage"].toArray(), QJsonArray{"run 2: note damaged (checksum)"});
  QCOMPARE(json["lost"].toArray(), QJsonArray{"run 2: note"});
  QCOMPARE(json["backup"].toString(), program_->path("default.db.damaged"));
  QCOMPARE(program_->run({"check"}).status, 0);
  QCOMPARE(store::RunReader(file("default.db")).series(2, "loss").size(), std::size_t(2000));
  program_->write("default.db", QByteArray(5000, 'x'));
  const Outcome hopeless = program_->run({"check", "--repair"});
  QVERIFY2(hopeless.status == 1 && hopeless.err.contains("nothing in it can be read"), hopeless.shown());
}

BATCHSCOPE_TEST(TestMaintain)
#include "tst_maintain.moc"
