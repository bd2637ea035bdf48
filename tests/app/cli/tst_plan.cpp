#include "test_program.h"
#include "tests/app/cli/cli_program.h"

using namespace batchscope::test;

class TestPlan : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void knownTrace_data();
  void knownTrace();
  void shape();
  void effectiveBatch();
  void streams();
  void clamps();
  void learningRate();
  void ratesBeyondAllNumbers();
  void manySteps();
  void hugeDataWithAFewSteps();
  void text();
  void refused_data();
  void refused();
};

namespace {

/// The takes of each step as `1 1 | 2 1`: rank 0 of the first micro batch, `|` where an epoch ends.
QString takes_of_first_rank(const QJsonObject& plan) {
  QString text;
  int epoch = 0;
  for (const auto& value : plan["steps"].toArray()) {
    const QJsonObject step = value.toObject();
    if (step["epoch_index"].toInt() != epoch)
      text += "| ";
    epoch = step["epoch_index"].toInt();
    text += QString::number(step["takes"].toArray()[0].toArray()[0].toInt()) + ' ';
  }
  return text.trimmed();
}

QString column(const QJsonObject& plan, const char* field) {
  QStringList values;
  for (const auto& step : plan["steps"].toArray())
    values += QString::number(step.toObject()[field].toDouble());
  return values.join(' ');
}

} // namespace

void TestPlan::knownTrace_data() {
  QTest::addColumn<int>("ranks");
  QTest::addColumn<QString>("takes");
  QTest::newRow("2 ranks") << 2 << "1 1 1 1 1 | 2 2 1 | 2 2 1 | 3 2 | 3";
  QTest::newRow("1 rank") << 1 << "1 1 1 1 1 2 2 1 | 2 2 3 3 | 3 3";
}

void TestPlan::knownTrace() {
  QFETCH(int, ranks);
  QFETCH(QString, takes);
  const Outcome outcome =
      CliProgram().run({"plan", "--json", "--examples", "10", "--world", QString::number(ranks), "--batch", "1",
                        "--schedule", "step:interval=5,increment=1", "--steps", "14"});
  QVERIFY2(outcome.status == 0, outcome.shown().constData());
  const QJsonObject plan = outcome.json();
  QCOMPARE(takes_of_first_rank(plan), takes);
  QCOMPARE(plan["total_steps"].toInt(), 14);
  if (ranks != 2)
    return;
  QCOMPARE(plan["examples_seen"].toInt(), 46);
  QCOMPARE(column(plan, "train_coverage"), QString("0.2 0.4 0.6 0.8 1 0.4 0.8 1 0.4 0.8 1 0.6 1 0.6"));
  QCOMPARE(column(plan, "epoch"), QString("0.2 0.4 0.6 0.8 1 1.4 1.8 2 2.4 2.8 3 3.6 4 4.6"));
}

void TestPlan::shape() {
  const Outcome outcome = CliProgram().run({"plan", "--json", "--examples", "9", "--batch", "3", "--epochs", "1"});
  const QJsonObject plan = outcome.json();
  QCOMPARE(QStringList(plan.keys()), QStringList({"events", "examples_seen", "steps", "total_steps"}));
  const QJsonObject step = plan["steps"].toArray()[0].toObject();
  QCOMPARE(QStringList(step.keys()), QStringList({"accumulate", "batch", "effective_batch", "epoch", "epoch_index",
                                                  "step", "takes", "train_coverage"}));
  QCOMPARE(step["step"].toInt(), 1);
  QCOMPARE(step["takes"].toArray(), QJsonArray({QJsonArray({3})}));
  // Five decimals, not 0.3333333333333333.
  QVERIFY2(outcome.out.contains("\"train_coverage\": 0.33333,"), outcome.out.constData());
  QVERIFY2(outcome.out.contains("\"train_coverage\": 1.0,"), outcome.out.constData());
}

void TestPlan::effectiveBatch() {
  const QJsonObject plan =
      CliProgram()
          .run({"plan", "--json", "--examples", "1000", "--batch", "32", "--effective-batch", "500", "--steps", "1"})
          .json();
  const QJsonObject step = plan["steps"].toArray()[0].toObject();
  QCOMPARE(step["effective_batch"].toInt(), 500);
  const QJsonArray takes = step["takes"].toArray();
  QCOMPARE(takes.size(), 16);
  for (const auto& micro : takes)
    QVERIFY(micro.toArray()[0].toInt() == 31 || micro.toArray()[0].toInt() == 32);
}

