#include <QTest>

#include "core/base/error.h"
#include "core/estimate/transformer.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::estimate;

namespace {

std::string gpt2(int width, int layers, int heads) {
  return QString(R"({"model_type": "gpt2", "n_embd": %1, "n_layer": %2, "n_head": %3, "n_positions": 1024,
                     "vocab_size": 50257})")
      .arg(width)
      .arg(layers)
      .arg(heads)
      .toStdString();
}

std::string bert(int width, int layers, int heads, int inner) {
  return QString(R"({"model_type": "bert", "hidden_size": %1, "num_hidden_layers": %2, "num_attention_heads": %3,
                     "intermediate_size": %4, "max_position_embeddings": 512, "type_vocab_size": 2,
                     "vocab_size": 30522})")
      .arg(width)
      .arg(layers)
      .arg(heads)
      .arg(inner)
      .toStdString();
}

std::string llama(const char* type, int width, int layers, int heads, int keys, int inner, int vocabulary,
                  const char* more = "") {
  return QString(R"({"model_type": "%1", "hidden_size": %2, "num_hidden_layers": %3, "num_attention_heads": %4,
                     "num_key_value_heads": %5, "intermediate_size": %6, "vocab_size": %7 %8})")
      .arg(type)
      .arg(width)
      .arg(layers)
      .arg(heads)
      .arg(keys)
      .arg(inner)
      .arg(vocabulary)
      .arg(more)
      .toStdString();
}

} // namespace

/// Parameter counts as published: of the checkpoints on Hugging Face (`model.num_parameters()`), of Radford et al. 2019
/// (GPT-2), Devlin et al. 2019 (BERT), Touvron et al. 2023 (Llama 2).
class TestTransformer : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void countsParameters_data() {
    QTest::addColumn<QString>("config");
    QTest::addColumn<double>("parameters");
    const auto row = [](const char* name, const std::string& config, double parameters) {
      QTest::newRow(name) << QString::fromStdString(config) << parameters;
    };
    row("GPT-2", gpt2(768, 12, 12), 124'439'808);
    row("GPT-2 medium", gpt2(1024, 24, 16), 354'823'168);
    row("GPT-2 large", gpt2(1280, 36, 20), 774'030'080);
    row("GPT-2 XL", gpt2(1600, 48, 25), 1'557'611'200);
    row("BERT-base", bert(768, 12, 12, 3072), 109'482'240);
    row("BERT-large", bert(1024, 24, 16, 4096), 335'141'888);
    row("Llama 2 7B", llama("llama", 4096, 32, 32, 32, 11008, 32000), 6'738'415'616);
    row("Llama 2 13B", llama("llama", 5120, 40, 40, 40, 13824, 32000), 13'015'864'320);
    row("Llama 2 70B", llama("llama", 8192, 80, 64, 8, 28672, 32000), 68'976'648'192);
    row("Mistral 7B", llama("mistral", 4096, 32, 32, 8, 14336, 32000), 7'241'732'096);
    row("Qwen2 7B", llama("qwen2", 3584, 28, 28, 4, 18944, 152064), 7'615'616'512);
    row("Qwen2.5 0.5B", llama("qwen2", 896, 24, 14, 2, 4864, 151936, R"(, "tie_word_embeddings": true)"), 494'032'768);
    row("Qwen3 0.6B",
        llama("qwen3", 1024, 28, 16, 8, 3072, 151936, R"(, "tie_word_embeddings": true, "head_dim": 128)"),
        596'049'920);
  }
  void countsParameters() {
    QFETCH(QString, config);
    QFETCH(double, parameters);
    QCOMPARE(transformer_from_config(config.toStdString(), "config.json").parameters, parameters);
  }

  /// Llama 2 7B in 16 bit is 13.5 GB, as its checkpoint is.
  void weighsWhatItsFileWeighs() {
    const double bytes =
        2 * transformer_from_config(llama("llama", 4096, 32, 32, 32, 11008, 32000), "config.json").parameters;
    QVERIFY(bytes > 13.4e9 && bytes < 13.5e9);
  }

  void refusesOtherFiles_data() {
    QTest::addColumn<QString>("config");
    QTest::addColumn<QString>("said");
    QTest::newRow("no JSON") << "hello"
                             << "not a JSON object";
    QTest::newRow("a list") << "[1]"
                            << "not a JSON object";
    QTest::newRow("no type") << "{}"
                             << "accepted: gpt2, bert, llama";
    QTest::newRow("another family") << R"({"model_type": "mamba"})"
                                    << "\"mamba\"; accepted: gpt2";
    QTest::newRow("a size is missing") << R"({"model_type": "gpt2", "n_embd": 768})"
                                       << "\"n_layer\" is missing";
    QTest::newRow("negative") << QString::fromStdString(gpt2(-1, 12, 12)) << "\"n_embd\" is -1";
    QTest::newRow("no number") << R"({"model_type": "gpt2", "n_embd": "wide"})"
                               << "\"n_embd\" is \"wide\"";
    QTest::newRow("too large") << R"({"model_type": "gpt2", "n_embd": 281474976710656, "n_layer": 281474976710656,
      "n_head": 1, "n_positions": 1, "vocab_size": 1})"
                               << "2^63";
  }
  void refusesOtherFiles() {
    QFETCH(QString, config);
    QFETCH(QString, said);
    try {
      transformer_from_config(config.toStdString(), "my.json");
      QFAIL("it was accepted");
    } catch (const Error& error) {
      const QString text = QString::fromUtf8(error.what());
      QVERIFY2(text.contains(said) && text.contains("my.json"), qPrintable(text));
      QVERIFY(error.kind() == Error::Kind::input);
    }
  }
};

BATCHSCOPE_TEST(TestTransformer)
#include "tst_transformer.moc"
