#include "test_program.h"
#include "tests/app/cli/cli_program.h"

using namespace batchscope::test;

class TestFind : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void workedSequences_data();
  void workedSequences();
  void nothingFits();
  void pretendedAnswersAreWhatTheDocumentSays();
  void tellsTheLargestFromTheLargestTried();
  void realSearchIsStoredAndShown();
  void sizesAreTrainedForAGoal_data();
  void sizesAreTrainedForAGoal();
  void budgetBelowTheModel();
  void refused_data();
  void refused();
};

namespace {

QString sequence(const QJsonObject& search) {
  QStringList sizes;
  for (const auto& value : search["probes"].toArray()) {
    const QJsonObject probe = value.toObject();
    sizes += QString::number(probe["batch"].toInt()) + (probe["outcome"] == "oom" ? "x" : "");
  }
  return sizes.join(' ');
}

} // namespace

void TestFind::workedSequences_data() {
  QTest::addColumn<QStringList>("arguments");
  QTest::addColumn<QString>("probes");
  QTest::addColumn<int>("largest");
  const auto row = [](const char* name, const char* arguments, const char* probes, int largest) {
    QTest::newRow(name) << QString(arguments).split(' ') << QString(probes) << largest;
  };
  row("binary", "--strategy binary --start 2 --capacity 100", "2 4 8 16 32 64 128x 96 112x 104x 100 102x 101x", 100);
  row("halving", "--strategy halving --start 500 --capacity 100", "500x 250x 125x 62", 62);
  row("halving to 1", "--strategy halving --start 64 --capacity 1", "64x 32x 16x 8x 4x 2x 1", 1);
  row("shrink", "--strategy shrink --start 128 --capacity 8",
      "128x 115x 103x 92x 82x 73x 65x 58x 52x 46x 41x 36x 32x 28x 25x 22x 19x 17x 15x 13x 11x 9x 8", 8);
}

void TestFind::workedSequences() {
  QFETCH(QStringList, arguments);
  QFETCH(QString, probes);
  QFETCH(int, largest);
  const Outcome outcome = CliProgram().run(QStringList{"find", "--json"} + arguments);
  QVERIFY2(outcome.status == 0, outcome.shown().constData());
  QCOMPARE(sequence(outcome.json()), probes);
  QCOMPARE(outcome.json()["largest"].toInt(), largest);
}

void TestFind::nothingFits() {
  const CliProgram program;
  for (const char* strategy : {"halving", "shrink", "doubling", "power", "binary", "predictive"}) {
    const Outcome outcome =
        program.run({"find", "--json", "--strategy", strategy, "--capacity", "0", "--max-batch", "64"});
    QVERIFY2(outcome.status == 1, outcome.shown().constData());
    QCOMPARE(outcome.json()["status"].toString(), QString("nothing-fits"));
    QVERIFY(outcome.json()["largest"].isNull());
  }
  QVERIFY(program.files().isEmpty());
}

void TestFind::pretendedAnswersAreWhatTheDocumentSays() {
  const CliProgram program;
  const QJsonObject search = program.run({"find", "--json", "--strategy", "binary", "--capacity", "100"}).json();
  QCOMPARE(search["strategy"].toString(), QString("binary"));
  QCOMPARE(search["status"].toString(), QString("found"));
  QCOMPARE(search["safe"].toInt(), 80);
  QVERIFY(search.contains("recommended") && search["recommended"].isNull());
  QVERIFY(search["baseline_bytes"].isNull() && search["budget_bytes"].isNull() && search["search"].isNull());
  QVERIFY(search["timings"].toArray().isEmpty());
  const QJsonObject probe = search["probes"].toArray()[0].toObject();
  QCOMPARE(probe["outcome"].toString(), QString("fits"));
  for (const char* field : {"peak_bytes", "predicted_bytes", "seconds", "examples_per_second"})
    QVERIFY2(probe.contains(field) && probe[field].isNull(), field);
  QVERIFY(program.files().isEmpty());
}

void TestFind::tellsTheLargestFromTheLargestTried() {
  const CliProgram program;
  const QStringList halving{"find", "--strategy", "halving", "--start", "128", "--capacity", "206"};
  QCOMPARE(program.run(halving + QStringList{"--json"}).json()["largest_is"].toString(), QString("tried"));
  QVERIFY(program.run(halving).out.contains("largest tried  128"));
  const QStringList binary{"find", "--strategy", "binary", "--capacity", "206"};
  QCOMPARE(program.run(binary + QStringList{"--json"}).json()["largest_is"].toString(), QString("exact"));
  const Outcome text = program.run(binary);
  QVERIFY2(text.out.contains("largest      206"), text.shown().constData());
  const Outcome nothing = program.run({"find", "--capacity", "0", "--json"});
  QVERIFY(nothing.json().contains("largest_is") && nothing.json()["largest_is"].isNull());
}

