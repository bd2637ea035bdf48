#include "core/compare/runs.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "test_program.h"
#include "tests/app/cli/cli_program.h"

using namespace batchscope::test;
namespace store = batchscope::store;

/// Comparisons of runs that were stored with known results.
class TestCompare : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void answersWithItsReason();
  void namesWhatDiffers();
  void pointsBetweenEpochsCount();
  void markdownPastes();
  void runsOfOtherPrograms();
  void refused_data();
  void refused();
};

namespace {

void add_run(store::RunStore& runs, std::int64_t sweep, int batch, int seed, double accuracy) {
  store::NewRun run;
  run.name = "batch " + std::to_string(batch) + " | <b>";
  run.spec_json = R"({"version":1,"model":"cnn","batch":)" + std::to_string(batch) + R"(,"seed":)" +
                  std::to_string(seed) + R"(,"lr":null})";
  run.sweep = sweep;
  run.batch = batch;
  const auto writer = runs.begin(run);
  batchscope::telemetry::Event evaluation;
  evaluation.step = 10;
  evaluation.seconds = 2;
  evaluation.body = batchscope::telemetry::Evaluation{};
  evaluation.values = {{"validation_loss", 1 - accuracy}, {"validation_accuracy", accuracy}};
  writer->sink().event(evaluation);
  batchscope::telemetry::RunOutcome outcome;
  outcome.status = batchscope::telemetry::RunStatus::finished;
  outcome.batch = batch;
  outcome.validation_accuracy = accuracy;
  outcome.validation_loss = 1 - accuracy;
  outcome.seconds = 2;
  outcome.examples_per_second = 100 * batch;
  outcome.peak_bytes = static_cast<std::uint64_t>(batch) * 1'000'000;
  writer->finish(outcome);
}

void fill(const CliProgram& program) {
  store::RunStore runs(program.path("default.db").toStdString());
  const std::int64_t sweep = runs.add_sweep("{}");
  for (const int seed : {1, 2, 3}) {
    add_run(runs, sweep, 16, seed, 0.90 + seed * 0.001);
    add_run(runs, sweep, 64, seed, 0.95 + seed * 0.002);
  }
}

} // namespace

void TestCompare::answersWithItsReason() {
  const CliProgram program;
  fill(program);
  const Outcome outcome = program.run({"compare", "--sweep", "1"});
  QVERIFY2(outcome.status == 0, outcome.shown());
  QVERIFY2(outcome.out.startsWith("Batch size 64: the best validation accuracy, 95.4 % ± 0.5 over 3 seeds."),
           outcome.shown());
  const QJsonObject answer = program.run({"compare", "--sweep", "1", "--json"}).json()["answer"].toObject();
  QCOMPARE(answer["runs"].toArray(), QJsonArray({2, 4, 6}));
  QCOMPARE(answer["certain"].toBool(), true);
  const QJsonObject other =
      program.run({"compare", "--sweep", "1", "--json", "--goal", "target:92%"}).json()["answer"].toObject();
  QVERIFY(other["text"].toString().contains("1 combination has no result for this goal"));
}

void TestCompare::namesWhatDiffers() {
  const CliProgram program;
  fill(program);
  const QJsonObject json = program.run({"compare", "2", "1", "--baseline", "1", "--json"}).json();
  QCOMPARE(json["runs"].toArray(), QJsonArray({2, 1}));
  QCOMPARE(json["differing"].toObject(), QJsonObject({{"batch", QJsonArray({64, 16})}}));
  QCOMPARE(json["same"].toObject()["model"].toString(), QString("cnn"));
  QVERIFY(json["same"].toObject()["lr"].isNull());
  QCOMPARE(json["metrics"].toObject()["peak_bytes"].toArray(), QJsonArray({64'000'000, 16'000'000}));
  QCOMPARE(json["deltas"].toObject()["peak_bytes"].toArray(), QJsonArray({48'000'000, 0}));
  const Outcome text = program.run({"compare", "2", "1", "--baseline", "1"});
  QVERIFY2(text.out.contains("vs 1") && text.out.contains("+300.0 %") && text.out.contains("points"), text.shown());
  QVERIFY(!text.out.contains("cnn"));
  QVERIFY(program.run({"compare", "2", "1", "--all-columns"}).out.contains("cnn"));
}

