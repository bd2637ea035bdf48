#include "core/sweep/variation.h"

#include <QTest>

#include "core/base/error.h"
#include "core/run/spec_fields.h"
#include "core/sweep/sweep_spec.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::sweep;

class TestVariation : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void values_data();
  void values();
  void refused_data();
  void refused();
  void drawnNumbersStayInTheirInterval();
  void conditionsLeaveOut();
  void randomSweeps();
  void textsComeBackFromJson_data();
  void textsComeBackFromJson();
  void aValueThatNeedsAnotherField();
};

namespace {

QString joined(const std::vector<std::string>& values) {
  QStringList list;
  for (const std::string& value : values)
    list += QString::fromStdString(value);
  return list.join(' ');
}

QString batches(const SweepSpec& spec) {
  QStringList list;
  for (const run::RunSpec& run : combinations(spec))
    list += QString::fromStdString(run::to_string(run.batch));
  return list.join(' ');
}

QByteArray refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.kind() == Error::Kind::input ? QByteArray(error.what()) : QByteArray("another kind");
  }
  return {};
}

} // namespace

void TestVariation::values_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("values");
  const auto row = [](const char* text, const char* values) {
    QTest::newRow(text) << QString(text) << QString(values);
  };
  row("batch=16", "16");
  row("batch=16, 32,64", "16 32 64");
  row("batch=25%,50% of largest,100%", "25% 50% 100%");
  row("batch=auto:largest,8", "auto:largest 8");
  row("batch=16..1024 x2", "16 32 64 128 256 512 1024");
  row("batch=16..100 x2,100", "16 32 64 100");
  row("batch=1..5 x1.5", "1 2 3"); // 1, 1.5, 2.25, 3.375: rounded, none twice; 5.06 is beyond
  row("batch=16..64 +16", "16 32 48 64");
  row("lr=0.1..0.3 +0.1", "0.1 0.2 0.3");
  row("lr=0.001..0.1 x10", "0.001 0.01 0.1");
  row("lr-rule=none,sqrt", "none sqrt");
  row("drop_last=true,false", "true false");
  row("model=cnn:width=8,norm=group;mlp", "cnn:width=8,norm=group mlp");
  row("schedule=constant;step:interval=5,increment=1", "constant step:interval=5,increment=1");
  row("memory-budget=100MB,1GiB", "100MB 1GiB");
}

void TestVariation::values() {
  QFETCH(QString, text);
  QFETCH(QString, values);
  const Variation variation = parse_variation(text.toStdString());
  QCOMPARE(joined(variation.values), values);
  QVERIFY(!variation.interval);
}

void TestVariation::refused_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<QByteArray>("named");
  const auto row = [](const char* text, const char* named) {
    QTest::newRow(text) << QString(text) << QByteArray(named);
  };
  row("", "FIELD=VALUE");
  row("batch", "FIELD=VALUE");
  row("=1", "FIELD=VALUE");
  row("colour=1", "unknown field \"colour\"");
  row("name=a,b", "--name");
  row("batch=", "--batch");
  row("batch=8,,16", "--batch");
  row("batch=0%", "--batch");
  row("batch=101%", "--batch");
  row("batch=16..8 x2", "16..8 x2");
  row("batch=16..64", "16..64");
  row("batch=16..64 x1", "x1");
  row("batch=16..64 x0.5", "x0.5");
  row("batch=16..64 +0", "+0");
  row("batch=1..64 -1", "--batch");
  row("lr=0.0001..0.1 log,0.5", "log");
  row("lr=0..0.1 log", "log");
  row("lr=0..1 +0.00001", "10000");
  row("dropout=0,2", "--dropout");
}

void TestVariation::refused() {
  QFETCH(QString, text);
  QFETCH(QByteArray, named);
  SweepSpec spec;
  const QByteArray message = refusal([&] {
    set_variation(spec, parse_variation(text.toStdString()));
    check(spec);
  });
  QVERIFY2(message.contains(named), message.constData());
  QVERIFY(!message.contains('\n'));
}

void TestVariation::drawnNumbersStayInTheirInterval() {
  std::mt19937_64 random(7);
  const Variation rates = parse_variation("lr=0.0001..0.1 log");
  const Variation steps = parse_variation("steps=10..20 uniform");
  int small = 0;
  for (int i = 0; i < 1000; ++i) {
    const double rate = std::stod(draw(rates, random));
    QVERIFY(rate >= 0.0001 && rate <= 0.1);
    small += rate < 0.001 ? 1 : 0;
    const int count = std::stoi(draw(steps, random));
    QVERIFY(count >= 10 && count <= 20);
  }
  QVERIFY2(small > 280 && small < 390, qPrintable(QString::number(small))); // a third, in the logarithm
}