void TestPlan::streams() {
  const Outcome outcome =
      CliProgram().run({"plan", "--json", "--examples", "a=10,b=4", "--shares", "a=0.5,b=0.5,2:a=0.25,b=0.75",
                        "--clock", "b", "--batch", "4", "--steps", "4"});
  QVERIFY2(outcome.status == 0, outcome.shown().constData());
  QString text;
  for (const auto& value : outcome.json()["steps"].toArray()) {
    const QJsonObject step = value.toObject();
    const QJsonObject b = step["streams"].toObject()["b"].toObject();
    text += QStringLiteral("%1+%2 of epoch %3, %4, run %5; ")
                .arg(step["streams"].toObject()["a"].toObject()["examples"].toInt())
                .arg(b["examples"].toInt())
                .arg(b["epoch_index"].toInt())
                .arg(b["train_coverage"].toDouble())
                .arg(step["epoch"].toDouble());
  }
  QCOMPARE(text, QString("2+2 of epoch 0, 0.5, run 0.5; 2+2 of epoch 0, 1, run 1; 1+3 of epoch 1, 0.75, run 1.75; "
                         "1+1 of epoch 1, 1, run 2; "));
}

void TestPlan::clamps() {
  const QJsonObject plan = CliProgram()
                               .run({"plan", "--json", "--examples", "100", "--batch", "2", "--max-batch", "3",
                                     "--schedule", "step:interval=1,increment=2", "--steps", "2"})
                               .json();
  const QJsonObject event = plan["events"].toArray()[0].toObject();
  QCOMPARE(event["step"].toInt(), 1);
  QCOMPARE(event["kind"].toString(), QString("clamp"));
  QCOMPARE(event["asked"].toInt(), 4);
  QCOMPARE(event["given"].toInt(), 3);
}

void TestPlan::learningRate() {
  const QJsonObject plan = CliProgram()
                               .run({"plan", "--json", "--examples", "100", "--batch", "8", "--steps", "4", "--lr",
                                     "0.1", "--lr-rule", "linear", "--lr-reference-batch", "4", "--warmup", "2"})
                               .json();
  // 0.1 * 8/4, after a warm-up of two steps that begins at 0.
  QCOMPARE(column(plan, "learning_rate"), QString("0 0.1 0.2 0.2"));
}

void TestPlan::ratesBeyondAllNumbers() {
  const Outcome outcome = CliProgram().run({"plan", "--json", "--examples", "100", "--batch", "64", "--steps", "1",
                                            "--lr", "1e308", "--lr-rule", "linear", "--lr-reference-batch", "1"});
  QVERIFY2(outcome.status == 0, outcome.shown().constData());
  QCOMPARE(outcome.json()["steps"].toArray()[0].toObject()["learning_rate"].toString(), QString("Infinity"));
}

