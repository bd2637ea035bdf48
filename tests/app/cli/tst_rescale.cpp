#include "test_program.h"
#include "tests/app/cli/cli_program.h"

using namespace batchscope::test;

class TestRescale : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void json() {
    const Outcome outcome =
        CliProgram().run({"rescale", "--from", "32,1,1,0.1", "--to", "64,4,2", "--examples", "50000", "--json",
                          "--weight-decay", "0.0001", "--evaluate-every", "100"});
    QVERIFY2(outcome.status == 0, outcome.shown().constData());
    const QJsonObject json = outcome.json();
    QCOMPARE(json["scale"].toDouble(), 16.0);
    QCOMPARE(json["to"].toObject()["effective_batch"].toInt(), 512);
    QCOMPARE(json["learning_rate"].toDouble(), 1.6);
    QCOMPARE(json["warmup_steps"].toInt(), 400);
    QCOMPARE(json["weight_decay"].toDouble(), 0.0004);
    QCOMPARE(json["steps_per_epoch"].toInt(), 98);
    QCOMPARE(json["evaluate_every"].toInt(), 6);
    QVERIFY(json["save_every"].isNull());
    for (const auto& each : json["rows"].toArray()) {
      const QJsonObject row = each.toObject();
      QVERIFY(!row["rule"].toString().isEmpty() && !row["caveat"].toString().isEmpty());
      QVERIFY(!row["source"].toString().isEmpty());
    }
  }

  void text() {
    const Outcome outcome = CliProgram().run({"rescale", "--from", "32,1,1,0.001", "--to", "128,1,1"});
    QVERIFY2(outcome.status == 0, outcome.shown().constData());
    for (const char* part : {"x 4", "0.004", "0.002", "Goyal", "Warm-up steps"})
      QVERIFY2(outcome.out.contains(part), outcome.shown().constData());
  }

  void refused_data() {
    QTest::addColumn<QStringList>("options");
    QTest::addColumn<QByteArray>("named");
    const QStringList from{"--from", "32,1,1,0.1"}, to{"--to", "64,1,1"};
    QTest::newRow("no from") << to << QByteArray("--from");
    QTest::newRow("no to") << from << QByteArray("--to");
    QTest::newRow("rate") << QStringList{"--from", "32,1,1,x"} + to << QByteArray("learning rate");
    QTest::newRow("rule") << from + to + QStringList{"--lr-rule", "cube"} << QByteArray("none, linear, sqrt, adascale");
    QTest::newRow("adascale") << from + to + QStringList{"--lr-rule", "adascale"} << QByteArray("--noise-scale");
    QTest::newRow("optimizer") << from + to + QStringList{"--optimizer", "lion"} << QByteArray("--optimizer");
    QTest::newRow("betas") << from + to + QStringList{"--betas", "0.9"} << QByteArray("--betas");
    QTest::newRow("dropout") << from + to + QStringList{"--dropout", "1"} << QByteArray("--dropout");
    QTest::newRow("both lengths") << from + to + QStringList{"--steps", "9", "--epochs", "9"} << QByteArray("--epochs");
  }
  void refused() {
    QFETCH(QStringList, options);
    QFETCH(QByteArray, named);
    CliProgram program;
    VERIFY_REFUSED(program, program.run(QStringList{"rescale"} + options), named);
  }
};

BATCHSCOPE_TEST(TestRescale)
#include "tst_rescale.moc"
