#include "test_program.h"
#include "tests/app/cli/cli_program.h"

using namespace batchscope::test;

/// Settings of runs that were really trained, for other programs.
class TestSnippet : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void initTestCase() {
    const Outcome outcome =
        program_.run({"train", "--model", "mlp:hidden=8", "--data", "demo", "--batch", "100", "--accumulate", "3",
                      "--optimizer", "sgd", "--lr", "0.05", "--steps", "2", "--name", "tiny"});
    QVERIFY2(outcome.status == 0, outcome.shown().constData());
  }

  void text_data() {
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QByteArrayList>("parts");
    QTest::newRow("transformers") << "transformers"
                                  << QByteArrayList{"per_device_train_batch_size=100", "learning_rate=0.05",
                                                    "gradient_accumulation_steps=3", "max_steps=2", "momentum=0.9"};
    QTest::newRow("unsloth") << "unsloth" << QByteArrayList{"SFTConfig(", "per_device_train_batch_size=100"};
    QTest::newRow("accelerate") << "accelerate"
                                << QByteArrayList{"gradient_accumulation_steps=3", "batch_size=100", "lr=0.05"};
    QTest::newRow("lightning") << "lightning" << QByteArrayList{"accumulate_grad_batches=3", "max_steps=2"};
    QTest::newRow("pytorch") << "pytorch" << QByteArrayList{"micro_batch = 100", "accumulate = 3"};
  }
  void text() {
    QFETCH(QString, kind);
    QFETCH(QByteArrayList, parts);
    const Outcome outcome = program_.run({"snippet", "1", "--for", kind});
    QVERIFY2(outcome.status == 0, outcome.shown().constData());
    for (const QByteArray& part : parts)
      QVERIFY2(outcome.out.contains(part), outcome.shown().constData());
  }

  void json() {
    const QJsonObject json = program_.run({"snippet", "1", "--for", "pytorch", "--json"}).json();
    QCOMPARE(json["run"].toInt(), 1);
    QCOMPARE(json["settings"].toObject()["effective_batch"].toInt(), 300);
    QVERIFY(json["text"].toString().startsWith("# Run 1 (tiny)"));
  }

  void refused() {
    QVERIFY(batchscope::test::refused(program_.run({"snippet", "1", "--for", "keras"}), "transformers, accelerate"));
    QVERIFY(batchscope::test::refused(program_.run({"snippet", "1"}), "--for"));
    QVERIFY(batchscope::test::refused(program_.run({"snippet", "--for", "pytorch"}), "RUN"));
    QVERIFY(batchscope::test::refused(program_.run({"snippet", "9", "--for", "pytorch"}), "9"));
  }

private:
  CliProgram program_;
};

BATCHSCOPE_TEST(TestSnippet)
#include "tst_snippet.moc"