void TestVariation::conditionsLeaveOut() {
  SweepSpec spec;
  spec.vary = {parse_variation("batch=8,16,32"), parse_variation("lr=0.1,0.2")};
  spec.only = "batch >= 32 or (lr = 0.1 and batch < 16)";
  check(spec);
  QCOMPARE(batches(spec), QString("8 32 32"));
  spec.only = "optimizer = sgd";
  QVERIFY(refusal([&] { check(spec); }).contains("--only"));
  spec.only = "batch >= ";
  QVERIFY(refusal([&] { check(spec); }).startsWith("--only: unexpected end"));
  spec.only = "speed > 3";
  QVERIFY(refusal([&] { check(spec); }).contains("unknown field \"speed\""));
  spec.only = "lr <= 0.001"; // the default of an unset field counts
  spec.vary.pop_back();
  QCOMPARE(batches(spec), QString("8 16 32"));
  // A program has no learning rate but its own placeholder, which may have texts as values.
  spec.base.program = run::ProgramSpec{.command = {"python3", "train.py", "{batch}", "{lr}"}};
  spec.base.program->set = {{"lr", "0.1"}};
  spec.vary.push_back(parse_variation("set.lr=0.1,0.01,abc"));
  for (const char* only : {"lr < 0.05", "set.lr < 0.05", "lr != 0.1 and lr != abc"}) {
    spec.only = only;
    check(spec);
    QCOMPARE(batches(spec), QString("8 16 32"));
  }
  spec.only = "optimizer = adam";
  QVERIFY(refusal([&] { check(spec); }).contains("set.lr"));
}

void TestVariation::randomSweeps() {
  SweepSpec spec;
  spec.vary = {parse_variation("batch=1..100 +1"), parse_variation("lr=0.1,0.2,0.3")};
  spec.random = 20;
  check(spec);
  QCOMPARE(combinations(spec).size(), std::size_t{20});
  QCOMPARE(batches(spec), batches(spec));
  const QString first = batches(spec);
  spec.random_seed = 2;
  QVERIFY(batches(spec) != first);
  spec.random = 1000; // more than there are
  QCOMPARE(combinations(spec).size(), std::size_t{300});
  spec.vary[1] = parse_variation("lr=0.001..0.1 log");
  spec.repeats = 2;
  const auto runs = combinations(spec);
  QCOMPARE(runs.size(), std::size_t{2000});
  QCOMPARE(*runs[0].learning_rate, *runs[1].learning_rate); // repeats differ in the seed alone
  QVERIFY(runs[0].seed != runs[1].seed);
  spec.random.reset();
  QVERIFY(refusal([&] { check(spec); }).contains("--random"));
}

void TestVariation::textsComeBackFromJson_data() {
  QTest::addColumn<QString>("text");
  for (const char* text : {"batch=16,25%", "lr=0.0001..0.1 log", "dropout=0..0.5 uniform", "drop_last=true,false",
                           "model=mlp;cnn:width=8,norm=group", "memory_budget=100MB,1GiB", "steps=10,20"})
    QTest::newRow(text) << QString(text);
}

void TestVariation::textsComeBackFromJson() {
  QFETCH(QString, text);
  SweepSpec spec;
  spec.vary = {parse_variation(text.toStdString())};
  spec.random = 3;
  spec.only = "batch >= 1 or seed = 1";
  spec.stop_weak = StopWeak::median;
  const SweepSpec back = sweep_spec_from_json(to_json(spec));
  QVERIFY(back.vary == spec.vary);
  QCOMPARE(to_json(back), to_json(spec));
}

/// Only one of the optimizers has a momentum: the others' runs fail, the sweep is valid.
void TestVariation::aValueThatNeedsAnotherField() {
  SweepSpec spec;
  spec.vary = {parse_variation("optimizer=sgd,adam"), parse_variation("momentum=0.8,0.9")};
  check(spec);
  QCOMPARE(combinations(spec).size(), std::size_t{4});
  spec.vary.erase(spec.vary.begin());
  spec.base.optimizer = "adam"; // nothing that varies can mend it
  QVERIFY(refusal([&] { check(spec); }).contains("--momentum"));
}

BATCHSCOPE_TEST(TestVariation)
#include "tst_variation.moc"
