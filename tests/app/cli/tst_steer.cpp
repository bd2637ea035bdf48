#include <csignal>

#include "core/store/run_reader.h"
#include "test_events.h"
#include "test_program.h"
#include "tests/app/cli/cli_program.h"

using namespace batchscope;
using namespace batchscope::test;

namespace {

const QStringList endless_run{"train",
                              "--json",
                              "--model",
                              "mlp:hidden=16",
                              "--data",
                              "synthetic:examples=400,shape=1x8x8,classes=4", // 320 to train
                              "--memory-budget",
                              "50MB",
                              "--batch",
                              "4",
                              "--epochs",
                              "1000000"};

/// Run 1 of a program's database. Read by the test itself: to start a program for each look takes long.
class StoredRun {
public:
  explicit StoredRun(const CliProgram& program) : reader_(program.path("default.db").toStdString()) {}

  std::int64_t steps() const { return reader_.run(1).outcome.steps; }
  /// The details of the events of one kind, with their step.
  std::vector<QJsonObject> events(const std::string& kind) const {
    std::vector<QJsonObject> found;
    for (const auto& event : reader_.events(1)) {
      if (kind_text(event) != kind)
        continue;
      found.push_back(QJsonDocument::fromJson(QByteArray::fromStdString(detail_text(event))).object());
      found.back()["step"] = static_cast<qint64>(event.step);
    }
    return found;
  }

private:
  batchscope::store::RunReader reader_;
};

bool begins(QProcess& train) {
  train.setReadChannel(QProcess::StandardError);
  QByteArray said;
  while (!said.contains("run 1")) {
    if (!train.waitForReadyRead(60'000) && train.state() != QProcess::Running)
      return false;
    said += train.readAllStandardError();
  }
  return true;
}

} // namespace

/// One process trains; others watch it and tell it what to do.
class TestSteer : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void aRunOfAnotherProcess();
  void saysFromWhichStepAnEditApplies();
  void changesTheSharesOfStreams();
  void stopsOneRunOrItsSweep();
  void watchUntilTheEnd();
  void ctrlCEndsTheWatchingOnly();
  void watchWhatIsOver();
  void aProcessThatDoesNotListen();
  void refused_data();
  void refused();
  void cleanupTestCase();

private:
  CliProgram program_; ///< with a run that is told what is refused
  QProcess train_;
};

void TestSteer::aRunOfAnotherProcess() {
  const CliProgram program;
  QProcess train;
  program.start(train, endless_run);
  QVERIFY(begins(train));
  const StoredRun run(program);
  const Outcome pause = program.run({"steer", "1", "pause"});
  QVERIFY2(pause.status == 0, pause.shown().constData());
  QCOMPARE(pause.out, QByteArray("run 1 pauses at its next step boundary\n"));
  QTRY_COMPARE_WITH_TIMEOUT(run.events("status").size(), std::size_t{1}, 30'000);
  const QJsonObject paused = run.events("status")[0];
  QCOMPARE(paused["status"].toString(), QString("paused"));
  const auto at = static_cast<int>(run.steps());
  QCOMPARE(paused["step"].toInt(), at);

  QCOMPARE(program.run({"steer", "1", "step"}).status, 0);
  QTRY_COMPARE_WITH_TIMEOUT(run.steps(), std::int64_t{at} + 1, 30'000);
  const Outcome edit =
      program.run({"steer", "1", "schedule", "step:interval=10,increment=2", "--batch", "6", "--json"});
  QVERIFY2(edit.status == 0, edit.shown().constData());
  QCOMPARE(edit.json()["verb"].toString(), QString("edit"));
  QCOMPARE(edit.json()["taken"].toBool(), true);
  QVERIFY(edit.json()["command"].toInt() > 0);
  QCOMPARE(program.run({"steer", "1", "continue"}).status, 0);
  QTRY_COMPARE_WITH_TIMEOUT(run.events("edit").size(), std::size_t{1}, 30'000);
  const QJsonObject edited = run.events("edit")[0];
  QCOMPARE(edited["step"].toInt(), at + 1);
  QCOMPARE(edited["applies_from_step"].toInt(), at + 2);
  QCOMPARE(edited["batch_before"].toInt(), 4);
  QCOMPARE(edited["batch"].toInt(), 6);

  QCOMPARE(program.run({"steer", "1", "stop"}).status, 0);
  const Outcome trained = CliProgram::finish(train);
  QVERIFY2(trained.status == 130, trained.shown().constData());
  QCOMPARE(trained.json()["status"].toString(), QString("stopped"));
  for (const char* text : {"paused", "resumed", "schedule changed from constant to step:interval=10,increment=2"})
    QVERIFY2(trained.err.contains(text), trained.shown().constData());
  const QJsonObject row = program.run({"list", "--json"}).json()["runs"].toArray()[0].toObject();
  QCOMPARE(row["status"].toString(), QString("stopped"));
  const QJsonArray batches =
      program.run({"show", "1", "--json", "--series", "batch"}).json()["series"].toObject()["batch"].toArray();
  QCOMPARE(batches[at].toArray(), QJsonArray({at + 1, 4}));
  QCOMPARE(batches[at + 1].toArray(), QJsonArray({at + 2, 6}));
  QVERIFY(batchscope::test::refused(program.run({"steer", "1", "pause"}), "run 1 is stopped"));
  QCOMPARE(program.run({"check"}).status, 0);
}

void TestSteer::saysFromWhichStepAnEditApplies() {
  const CliProgram program;
  QProcess train;
  program.start(train, endless_run);
  QVERIFY(begins(train));
  const StoredRun run(program);
  const Outcome edit = program.run({"steer", "1", "schedule", "edited:10-20=9,base=constant", "--json"});
  QVERIFY2(edit.status == 0, edit.shown().constData());
  const QJsonObject event = run.events("edit").at(0);
  QCOMPARE(event["command"].toInt(), edit.json()["command"].toInt());
  QCOMPARE(event["applies_from_step"].toInt(), edit.json()["applies_from_step"].toInt());
  const Outcome said = program.run({"steer", "1", "schedule", "constant", "--batch", "5"});
  QVERIFY2(said.out.startsWith("run 1 changes its schedule from step "), said.shown().constData());
  const Outcome budget = program.run({"steer", "1", "budget", "300MB"});
  QVERIFY2(budget.out.startsWith("run 1 changes its budget from step "), budget.shown().constData());
  QCOMPARE(run.events("budget").at(0)["budget_bytes"].toInt(), 300'000'000);
  const Outcome tiny = program.run({"steer", "1", "budget", "1kB"});
  QVERIFY2(tiny.status == 1 && tiny.err.contains("budget not changed: weights and optimizer use"),
           tiny.shown().constData());
  QVERIFY(
      batchscope::test::refused(program.run({"steer", "1", "shares", "a=1"}), "does not have several data streams"));
  QCOMPARE(program.run({"steer", "1", "stop"}).status, 0);
  QCOMPARE(CliProgram::finish(train).status, 130);
}

void TestSteer::changesTheSharesOfStreams() {
  const CliProgram program;
  QStringList mixed = endless_run;
  QString& data = mixed[mixed.indexOf("--data") + 1];
  data = "a=" + data + ",b=" + data;
  QProcess train;
  program.start(train, mixed);
  QVERIFY(begins(train));
  const StoredRun run(program);
  QVERIFY(batchscope::test::refused(program.run({"steer", "1", "shares", "a=0.5,b=0.6"}), "add up to 1.1"));
  const Outcome said = program.run({"steer", "1", "shares", "a=0.25,b=0.75"});
  QVERIFY2(said.out.startsWith("run 1 changes its shares from step "), said.shown().constData());
  const int from = run.events("shares").at(0)["applies_from_step"].toInt();
  QTRY_VERIFY_WITH_TIMEOUT(run.steps() >= from, 60'000);
  QCOMPARE(program.run({"steer", "1", "stop"}).status, 0);
  QCOMPARE(CliProgram::finish(train).status, 130);
  const QJsonArray examples = program.run({"show", "1", "--json", "--series", "examples/b"})
                                  .json()["series"]
                                  .toObject()["examples/b"]
                                  .toArray();
  if (from > 1)
    QCOMPARE(examples[from - 2].toArray(), QJsonArray({from - 1, 2}));
  QCOMPARE(examples[from - 1].toArray(), QJsonArray({from, 3}));
}

void TestSteer::stopsOneRunOrItsSweep() {
  const CliProgram program;
  QStringList sweep = endless_run;
  sweep.replaceInStrings("train", "sweep");
  sweep[sweep.indexOf("--batch") + 1] = "4,8,16";
  QProcess train;
  program.start(train, sweep);
  QVERIFY(begins(train));
  QCOMPARE(program.run({"steer", "1", "stop"}).status, 0);
  const batchscope::store::RunReader reader(program.path("default.db").toStdString());
  QTRY_COMPARE_WITH_TIMEOUT(reader.list("status = running").size(), std::size_t{1}, 60'000);
  QTRY_COMPARE_WITH_TIMEOUT(reader.run(2).outcome.status, telemetry::RunStatus::running, 60'000); // the sweep goes on
  QCOMPARE(reader.run(1).outcome.status, telemetry::RunStatus::stopped);
  const Outcome all = program.run({"steer", "2", "stop", "--sweep"});
  QVERIFY2(all.status == 0, all.shown().constData());
  QCOMPARE(all.out, QByteArray("run 2 stops at its next step boundary, together with its sweep\n"));
  QCOMPARE(CliProgram::finish(train).status, 130);
  QCOMPARE(reader.list().size(), std::size_t{2});
}

void TestSteer::watchUntilTheEnd() {
  const CliProgram program;
  QProcess train;
  program.start(train, endless_run);
  QVERIFY(begins(train));
  QProcess watch;
  program.start(watch, {"watch", "1", "--json"});
  QVERIFY(begins(watch));
  QCOMPARE(program.run({"steer", "1", "pause"}).status, 0);
  QCOMPARE(program.run({"steer", "1", "continue"}).status, 0);
  QCOMPARE(program.run({"steer", "1", "stop"}).status, 0);
  QCOMPARE(CliProgram::finish(train).status, 130);
  const Outcome watched = CliProgram::finish(watch);
  QVERIFY2(watched.status == 0, watched.shown().constData());
  QVERIFY2(watched.err.contains(": paused\n") && watched.err.contains("run 1 stopped after"),
           watched.shown().constData());
  QCOMPARE(watched.out, program.run({"show", "1", "--json"}).out);
  QCOMPARE(watched.json()["summary"].toObject()["status"].toString(), QString("stopped"));
}

void TestSteer::ctrlCEndsTheWatchingOnly() {
  const CliProgram program;
  QProcess train;
  program.start(train, endless_run);
  QVERIFY(begins(train));
  QProcess watch;
  program.start(watch, {"watch", "1"});
  QVERIFY(begins(watch));
  ::kill(static_cast<pid_t>(watch.processId()), SIGINT);
  const Outcome watched = CliProgram::finish(watch);
  QVERIFY2(watched.status == 130, watched.shown().constData());
  QVERIFY2(watched.out.isEmpty() && watched.err.contains("run 1 is still running"), watched.shown().constData());
  QCOMPARE(train.state(), QProcess::Running);
  QCOMPARE(program.run({"list", "--json", "--where", "status = running"}).json()["runs"].toArray().size(), 1);
  QCOMPARE(program.run({"steer", "1", "stop"}).status, 0);
  QCOMPARE(CliProgram::finish(train).status, 130);
}

void TestSteer::watchWhatIsOver() {
  const CliProgram program;
  QStringList run = endless_run;
  run.replaceInStrings("1000000", "2");
  QCOMPARE(program.run(run).status, 0);
  const Outcome watched = program.run({"watch", "1"});
  QVERIFY2(watched.status == 0, watched.shown().constData());
  QVERIFY2(watched.out.startsWith("run 1\nstatus") && watched.out.contains("finished"), watched.shown().constData());
  QVERIFY2(watched.err.contains("validation loss") && watched.err.contains("run 1 finished after 160 steps"),
           watched.shown().constData());
  QVERIFY(program.run({"watch", "1", "--quiet"}).err.isEmpty());
  QVERIFY(batchscope::test::refused(program.run({"watch", "2"}), "there is no run 2"));
  QVERIFY(batchscope::test::refused(program.run({"steer", "1", "stop"}), "run 1 is finished"));
  // A run that failed is told by the exit status, as train does.
  run.append({"--on-oom", "fail"});
  run.replaceInStrings("50MB", "1MB");
  run.replaceInStrings("mlp:hidden=16", "mlp:hidden=256");
  run.replaceInStrings("400,shape=1x8x8", "4000,shape=1x8x8");
  run[run.indexOf("--batch") + 1] = "3000";
  const Outcome failed = program.run(run);
  QVERIFY2(failed.status == 1 && failed.json()["status"] == "failed", failed.shown().constData());
  QCOMPARE(program.run({"watch", "2"}).status, 1);
}

void TestSteer::aProcessThatDoesNotListen() {
  const CliProgram program;
  QProcess train;
  program.start(train, endless_run);
  QVERIFY(begins(train));
  ::kill(static_cast<pid_t>(train.processId()), SIGSTOP);
  const Outcome ignored = program.run({"steer", "1", "stop"});
  QVERIFY2(ignored.status == 1, ignored.shown().constData());
  QVERIFY2(ignored.err.contains("has not responded for 5 s") && ignored.out.isEmpty(), ignored.shown().constData());
  // Awake again, it finds what it was told.
  ::kill(static_cast<pid_t>(train.processId()), SIGCONT);
  QCOMPARE(CliProgram::finish(train).status, 130);
}

void TestSteer::refused_data() {
  QTest::addColumn<QStringList>("arguments");
  QTest::addColumn<QByteArray>("named");
  const auto row = [](const char* arguments, const char* named) {
    QTest::newRow(arguments) << QString(arguments).split(' ', Qt::SkipEmptyParts) << QByteArray(named);
  };
  row("", "RUN");
  row("1", "COMMAND");
  row("x pause", "\"x\"");
  row("1 halt", "unknown command \"halt\"; accepted: pause, continue, step, stop, schedule, budget, shares");
  row("1 budget", "TEXT");
  row("1 budget much", "much");
  row("1 budget 400MB --batch 3", "--batch");
  row("1 schedule", "TEXT");
  row("1 pause now", "\"now\"");
  row("1 pause --batch 3", "--batch");
  row("1 pause --sweep", "--sweep");
  row("1 pause --save", "--save");
  row("1 stop --save", "not one of a program");
  row("1 stop --save --sweep", "--sweep");
  row("1 schedule edited:10-20=9", "'base=' is missing");
  row("9 pause", "there is no run 9");
  row("1 schedule nope", "nope");
  row("1 schedule step:interval=0,increment=1", "interval");
  row("1 schedule formula:loss+", "loss+");
  row("1 schedule constant --batch 321", "1 to 320");
  row("1 schedule constant --batch 0", "--batch");
}

void TestSteer::refused() {
  QFETCH(QStringList, arguments);
  QFETCH(QByteArray, named);
  if (train_.state() != QProcess::Running) {
    program_.start(train_, endless_run);
    QVERIFY(begins(train_));
  }
  const Outcome outcome = program_.run(QStringList{"steer"} + arguments);
  QVERIFY2(batchscope::test::refused(outcome, named), outcome.shown().constData());
  const StoredRun run(program_);
  QVERIFY(run.events("edit").empty() && run.events("status").empty());
}

void TestSteer::cleanupTestCase() {
  ::kill(static_cast<pid_t>(train_.processId()), SIGINT);
  QCOMPARE(CliProgram::finish(train_).status, 130);
}

BATCHSCOPE_TEST(TestSteer)
#include "tst_steer.moc"
