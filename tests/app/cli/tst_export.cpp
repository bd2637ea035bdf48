#include "core/store/run_store.h"
#include "test_events.h"
#include "test_program.h"
#include "tests/app/cli/cli_program.h"

using namespace batchscope;
using namespace batchscope::test;

class TestExport : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void eachRunOnce();
  void aRunOfAnotherProgram();
};

void TestExport::eachRunOnce() {
  const CliProgram program;
  {
    store::RunStore store(program.path("default.db").toStdString());
    for (int i = 0; i < 3; ++i) {
      store::NewRun run;
      run.spec_json = "{}";
      telemetry::RunOutcome outcome;
      outcome.status = telemetry::RunStatus::finished;
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

/// It has a name, records and events and nothing else: neither a spec nor a start of this program.
void TestExport::aRunOfAnotherProgram() {
  const CliProgram program;
  {
    store::RunStore store(program.path("default.db").toStdString());
    store::NewRun run;
    run.name = "theirs";
    run.spec_json = "any text";
    run.start_json = "";
    const auto writer = store.begin(run);
    for (std::int64_t step = 1; step <= 5; ++step) {
      telemetry::StepRecord record;
      record.step = step;
      record.loss = 0.5;
      record.more = {{"tokens, per second", 100.0}};
      writer->sink().record(record);
    }
    writer->sink().event(event_of(5, 1, "note", R"({"message":"halfway"})"));
    writer->finish({.status = telemetry::RunStatus::finished, .steps = 5});
  }
  for (const QStringList& verb : {QStringList{"list"}, {"show", "1"}, {"watch", "1"}}) {
    const Outcome text = program.run(verb);
    QVERIFY2(text.status == 0 && text.out.contains(verb[0] == "watch" ? "finished" : "theirs"), text.shown());
    const Outcome json = program.run(verb + QStringList{"--json"});
    QVERIFY2(json.status == 0 && !json.json().isEmpty(), json.shown());
  }
  QVERIFY(program.run({"show", "1"}).out.contains("halfway"));
  QCOMPARE(program.run({"show", "1", "--series", "tokens, per second", "--json"}).status, 2); // the list's separator
  for (const QString format : {"csv", "json"}) {
    const Outcome outcome = program.run({"export", "1", "--format", format, "-o", program.path("out." + format)});
    QVERIFY2(outcome.status == 0, outcome.shown().constData());
  }
  QFile csv(program.path("out.csv"));
  QVERIFY(csv.open(QIODevice::ReadOnly));
  const QByteArray head = csv.readLine().trimmed();
  QVERIFY2(head.startsWith("run,step,examples_seen,") && head.endsWith(",peak_bytes,\"tokens, per second\""), head);
  QVERIFY(csv.readLine().trimmed().endsWith(",100"));
}

BATCHSCOPE_TEST(TestExport)
#include "tst_export.moc"
