#include <csignal>
#include <fstream>

#include "core/store/run_row.h"
#include "test_program.h"
#include "tests/app/cli/cli_program.h"
#include "tests/app/cli/stored_rows.h"

using namespace batchscope;
using namespace batchscope::test;
using telemetry::RunStatus;

class TestImport : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void aFileThatHasGrown();
  void followedUntilInterrupted();
  void namesThatSteerATerminal();
  void refused();
};

namespace {

void append(const QString& file, const char* text) {
  std::ofstream(file.toStdString(), std::ios::app) << text;
}

} // namespace

void TestImport::aFileThatHasGrown() {
  const CliProgram program;
  const QString file = program.write("metrics.csv", "step,train_loss\n1,0.5\n");
  QCOMPARE(program.run({"import", file, "--json"}).json()["imported"].toArray(), QJsonArray({1}));
  append(file, "2,0.25\n");
  const Outcome grown = program.run({"import", file, "--json"});
  QVERIFY2(grown.status == 0, grown.shown());
  QCOMPARE(grown.json(), (QJsonObject{{"imported", QJsonArray()},
                                      {"known", QJsonArray({1})},
                                      {"extended", QJsonArray({1})},
                                      {"remarks", QJsonArray()}}));
  const Outcome same = program.run({"import", file});
  QVERIFY2(same.out == "0 imported, 1 already there\n", same.shown());
  QCOMPARE(rows_of(program).front().outcome.steps, std::int64_t{2});
}

/// The run grows with its file, `watch` sees it in another process, and Ctrl-C ends the following and not the run.
void TestImport::followedUntilInterrupted() {
  const CliProgram program;
  const QString file = program.write("run.csv", "step,train_loss\n1,0.5\n2,0.");
  QProcess follow;
  program.start(follow, {"import", file, "--follow"});
  QTRY_VERIFY_WITH_TIMEOUT(!rows_of(program).empty(), 30'000);
  QProcess watch;
  program.start(watch, {"watch", "1"});
  QByteArray said;
  QTRY_VERIFY_WITH_TIMEOUT((said += watch.readAllStandardError()).contains("run 1: run"), 30'000);
  QCOMPARE(rows_of(program).front().outcome.status, RunStatus::running);
  QCOMPARE(rows_of(program).front().outcome.steps, std::int64_t{1});
  append(file, "25\n3,0.125\n");
  QTRY_COMPARE_WITH_TIMEOUT(rows_of(program).front().outcome.steps, std::int64_t{3}, 30'000);
  QCOMPARE(rows_of(program).front().outcome.status, RunStatus::running);
  QCOMPARE(::kill(static_cast<pid_t>(follow.processId()), SIGINT), 0);
  const Outcome followed = CliProgram::finish(follow);
  QVERIFY2(followed.status == 0 && followed.out == "1 imported, 0 already there\n", followed.shown());
  const Outcome watched = CliProgram::finish(watch);
  QVERIFY2(watched.status == 0 && watched.out.contains("finished"), watched.shown());
  const auto rows = rows_of(program);
  QVERIFY(rows.size() == 1 && rows.front().outcome.status == RunStatus::finished);
  QCOMPARE(rows.front().outcome.loss, std::optional(0.125));
}

/// Colours, titles and other directions of writing of foreign names reach no terminal; JSON has them as they are.
void TestImport::namesThatSteerATerminal() {
  const CliProgram program;
  const QString name = QStringLiteral("a\x1b[31mb\x1b]0;c\x07") + QChar(0x202E) + QStringLiteral("d");
  const QString file = program.write(name + ".csv", "step,train_loss,\x1b[31mextra\n1,0.5,2\n");
  for (const QStringList& arguments :
       {QStringList{"import", file}, QStringList{"import", program.path(name)}, QStringList{"list"},
        QStringList{"show", "1"}, QStringList{"compare", "1"}, QStringList{"note", "1", name},
        QStringList{"tag", "1", name}, QStringList{"rename", "1", name}, QStringList{"list", "--filter", name}}) {
    const Outcome outcome = program.run(arguments);
    for (const QByteArray& text : {outcome.out, outcome.err}) {
      QVERIFY2(!text.contains('\x1b') && !text.contains('\x07') && !text.contains("\xE2\x80\xAE"),
               (arguments.join(' ').toUtf8() + ": " + text).constData());
    }
  }
  QVERIFY(program.run({"list", "--json"})
              .json()["runs"]
              .toArray()[0]
              .toObject()["name"]
              .toString()
              .contains(QChar(0x202E)));
}

void TestImport::refused() {
  const CliProgram program;
  const QString file = program.write("a.csv", "x\n1\n");
  VERIFY_REFUSED(program, program.run({"import"}), "FILE");
  VERIFY_REFUSED(program, program.run({"import", file}), "no column counts the steps");
  VERIFY_REFUSED(program, program.run({"import", file, "--follow"}), "no column counts the steps");
  VERIFY_REFUSED(program, program.run({"import", program.path("missing"), "--follow"}), "no such file");
  VERIFY_REFUSED(program, program.run({"import", file, "--map", "x"}), "--map");
}

BATCHSCOPE_TEST(TestImport)
#include "tst_import.moc"
