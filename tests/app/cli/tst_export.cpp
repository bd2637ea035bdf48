#include "core/store/run_store.h"
#include "test_program.h"
#include "tests/app/cli/cli_program.h"

using namespace batchscope;
using namespace batchscope::test;

class TestExport : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void eachRunOnce();
};

void TestExport::eachRunOnce() {
  const CliProgram program;
  {
    store::RunStore store(program.path("default.db").toStdString());
    for (int i = 0; i < 3; ++i) {
      store::NewRun run;
      run.spec_json = "{}";
      store::RunOutcome outcome;
      outcome.status = "finished";
      store.add_finished(run, outcome);
    }
  }
  const Outcome outcome =
      program.run({"export", "3", "1", "3", "--format", "json", "-o", program.path("runs.json"), "--json"});
  QVERIFY2(outcome.status == 0, outcome.shown().constData());
  QCOMPARE(outcome.json()["exported"].toArray(), QJsonArray({3, 1}));
  QFile file(program.path("runs.json"));
  QVERIFY(file.open(QIODevice::ReadOnly));
  const QJsonArray runs = QJsonDocument::fromJson(file.readAll()).object()["runs"].toArray();
  QCOMPARE(runs.size(), 2);
  QCOMPARE(runs[0].toObject()["run"].toInt(), 3);
  QCOMPARE(runs[1].toObject()["run"].toInt(), 1);
}

BATCHSCOPE_TEST(TestExport)
#include "tst_export.moc"