void TestFind::realSearchIsStoredAndShown() {
  const CliProgram program;
  const Outcome outcome =
      program.run({"find", "--json", "--model", "mlp:hidden=32", "--data",
                   "synthetic:examples=400,shape=1x16x16,classes=4", "--memory-budget", "4MB", "--no-timings"});
  QVERIFY2(outcome.status == 0, outcome.shown().constData());
  const QJsonObject search = outcome.json();
  QVERIFY(search["largest"].toInt() >= search["safe"].toInt());
  QVERIFY(search["safe"].toInt() >= 1);
  QVERIFY(search["timings"].toArray().isEmpty());
  QCOMPARE(search["budget_bytes"].toInt(), 4'000'000);
  const Outcome shown = program.run({"show", "--json", "--search", QString::number(search["search"].toInt())});
  QVERIFY2(shown.status == 0, shown.shown().constData());
  QCOMPARE(shown.json()["probes"].toArray(), search["probes"].toArray());
  // What was predicted is kept with it: at the largest size within its error of what was seen there.
  QCOMPARE(shown.json()["memory"].toObject(), search["memory"].toObject());
  const QJsonObject memory = search["memory"].toObject();
  QVERIFY(memory["error"].toDouble() < 0.01);
  QVERIFY(memory["points"].toArray().size() >= 16);
  const Outcome text = program.run({"show", "--search", QString::number(search["search"].toInt())});
  QVERIFY2(text.out.contains("memory use at the largest size"), text.shown().constData());
  QVERIFY2(text.out.contains("parameters ") && text.out.contains("optimizer "), text.shown().constData());
}

void TestFind::sizesAreTrainedForAGoal_data() {
  QTest::addColumn<QString>("goal");
  QTest::addColumn<QString>("results");
  QTest::newRow("accuracy") << "accuracy"
                            << "scores";
  QTest::newRow("target") << "target:60%"
                          << "seconds";
  QTest::newRow("time") << "time:50ms"
                        << "scores";
}

/// The answer is that of `compare` about the stored sweep, whose runs were really made.
void TestFind::sizesAreTrainedForAGoal() {
  QFETCH(QString, goal);
  QFETCH(QString, results);
  const CliProgram program;
  const Outcome outcome =
      program.run({"find", "--json", "--model", "mlp:hidden=16", "--data", "synthetic:examples=300,shape=16,classes=3",
                   "--memory-budget", "2MB", "--max-batch", "40", "--goal", goal, "--repeats", "2", "--lr", "0.01"});
  QVERIFY2(outcome.status == 0, outcome.shown().constData());
  const QJsonObject found = outcome.json();
  QCOMPARE(found["goal"].toString(), goal);
  const QJsonArray sizes = found["trained"].toArray();
  QVERIFY(sizes.size() >= 2);
  const QString sweep = QString::number(found["sweep"].toInt());
  const Outcome compared = program.run({"compare", "--json", "--sweep", sweep});
  QVERIFY2(compared.status == 0, compared.shown().constData());
  QCOMPARE(compared.json()["answer"].toObject()["text"], found["reason"]);
  QCOMPARE(compared.json()["runs"].toArray().size(), 2 * sizes.size());
  bool recommended = false;
  for (const auto& value : sizes) {
    const QJsonObject size = value.toObject();
    recommended = recommended || size["batch"] == found["recommended"];
    for (const auto& result : size[results].toArray())
      QVERIFY(result.toDouble() > 0);
  }
  QVERIFY(recommended);
  if (goal.startsWith("target"))
    for (const auto& accuracy : compared.json()["metrics"].toObject()["validation_accuracy"].toArray())
      QVERIFY(accuracy.toDouble() >= 0.6);
}

void TestFind::budgetBelowTheModel() {
  const CliProgram program;
  const Outcome outcome =
      program.run({"find", "--json", "--model", "mlp:hidden=4096", "--data", "demo", "--memory-budget", "1MB"});
  QVERIFY2(outcome.status == 1, outcome.shown().constData());
  QVERIFY2(outcome.err.contains("batchscope-cli: error: ") || outcome.json()["status"] == "nothing-fits",
           outcome.shown().constData());
}

void TestFind::refused_data() {
  QTest::addColumn<QString>("arguments");
  QTest::addColumn<QByteArray>("named");
  const auto row = [](const char* arguments, const QByteArray& named) {
    QTest::newRow(arguments) << QString(arguments) << named;
  };
  row("--capacity -1", "--capacity");
  row("--evaluation --model cnn", "--evaluation");
  row("--capacity x", "--capacity");
  row("--capacity 10 --strategy guess", "guess");
  row("--capacity 10 --start 0", "--start");
  row("--capacity 10 --factor 1", "--factor");
  row("--goal fastest", "--goal");
  row("--goal target", "target:SCORE");
  row("--goal accuracy --capacity 10", "--capacity");
  row("--goal accuracy --no-timings", "--no-timings");
  row("--repeats 2", "--goal");
  row("--capacity 10 --factor nan", "--factor");
  row("--capacity 10 --max-batch 0", "--max-batch");
  row("--capacity 10 --margin 1", "--margin");
  row("--capacity 10 --margin -0.1", "--margin");
  row("--capacity 10 --model cnn", "--model");
  row("--strategy guess", "guess");
  row("--memory-budget 999999", "--memory-budget");
  row("--memory-budget 0", "--memory-budget");
  row("--memory-budget -1MB", "--memory-budget");
  row("--memory-budget 3XB", "--memory-budget");
  row("--memory-budget 99999999999GB", "--memory-budget");
  row("--batch 4", "--batch");
  row("--model nope", "nope");
  row("--model cnn:width=0", "width");
  row("--data nope", "nope");
  row("--device gpu", "--device");
}

void TestFind::refused() {
  QFETCH(QString, arguments);
  QFETCH(QByteArray, named);
  const CliProgram program;
  VERIFY_REFUSED(program, program.run(QStringList{"find", "--json"} + arguments.split(' ')), named);
  QVERIFY(program.files().isEmpty());
}

BATCHSCOPE_TEST(TestFind)
#include "tst_find.moc"