void TestPlan::manySteps() {
  const Outcome outcome =
      CliProgram().run({"plan", "--json", "--examples", "1000000", "--batch", "1", "--steps", "200000"});
  QCOMPARE(outcome.status, 0);
  QCOMPARE(outcome.json()["steps"].toArray().size(), 200'000);
}

void TestPlan::hugeDataWithAFewSteps() {
  const Outcome outcome =
      CliProgram().run({"plan", "--json", "--examples", "9223372036854775807", "--batch", "1", "--steps", "3"});
  QVERIFY2(outcome.status == 0, outcome.shown().constData());
  QCOMPARE(outcome.json()["steps"].toArray().size(), 3);
}

void TestPlan::text() {
  const Outcome outcome = CliProgram().run({"plan", "--examples", "1000", "--batch", "1", "--steps", "1000"});
  QCOMPARE(outcome.status, 0);
  QVERIFY(outcome.out.count('\n') < 50);
  QVERIFY(outcome.out.contains("1,000 steps, 1,000 examples"));
  QVERIFY(!outcome.out.contains('\x1b'));
}

void TestPlan::refused_data() {
  QTest::addColumn<QString>("arguments");
  QTest::addColumn<QByteArray>("named");
  const auto row = [](const char* arguments, const QByteArray& named) {
    QTest::newRow(arguments) << QString(arguments) << named;
  };
  row("--batch 1", "--examples");
  row("--examples 10", "--batch");
  row("--examples 0 --batch 1", "--examples");
  row("--examples -5 --batch 1", "--examples");
  row("--examples 1e3 --batch 1", "--examples");
  row("--examples 99999999999999999999 --batch 1", "--examples");
  row("--examples 10 --batch 0", "--batch");
  row("--examples a=10 --batch 1", "only stream");
  row("--examples a=10,b=0 --batch 1", "--examples: b");
  row("--examples a=10,b=5 --batch 1 --shares a=0.5,b=0.6", "add up to 1.1");
  row("--examples a=10,b=5 --batch 1 --clock c", "--clock");
  row("--examples a=10,b=5 --batch 1 --shares loss:a=0.5,b=0.5", "--shares: loss");
  row("--examples 10 --batch 1 --shares a=1", "--shares");
  row("--examples 10 --batch -1", "--batch");
  row("--examples 10 --batch 11", "11");
  row("--examples 10 --batch 6 --world 2", "6");
  row("--examples 10 --batch auto", "--batch");
  row("--examples 10 --batch 1 --world 6 --tp 4", "6");
  row("--examples 10 --batch 1 --epochs 1 --steps 1", "--steps");
  row("--examples 10 --batch 1 --epochs 0", "--epochs");
  row("--examples 10 --batch 1 --accumulate 2 --effective-batch 4", "--effective-batch");
  row("--examples 10 --batch 1 --accumulate 0", "--accumulate");
  row("--examples 10 --batch 4 --max-batch 2", "2");
  row("--examples 10 --batch 1 --schedule nope", "nope");
  row("--examples 10 --batch 1 --schedule step:interval=0,increment=1", "interval");
  row("--examples 10 --batch 1 --schedule piecewise:0=2,5=3", "piecewise");
  row("--examples 10 --batch 1 --schedule plateau:factor=2,patience=50", "plateau");
  row("--examples 10 --batch 1 --schedule noise:multiplier=1", "noise");
  row("--examples 10 --batch 1 --schedule formula:batch/loss", "loss");
  row("--examples 10 --batch 1 --schedule formula:batch/0", "batch/0");
  row("--examples 10 --batch 1 --schedule formula:batch+", "batch+");
  row("--examples 10 --batch 1 --schedule formula:bacth", "bacth");
  row("--examples 10 --batch 1 --schedule formula:noise_scale", "noise_scale");
  // Known only at the step that would be too large: nothing of the document is out by then.
  row("--examples 100000000 --batch 1 --accumulate 20000000", "micro batches");
  // Said at once, and not after a lifetime.
  row("--examples 1000000000000 --batch 1 --accumulate 1000", "about 1,000,000,000 steps");
  if (!sanitized) {
    row("--examples 9223372036854775807 --batch 1", "about 9.22e+18 steps");
    row("--examples 9223372036854775807 --batch 1", "--steps");
    row("--examples 10 --batch 1 --epochs 9223372036854775807", "--steps");
    row("--examples 9223372036854775807 --batch 1 --schedule linear:max=4", "--steps");
  }
  row("--examples 10 --batch 1 --lr nan", "--lr");
  row("--examples 10 --batch 1 --lr inf", "--lr");
  row("--examples 10 --batch 1 --lr 0", "--lr");
  row("--examples 10 --batch 1 --lr-rule linear", "--lr");
  row("--examples 10 --batch 1 --lr 0.1 --lr-rule cubic", "cubic");
  row("--examples 10 --batch 1 --lr 0.1 --warmup -1", "--warmup");
  row("--examples 10 --batch 1 --model cnn", "--model");
}

void TestPlan::refused() {
  QFETCH(QString, arguments);
  QFETCH(QByteArray, named);
  const CliProgram program;
  VERIFY_REFUSED(program, program.run(QStringList{"plan", "--json"} + arguments.split(' ')), named);
  QVERIFY(program.files().isEmpty());
}

BATCHSCOPE_TEST(TestPlan)
#include "tst_plan.moc"
