#include <csignal>

#include "test_program.h"
#include "tests/app/cli/cli_program.h"

using namespace batchscope::test;

/// train --resume, and what prune does with checkpoints.
class TestResume : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void goesOnAfterCtrlC();
  void refusals();
  void pruneRemovesCheckpointsOfRunsThatAreGone();
};

namespace {

QStringList checkpointed_run(const QStringList& more) {
  return QStringList{"train",        "--json", "--model",
                     "mlp:hidden=8", "--data", "synthetic:examples=400,shape=1x8x8,classes=4",
                     "--batch",      "10"} +
         more;
}

QStringList checkpoints(const CliProgram& program) {
  QStringList files;
  const QDir folder(program.path("default.db-checkpoints"));
  for (const QString& run : folder.entryList(QDir::Dirs | QDir::NoDotAndDotDot))
    files += QDir(folder.filePath(run)).entryList(QDir::Files);
  return files;
}

} // namespace

void TestResume::goesOnAfterCtrlC() {
  const CliProgram program;
  QProcess process;
  // Long enough that it is stopped in the middle.
  program.start(process, checkpointed_run({"--examples", "1000000", "--checkpoint-minutes", "0.000001"}));
  QTRY_VERIFY_WITH_TIMEOUT(!checkpoints(program).isEmpty(), 60'000);
  ::kill(static_cast<pid_t>(process.processId()), SIGINT);
  const Outcome stopped = CliProgram::finish(process);
  QVERIFY2(stopped.status == 130, stopped.shown().constData());
  const int steps = stopped.json()["steps"].toInt();
  QVERIFY2(checkpoints(program).contains(QStringLiteral("step-%1.safetensors").arg(steps)), // none is made again
           qPrintable(checkpoints(program).join(' ')));

  program.start(process, {"train", "--resume", "1", "--json"});
  const auto resumed = [&] { return program.run({"show", "1"}).out.contains("resumed: from the checkpoint at step"); };
  QTRY_VERIFY_WITH_TIMEOUT(resumed(), 60'000);
  QVERIFY(refused(program.run({"train", "--resume", "1"}), "run 1 is running"));
  ::kill(static_cast<pid_t>(process.processId()), SIGINT);
  const Outcome again = CliProgram::finish(process);
  QVERIFY2(again.status == 130, again.shown().constData());
  QCOMPARE(again.json()["run"].toInt(), 1); // the same run
  QVERIFY(again.json()["steps"].toInt() >= steps);
  const QJsonArray loss =
      program.run({"show", "1", "--series", "loss", "--json"}).json()["series"].toObject()["loss"].toArray();
  QCOMPARE(loss.size(), again.json()["steps"].toInt());
  QCOMPARE(program.run({"check"}).status, 0);
}

void TestResume::refusals() {
  const CliProgram program;
  QVERIFY(refused(program.run({"train", "--resume", "1"}), "no such run database")); // and none is made
  QVERIFY(!QFile::exists(program.path("default.db")));
  QCOMPARE(program.run(checkpointed_run({"--steps", "3"})).status, 0);
  QCOMPARE(program.run(checkpointed_run({"--steps", "3", "--checkpoint-every", "2"})).status, 0);
  QVERIFY(refused(program.run({"train", "--resume", "1"}), "run 1 has finished"));
  QVERIFY(refused(program.run({"train", "--resume", "9"}), "there is no run 9"));
  QVERIFY(refused(program.run({"train", "--resume", "x"}), "--resume"));
  QVERIFY(refused(program.run({"train", "--resume", "1", "--lr", "0.1"}), "no other options, but --lr was given"));
  QVERIFY(refused(program.run({"train", "spec.json", "--resume", "1"}), "--resume"));
  QVERIFY(refused(program.run({"train", "--checkpoint-every", "0"}), "--checkpoint-every"));
  QVERIFY(refused(program.run({"train", "--checkpoint-minutes", "0"}), "--checkpoint-minutes"));
}

void TestResume::pruneRemovesCheckpointsOfRunsThatAreGone() {
  const CliProgram program;
  for (int run = 0; run < 2; ++run)
    QCOMPARE(program.run(checkpointed_run({"--steps", "3", "--checkpoint-every", "1"})).status, 0);
  const auto before = checkpoints(program).size();
  const auto pruned = [&](const QStringList& more) {
    return program.run(QStringList{"prune", "--json"} + more).json();
  };
  QCOMPARE(program.run({"delete", "1"}).status, 0);
  QCOMPARE(pruned({"--yes"})["checkpoints"].toInt(), 0); // it can be restored
  QCOMPARE(program.run({"purge", "--yes"}).status, 0);
  const QByteArray listed = program.run({"prune"}).out;
  QVERIFY2(listed.contains("of 1 run that is gone") && listed.contains("default.db-checkpoints"), listed.constData());
  QCOMPARE(checkpoints(program).size(), before);
  const int gone = pruned({})["checkpoints"].toInt();
  QVERIFY(gone >= 2);
  const QJsonObject removed = pruned({"--yes"});
  QCOMPARE(removed["checkpoints"].toInt(), gone);
  QVERIFY(removed["checkpoint_bytes"].toInt() > 1000);
  QCOMPARE(checkpoints(program).size(), before - gone);
  QCOMPARE(pruned({})["checkpoints"].toInt(), 0);
}

BATCHSCOPE_TEST(TestResume)
#include "tst_resume.moc"
