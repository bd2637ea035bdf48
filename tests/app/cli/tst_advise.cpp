#include <QSet>

#include "test_program.h"
#include "tests/app/cli/cli_program.h"

using namespace batchscope::test;

/// Advice on the command line, and the rules on runs that were really trained, wrong and right.
class TestAdvise : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void rows();
  void tables();
  void refused_data();
  void refused();
  void trainedWrong_data();
  void trainedWrong();
  void sweepTrainedWrong();
  void importedRun();
  void trainedAsAdvised_data();
  void trainedAsAdvised();
};

namespace {

QSet<QString> rules_of(const Outcome& outcome) {
  QSet<QString> rules;
  for (const auto& finding : outcome.json()["findings"].toArray())
    rules.insert(finding.toObject()["rule"].toString());
  return rules;
}

const QString tiny_net = "mlp:hidden=8";
const QString few_images = "synthetic:examples=500,shape=1x8x8,classes=4"; // 400 to train

} // namespace

void TestAdvise::rows() {
  const Outcome outcome = CliProgram().run({"advise", "--vram", "16GB", "--model-size", "7B", "--quantization", "4bit",
                                            "--task", "instruction-tuning", "--json"});
  QVERIFY2(outcome.status == 0, outcome.shown().constData());
  const QJsonObject row = outcome.json()["rows"].toArray()[0].toObject();
  QCOMPARE(row["micro_batch"].toArray(), QJsonArray({4, 8}));
  QCOMPARE(row["accumulate"].toArray(), QJsonArray({4, 8}));
  QVERIFY(row["source"].toString().contains("selection matrix"));
  QCOMPARE(outcome.json()["start"].toObject()["effective_batch"].toInt(), 32);
  QVERIFY(outcome.json()["find"].toString().endsWith("--for 16GB"));
  QVERIFY(CliProgram().run({"advise", "--vram", "rtx-4090", "--task", "fine-tuning"}).out.contains("disagree"));
}

void TestAdvise::tables() {
  for (const char* name :
       {"sizes", "rules", "accuracies", "costs", "red-flags", "excuses", "tasks", "shapes", "sources"}) {
    const Outcome outcome = CliProgram().run({"advise", "--table", name, "--json"});
    QVERIFY2(outcome.status == 0, outcome.shown().constData());
    QVERIFY(!outcome.json()["rows"].toArray().isEmpty());
    QVERIFY(CliProgram().run({"advise", "--table", name}).out.count('\n') > outcome.json()["rows"].toArray().size());
  }
}

void TestAdvise::refused_data() {
  QTest::addColumn<QStringList>("options");
  QTest::addColumn<QByteArray>("named");
  QTest::newRow("task") << QStringList{"--task", "poetry"} << QByteArray("instruction-tuning");
  QTest::newRow("size") << QStringList{"--model-size", "big"} << QByteArray("--model-size");
  QTest::newRow("card") << QStringList{"--vram", "rtx-1"} << QByteArray("nearest");
  QTest::newRow("memory without a unit") << QStringList{"--vram", "16"} << QByteArray("16 bytes");
  QTest::newRow("quantization") << QStringList{"--quantization", "3bit"} << QByteArray("4bit, 16bit");
  QTest::newRow("table") << QStringList{"--table", "all"} << QByteArray("red-flags");
  QTest::newRow("run and question") << QStringList{"1", "--task", "chat"} << QByteArray("--task");
  QTest::newRow("no database") << QStringList{"1"} << QByteArray("default.db");
  QTest::newRow("data") << QStringList{"--data", "csv:none.csv,target=a"} << QByteArray("none.csv");
}

void TestAdvise::refused() {
  QFETCH(QStringList, options);
  QFETCH(QByteArray, named);
  CliProgram program;
  VERIFY_REFUSED(program, program.run(QStringList{"advise"} + options), named);
}

