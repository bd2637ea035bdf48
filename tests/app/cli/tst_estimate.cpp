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
    // Much more than fits here.
    const Outcome large = program.run(
        {"estimate", "--json", "--for", "h200", "--model", "gpt:layers=16,heads=128,width=16384,context=4096"});
    QVERIFY2(large.status == 0, large.shown().constData());
    QVERIFY(large.json()["parameters"].toDouble() > 5e10);
    QCOMPARE(large.json()["max_batch"].toInt(), 0);
    QVERIFY(!program.files().contains("default.db"));
  }

  /// A dry run beside the formulas, with the parameters that the formula counts; a real run proves it.
  void runsAConfigDry() {
    const CliProgram program;
    const auto write = [&](const QByteArray& text) {
      QFile file(program.path("config.json"));
      if (!file.open(QFile::WriteOnly) || file.write(text) != text.size())
        qFatal("a test's file could not be written");
      return file.fileName();
    };
    const QString gpt2 = write(R"({"model_type": "gpt2", "n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 128,
                                   "vocab_size": 500})");
    const Outcome outcome =
        program.run({"estimate", "--json", "--config", gpt2, "--sequence", "64", "--batch", "4", "--verify"});
    QVERIFY2(outcome.status == 0, outcome.shown().constData());
    const QJsonObject answer = outcome.json(), dry = answer["dry_run"].toObject();
    QCOMPARE(dry["parameters"].toDouble(), answer["parameters"].toDouble());
    QVERIFY(answer["measured_bytes"].toDouble() > 0);
    QVERIFY2(std::abs(dry["error"].toDouble()) < 0.001, outcome.shown().constData());
    for (const QJsonObject& other : {answer, answer["rule_of_thumb"].toObject()})
      QVERIFY(other["error"].isDouble());
    const Outcome checkpointing = program.run(
        {"estimate", "--json", "--config", gpt2, "--sequence", "64", "--batch", "4", "--checkpointing", "--verify"});
    QVERIFY2(std::abs(checkpointing.json()["dry_run"].toObject()["error"].toDouble()) < 0.001,
             checkpointing.shown().constData());
    QVERIFY(checkpointing.json()["measured_bytes"].toDouble() < answer["measured_bytes"].toDouble());
    const Outcome mixed = program.run({"estimate", "--json", "--config", gpt2, "--sequence", "64", "--batch", "4",
                                       "--precision", "mixed", "--verify"});
    QVERIFY2(std::abs(mixed.json()["dry_run"].toObject()["error"].toDouble()) < 0.005, mixed.shown().constData());
    // What is trained otherwise is computed by formula only.
    const Outcome pure = program.run({"estimate", "--json", "--config", gpt2, "--precision", "fp16"});
    QVERIFY(pure.status == 0 && !pure.json().contains("dry_run"));
    // Billions, with sequence 4096.
    const QString large =
        write(R"({"model_type": "llama", "hidden_size": 16384, "num_hidden_layers": 126, "num_attention_heads": 128,
                  "num_key_value_heads": 8, "intermediate_size": 53248, "vocab_size": 128256})");
    const Outcome huge = program.run({"estimate", "--json", "--config", large, "--sequence", "4096"});
    QCOMPARE(huge.json()["dry_run"].toObject()["parameters"].toDouble(), 405853388800.0);
  }

  /// With the workspace of convolutions, although no device was opened before.
  void knowsTheWorkspaceOfConvolutions() {
    const CliProgram program;
    for (const QStringList& target : {QStringList{}, QStringList{"--for", "100MB"}}) {
      const Outcome outcome = program.run(QStringList{"estimate", "--json", "--model", "resnet:width=8", "--data",
                                                      "demo", "--batch", "20", "--verify"} +
                                          target);
      QVERIFY2(outcome.status == 0, outcome.shown().constData());
      QVERIFY2(std::abs(outcome.json()["error"].toDouble()) < 0.001, outcome.shown().constData());
    }
  }

  /// What is said to fit does, and a little more does not.
  void roomToGrow() {
    const CliProgram program;
    const auto total = [&](const QString& model) {
      return program.run({"estimate", "--json", "--model", model, "--vocabulary", "500", "--batch", "8"})
          .json()["total_bytes"]
          .toDouble();
    };
    const Outcome outcome = program.run({"estimate", "--json", "--model", "llama:layers=2,heads=4,width=64,context=32",
                                         "--vocabulary", "500", "--batch", "8", "--for", "100MB"});
    QVERIFY2(outcome.status == 0, outcome.shown().constData());
    const QJsonObject room = outcome.json()["room"].toObject(), growth = room["growth"].toObject();
    QCOMPARE(room["batch"].toInt(), 8);
    const QJsonArray savings = room["savings"].toArray();
    QCOMPARE(savings.size(), 5);
    // What can be trained is computed by a dry run: the largest batch with the change fits, and one more does not.
    int trained = 0;
    for (const QJsonValue& saving : savings) {
      const bool checkpointing = saving["change"] == "checkpointing";
      if (saving["method"] == "formula" || (!checkpointing && saving["change"] != "mixed"))
        continue;
      ++trained;
      const int batch = saving["max_batch"].toInt();
      const auto bytes = [&](int examples) {
        QStringList arguments{"estimate",     "--json", "--model", "llama:layers=2,heads=4,width=64,context=32",
                              "--vocabulary", "500",    "--batch", QString::number(examples)};
        arguments += checkpointing ? QStringList{"--checkpointing"} : QStringList{"--precision", "bf16"};
        return program.run(arguments).json()["total_bytes"].toDouble();
      };
      QVERIFY(bytes(batch) <= 100e6 && bytes(batch + 1) > 100e6);
      QCOMPARE(saving["total_bytes"].toDouble(), bytes(8));
    }
    QCOMPARE(trained, 2);
    const auto largest = [&](const char* size) { return growth[size].toObject()["largest"].toInt(); };
    QVERIFY(total(QString("llama:layers=%1,heads=4,width=64,context=32").arg(largest("layers"))) <= 100e6);
    QVERIFY(total(QString("llama:layers=%1,heads=4,width=64,context=32").arg(largest("layers") + 1)) > 100e6);
    QVERIFY(total(QString("llama:layers=2,heads=4,width=%1,context=32").arg(largest("width"))) <= 100e6);
    QVERIFY(total(QString("llama:layers=2,heads=4,width=%1,context=32").arg(largest("width") + 8)) > 100e6);
    QVERIFY(total(QString("llama:layers=2,heads=4,width=64,context=%1").arg(largest("context"))) <= 100e6);
    QVERIFY(total(QString("llama:layers=2,heads=4,width=64,context=%1").arg(largest("context") + 1)) > 100e6);
    const Outcome none = program.run({"estimate", "--json", "--model", "cnn:width=1000", "--for", "1MB"});
    QVERIFY(none.json()["room"].toObject()["growth"].toObject().isEmpty());
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
    QVERIFY(text.out.contains("method") && text.out.contains("rule of thumb"));
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

  void noRoomForARealRun() {
    const CliProgram program;
    const Outcome outcome = program.run({"estimate", "--model", "gpt:layers=100,heads=64,width=8192", "--verify"});
    QVERIFY2(outcome.status != 0 && outcome.err.contains("free here") && outcome.out.isEmpty(),
             outcome.shown().constData());
  }

  void refused_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QByteArray>("said");
    const auto row = [](const char* name, const QStringList& arguments, const QByteArray& said) {
      QTest::newRow(name) << arguments << said;
    };
    row("nothing", {}, "accepted: --model, --config, --parameters, or -- and a program");
    row("unknown card", {"--model", "cnn", "--for", "rtx-9090"}, "nearest: rtx-3090");
    row("unknown model", {"--model", "vgg"}, "vgg");
    row("both", {"--model", "cnn", "--parameters", "1e6"}, "one of them");
    row("numbers missing", {"--parameters", "1e6"}, "--layers");
    row("too many parameters", {"--parameters", "1e30", "--layers", "1", "--hidden", "8"}, "2^63");
    row("quantized without adapters", {"--parameters", "1e6", "--layers", "1", "--hidden", "8", "--precision", "4bit"},
        "--lora-rank");
    row("precision of a dry run", {"--model", "cnn", "--precision", "4bit"}, "--precision: \"4bit\"");
    row("tf32 on the host", {"--model", "cnn", "--precision", "tf32"}, "--precision: tf32 is not accepted with");
    row("fp16 on the host", {"--model", "cnn", "--precision", "fp16"}, "--precision: fp16 is not accepted with");
    row("another training",
        {"--parameters", "1e6", "--layers", "1", "--hidden", "64", "--precision", "fp16", "--verify"}, "--verify");
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