void TestCompare::pointsBetweenEpochsCount() {
  const CliProgram program;
  for (const char* batch : {"8", "16"}) {
    const Outcome trained =
        program.run({"train", "--model", "mlp:hidden=8", "--data", "synthetic:examples=500,shape=1x8x8,classes=2",
                     "--memory-budget", "50MB", "--batch", batch, "--steps", "20", "--evaluate-every", "5"});
    QVERIFY2(trained.status == 0, trained.shown());
  }
  const auto runs = batchscope::compare::read_runs(store::RunReader(program.path("default.db").toStdString()), {1, 2});
  for (const auto& run : runs) {
    QCOMPARE(run.accuracies.size(), std::size_t{4}); // an epoch has 50 or 25 steps: none ends
    QVERIFY(run.accuracies.front().seconds < run.accuracies.back().seconds);
  }
  // The first evaluation is within this time, the end of the epoch is not.
  const double time = runs[0].accuracies.front().seconds;
  const Outcome outcome =
      program.run({"compare", "1", "2", "--goal", "time:" + QString::number(time, 'g', 17), "--json"});
  QVERIFY2(outcome.json()["answer"].toObject()["text"].toString().contains("validation accuracy within"),
           outcome.shown());
}

void TestCompare::markdownPastes() {
  const CliProgram program;
  fill(program);
  const QList<QByteArray> lines = program.run({"compare", "--sweep", "1", "--markdown"}).out.trimmed().split('\n');
  QCOMPARE(lines.size(), 10); // answer, empty, header, rule, six runs
  QVERIFY(lines[0].startsWith("**Batch size 64: ") && lines[0].endsWith("**"));
  const auto cells = lines[2].count('|');
  for (int row = 3; row < lines.size(); ++row)
    QCOMPARE(lines[row].count('|'), cells);
}

void TestCompare::runsOfOtherPrograms() {
  const CliProgram program;
  {
    store::RunStore runs(program.path("default.db").toStdString());
    for (const char* spec : {"not JSON", R"({"width":[1,2],"note":"a|b"})"}) {
      store::NewRun run;
      run.spec_json = spec;
      batchscope::telemetry::RunOutcome outcome;
      outcome.status = batchscope::telemetry::RunStatus::finished;
      runs.add_finished(run, outcome);
    }
  }
  const Outcome outcome = program.run({"compare", "1", "2"});
  QVERIFY2(outcome.status == 0, outcome.shown());
  QVERIFY2(outcome.out.startsWith("No answer: "), outcome.shown());
  QVERIFY2(program.run({"compare", "1", "2", "--markdown"}).out.contains("a\\|b"), "a bar ends no cell");
}

void TestCompare::refused_data() {
  QTest::addColumn<QString>("arguments");
  QTest::addColumn<QByteArray>("named");
  const auto row = [](const char* arguments, const QByteArray& named) {
    QTest::newRow(arguments) << QString(arguments) << named;
  };
  row("1", "at least two runs");
  row("1 1", "at least two runs");
  row("1 99", "99");
  row("--sweep 7", "7");
  row("1 2 --baseline 3", "--baseline");
  row("1 2 --goal speed", "--goal");
  row("1 x", "\"x\"");
}

void TestCompare::refused() {
  QFETCH(QString, arguments);
  QFETCH(QByteArray, named);
  const CliProgram program;
  fill(program);
  const Outcome outcome = program.run(QStringList{"compare"} + arguments.split(' '));
  QVERIFY2(batchscope::test::refused(outcome, named), outcome.shown());
}

BATCHSCOPE_TEST(TestCompare)
#include "tst_compare.moc"