void TestAdvise::trainedWrong_data() {
  QTest::addColumn<QStringList>("options");
  QTest::addColumn<QStringList>("rules");
  const QStringList net{"--model", tiny_net, "--data", few_images};
  const QStringList steps{"--steps", "2"};
  const QStringList batch_norm{"--model", "cnn:width=8,norm=batch", "--data",
                               "synthetic:examples=500,shape=1x16x16,classes=4"};
  QTest::newRow("batch norm and rate") << batch_norm + steps +
                                              QStringList{"--batch", "8", "--lr-rule", "linear", "--lr-reference-batch",
                                                          "1"}
                                       << QStringList{"batch-norm-small-micro-batch", "no-warmup"};
  QTest::newRow("accumulation") << net + steps + QStringList{"--batch", "1", "--accumulate", "20"}
                                << QStringList{"accumulation-above-16", "accumulation-not-needed"};
  QTest::newRow("fine-tuning") << net + steps + QStringList{"--task", "fine-tuning", "--batch", "300"}
                               << QStringList{"fine-tuning-batch", "fine-tuning-rate", "batch-too-large-for-data"};
  QTest::newRow("largest") << QStringList{"--model",     tiny_net, "--data",  few_images + ",validation=0",
                                          "--max-batch", "20",     "--batch", "auto:largest"} +
                                  steps
                           << QStringList{"largest-not-validated"};
  QTest::newRow("growing") << net + QStringList{"--batch", "4", "--schedule", "linear:max=16", "--epochs", "1"}
                           << QStringList{"growing-short-training", "rate-not-scaled"};
}

void TestAdvise::trainedWrong() {
  QFETCH(QStringList, options);
  QFETCH(QStringList, rules);
  CliProgram program;
  const Outcome trained = program.run(QStringList{"train", "--json"} + options);
  QVERIFY2(trained.status == 0, trained.shown().constData());
  const Outcome advised = program.run({"advise", "1", "--json"});
  QVERIFY2(rules_of(advised) == QSet<QString>(rules.begin(), rules.end()), advised.shown().constData());
  for (const auto& each : advised.json()["findings"].toArray()) {
    const QJsonObject finding = each.toObject();
    QVERIFY(finding["value"].isDouble() && !finding["mend"].toString().isEmpty());
  }
  QVERIFY(program.run({"advise", "1"}).out.contains("fix: "));
}

/// The same learning rate with 16 and 400 examples a step, one epoch each.
void TestAdvise::sweepTrainedWrong() {
  CliProgram program;
  const Outcome swept = program.run({"sweep", "--model", "mlp:hidden=16", "--data", "demo", "--batch", "16,400",
                                     "--epochs", "1", "--memory-budget", "200MB"});
  QVERIFY2(swept.status == 0, swept.shown().constData());
  const QSet<QString> expected{"rate-not-scaled", "accuracy-below-smaller-batch"};
  const Outcome advised = program.run({"advise", "2", "--json"});
  QVERIFY2(rules_of(advised) == expected, advised.shown().constData());
  QVERIFY(rules_of(program.run({"advise", "1", "--json"})).isEmpty());
}

void TestAdvise::importedRun() {
  CliProgram program;
  program.write("run.csv", "step,loss,ema_updates\n1,2.5,4\n2,2.4,8\n3,2.3,12\n");
  QVERIFY(program.run({"import", "run.csv"}).status == 0);
  const Outcome advised = program.run({"advise", "1", "--json"});
  QCOMPARE(rules_of(advised), QSet<QString>{"ema-per-micro-batch"});
  QCOMPARE(advised.json()["findings"].toArray()[0].toObject()["value"].toDouble(), 4.0);
}

void TestAdvise::trainedAsAdvised_data() {
  QTest::addColumn<QStringList>("question");
  QTest::newRow("accuracy, 16 GB") << QStringList{"--task", "accuracy", "--vram", "16GB", "--model-size", "1M"};
  QTest::newRow("speed") << QStringList{"--task", "speed"}; // limited by the data
  QTest::newRow("fine-tuning") << QStringList{"--task", "fine-tuning"};
}

void TestAdvise::trainedAsAdvised() {
  QFETCH(QStringList, question);
  CliProgram program;
  const Outcome advice = program.run(QStringList{"advise", "--json", "--model", tiny_net, "--data", "demo"} + question);
  QVERIFY2(advice.status == 0, advice.shown().constData());
  QStringList command = QProcess::splitCommand(advice.json()["train"].toString().replace('\'', '"'));
  QCOMPARE(command.takeFirst(), QString("batchscope-cli"));
  const Outcome trained = program.run(command + QStringList{"--steps", "3"}); // its length is not what was advised
  QVERIFY2(trained.status == 0, trained.shown().constData());
  const Outcome judged = program.run({"advise", "1", "--json"});
  QVERIFY2(judged.status == 0 && rules_of(judged).isEmpty(), judged.shown().constData());
}

BATCHSCOPE_TEST(TestAdvise)
#include "tst_advise.moc"
