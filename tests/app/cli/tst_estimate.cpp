#include <QTest>

#include "cli_program.h"
#include "test_program.h"

using namespace batchscope::test;

/// `estimate` and `find --for`: computed, nothing run or stored.
class TestEstimate : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void dryRun() {
    const CliProgram program;
    const Outcome outcome = program.run({"estimate", "--json", "--model", "gpt:layers=4,heads=4,width=64,context=64",
                                         "--vocabulary", "100", "--batch", "8", "--for", "1GB"});
    QVERIFY2(outcome.status == 0, outcome.shown().constData());
    const QJsonObject answer = outcome.json();
    QCOMPARE(answer["method"].toString(), QString("dry-run"));
    for (const char* field : {"parameters_bytes", "gradients_bytes", "optimizer_bytes", "activations_bytes",
                              "total_bytes", "max_batch", "by"})
      QVERIFY2(answer.contains(field), field);
    double sum = 0;
    const QJsonObject by = answer["by"].toObject();
    for (const QString& use : by.keys())
      sum += by[use].toDouble();
    QVERIFY(std::abs(sum / answer["total_bytes"].toDouble() - 1) < 0.01);
    QVERIFY(answer["max_batch"].toInteger() > 100);
    for (const char* other : {"formula", "rule_of_thumb"})
      QVERIFY2(answer[other].toObject()["total_bytes"].toDouble() > 0, other);
    // Much more than fits here, and more than 64 bits of it nowhere.
    const Outcome large = program.run(
        {"estimate", "--json", "--for", "h200", "--model", "gpt:layers=126,heads=128,width=16384,context=4096"});
    QVERIFY2(large.status == 0, large.shown().constData());
    QVERIFY(large.json()["parameters"].toDouble() > 4e11);
    QCOMPARE(large.json()["max_batch"].toInt(), 0);
    QVERIFY(!program.files().contains("default.db"));
  }

  void imagesOfAnyShape() {
    const CliProgram program;
    const auto activations = [&](const char* shape) {
      const Outcome outcome =
          program.run({"estimate", "--json", "--model", "resnet:width=8,blocks=1", "--shape", shape, "--batch", "4"});
      return outcome.status == 0 ? outcome.json()["activations_bytes"].toDouble() : -1;
    };
    const double small = activations("3x32x32"), large = activations("3x64x64");
    QVERIFY(small > 0 && large > 3.5 * small && large < 4.5 * small);
  }

  void fromAConfig() {
    const CliProgram program;
    QFile file(program.path("config.json"));
    QVERIFY(file.open(QFile::WriteOnly));
    file.write(R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
                   "intermediate_size": 11008, "vocab_size": 32000, "max_position_embeddings": 4096})");
    file.close();
    const Outcome outcome = program.run({"estimate", "--json", "--config", file.fileName(), "--precision", "4bit",
                                         "--lora-rank", "16", "--sequence", "1024", "--for", "rtx-4090"});
    QVERIFY2(outcome.status == 0, outcome.shown().constData());
    QCOMPARE(outcome.json()["parameters"].toDouble(), 6738415616.0);
    QVERIFY(outcome.json()["max_batch"].toInt() >= 1);
    QCOMPARE(outcome.json()["for"].toObject()["name"].toString(), QString("rtx-4090"));
    const Outcome text = program.run({"estimate", "--config", file.fileName()});
    QVERIFY(text.out.contains("computed, not run") && text.out.contains("rule of thumb"));
  }

  void searchForACard() {
    const CliProgram program;
    const Outcome outcome =
        program.run({"find", "--json", "--model", "cnn:width=8", "--data", "demo", "--for", "64MB"});
    QVERIFY2(outcome.status == 0, outcome.shown().constData());
    QCOMPARE(outcome.json()["computed"].toBool(), true);
    // What a search under that budget finds.
    const Outcome real = program.run(
        {"find", "--json", "--no-timings", "--model", "cnn:width=8", "--data", "demo", "--memory-budget", "64MB"});
    QCOMPARE(outcome.json()["largest"].toInt(), real.json()["largest"].toInt());
    QCOMPARE(outcome.json()["safe"].toInt(), real.json()["safe"].toInt());
    QVERIFY(outcome.json()["recommended"].isNull());
    const Outcome none = program.run({"find", "--model", "cnn:width=1000", "--for", "1MB"});
    QCOMPARE(none.status, 1);
    QVERIFY2(none.err.isEmpty() && none.out.contains("computed"), none.shown().constData());
  }

  /// Of a card, what its allocator reserves counts.
  void reservesOnACard() {
    const CliProgram program;
    const Outcome outcome = program.run(
        {"estimate", "--json", "--model", "gpt:layers=4,heads=4,width=256,context=256", "--for", "rtx-3080-10gb"});
    QVERIFY2(outcome.status == 0, outcome.shown().constData());
    const QJsonObject answer = outcome.json();
    if (!answer.contains("reserved_bytes"))
      QSKIP("this torch was built without CUDA");
    const double usable = answer["for"].toObject()["usable_bytes"].toDouble();
    QVERIFY(answer["reserved_bytes"].toDouble() <= usable);
    QVERIFY(answer["reserved_bytes"].toDouble() > 0.95 * usable);
    QVERIFY(answer["reserved_bytes"].toDouble() > 0.99 * answer["total_bytes"].toDouble());
  }

  void refused_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QByteArray>("said");
    const auto row = [](const char* name, const QStringList& arguments, const QByteArray& said) {
      QTest::newRow(name) << arguments << said;
    };
    row("nothing", {}, "accepted: --model, --config or --parameters");
    row("unknown card", {"--model", "cnn", "--for", "rtx-9090"}, "nearest: rtx-3090");
    row("unknown model", {"--model", "vgg"}, "vgg");
    row("both", {"--model", "cnn", "--parameters", "1e6"}, "one of them");
    row("numbers missing", {"--parameters", "1e6"}, "--layers");
    row("too many parameters", {"--parameters", "1e30", "--layers", "1", "--hidden", "8"}, "2^63");
    row("quantized without adapters", {"--parameters", "1e6", "--layers", "1", "--hidden", "8", "--precision", "4bit"},
        "--lora-rank");
    row("precision of a dry run", {"--model", "cnn", "--precision", "fp16"}, "--precision is not accepted");
    row("missing file", {"--config", "/nowhere.json"}, "/nowhere.json");
    row("batch beyond the data", {"--model", "cnn", "--data", "demo", "--batch", "8001"}, "8000");
  }
  void refused() {
    QFETCH(QStringList, arguments);
    QFETCH(QByteArray, said);
    const CliProgram program;
    const Outcome outcome = program.run(QStringList{"estimate"} + arguments);
    QVERIFY2(outcome.status == 2 && outcome.err.contains(said) && outcome.err.count('\n') == 1 && outcome.out.isEmpty(),
             outcome.shown().constData());
  }

  void cards() {
    const CliProgram program;
    QVERIFY(program.run({"estimate", "--cards", "--json"}).json()["cards"].toArray().size() >= 20);
    QVERIFY(program.run({"estimate", "--cards"}).out.contains("h100-80gb"));
  }
};

BATCHSCOPE_TEST(TestEstimate)
#include "tst_estimate.moc"
