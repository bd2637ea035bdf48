#include <QTest>

#include "core/base/error.h"
#include "core/estimate/cards.h"
#include "core/estimate/formula.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::estimate;

namespace {

constexpr double gib = 1024.0 * 1024.0 * 1024.0;

Transformer bert_base() {
  return {
      .family = {}, .parameters = 110e6, .layers = 12, .width = 768, .heads = 12, .vocabulary = 0, .positions = 512};
}

bool near(double a, double b, double tolerance = 0.005) {
  return std::abs(a / b - 1) < tolerance;
}

} // namespace

class TestFormula : public QObject {
  Q_OBJECT

private Q_SLOTS:
  /// The example of the trade-offs document: its formula gives 2.20 GiB (its text says 5.6).
  void ruleOfThumb() {
    Training training{.batch = 32, .sequence = 512};
    QVERIFY(near(rule_of_thumb(bert_base(), training).total() / gib, 2.20));
    training.checkpointing = true;
    QCOMPARE(rule_of_thumb(bert_base(), training).activations, 32.0 * 512 * 768 * 4);
    training.optimizer = Training::Optimizer::sgd;
    QCOMPARE(rule_of_thumb(bert_base(), training).optimizer, 0.0);
    training.precision = Training::Precision::fp16;
    QCOMPARE(rule_of_thumb(bert_base(), training).parameters, 220e6);
  }

  /// Adam in mixed precision takes 16 bytes a parameter; ZeRO's example (Rajbhandari et al. 2020, figure 1): 7.5
  /// billion parameters take 120 GB, and 1.9 GB on each of 64 devices that share everything.
  void sixteenBytesAParameter() {
    Transformer model;
    model.parameters = 7.5e9;
    Training training{.batch = 0, .precision = Training::Precision::mixed};
    const auto without_copy = [&] {
      return by_formula(model, training).total() - 2 * model.parameters / training.shards;
    };
    QVERIFY(near(without_copy(), 120e9));
    training.shards = 64;
    QVERIFY(near(without_copy(), 1.875e9));
    training = {.batch = 0, .precision = Training::Precision::fp32};
    QVERIFY(near(by_formula(model, training).total(), 120e9));
    training.precision = Training::Precision::fp16;
    QVERIFY(near(by_formula(model, training).total(), 60e9));
    training = {.batch = 0, .optimizer = Training::Optimizer::adam8bit};
    QVERIFY(near(by_formula(model, training).optimizer, 15e9));
  }

  /// Korthikanti et al. 2022: s b h (34 + 5 a s / h) bytes a layer in 16 bit.
  void activations() {
    Training training{
        .batch = 8, .sequence = 512, .precision = Training::Precision::fp16, .attention = Training::Attention::eager};
    const Transformer model = bert_base();
    const double layer = 512.0 * 8 * 768 * (34 + 5.0 * 12 * 512 / 768);
    QCOMPARE(by_formula(model, training).activations, 12 * layer);
    training.precision = Training::Precision::fp32;
    QCOMPARE(by_formula(model, training).activations, 2 * 12 * layer);
    training.attention = Training::Attention::fused;
    QCOMPARE(by_formula(model, training).activations, 2 * 12 * 512.0 * 8 * 768 * 34);
    training.precision = Training::Precision::fp16;
    training.checkpointing = true;
    QCOMPARE(by_formula(model, training).activations, 12 * 2 * 512.0 * 8 * 768 + 512.0 * 8 * 768 * 34);
  }

  /// 4-bit weights take 0.5 GB a billion parameters; only the adapters are trained.
  void adapters() {
    Transformer model = bert_base();
    model.parameters = 7e9;
    const Training training{.batch = 0, .precision = Training::Precision::int4, .lora_rank = 16};
    const double trained = 12 * 2 * 16 * 2 * 768;
    const Estimate estimate = by_formula(model, training);
    QCOMPARE(estimate.parameters, 3.5e9 + 4 * trained);
    QCOMPARE(estimate.gradients, 4 * trained);
    QCOMPARE(estimate.optimizer, 8 * trained);
  }

  void largestBatch() {
    const Transformer model = bert_base();
    const Training training{.sequence = 512};
    for (const double gigabytes : {2.0, 8.0, 24.0}) {
      const std::int64_t batch = max_batch(by_formula, model, training, gigabytes * 1e9);
      Training at = training, above = training;
      at.batch = static_cast<double>(batch);
      above.batch = static_cast<double>(batch + 1);
      QVERIFY(by_formula(model, at).total() <= gigabytes * 1e9);
      QVERIFY(by_formula(model, above).total() > gigabytes * 1e9);
    }
    QCOMPARE(max_batch(by_formula, model, training, 1e9), std::int64_t{0});
  }

  void names() {
    QVERIFY(precision_from("4bit") == Training::Precision::int4);
    QVERIFY(optimizer_from("adamw") == Training::Optimizer::adam);
    QVERIFY_EXCEPTION_THROWN(precision_from("fp8"), Error);
    QVERIFY_EXCEPTION_THROWN(optimizer_from("lion"), Error);
    QVERIFY_EXCEPTION_THROWN(attention_from("flash"), Error);
  }

  void targets() {
    QVERIFY(cards().size() >= 20);
    for (const Card& card : cards()) {
      QVERIFY2(card.memory_bytes >= 8'000'000'000 && card.bandwidth > 1e11 && card.year >= 2016, card.name.c_str());
      QVERIFY2(card.source.find("NVIDIA") != std::string::npos, card.name.c_str());
      const Target target = parse_target(card.name, "--for");
      QCOMPARE(target.memory_bytes, card.memory_bytes);
      QVERIFY(target.usable_bytes() < card.memory_bytes);
    }
    QCOMPARE(parse_target("24GB", "--for").usable_bytes(), std::uint64_t{24'000'000'000});
    QCOMPARE(parse_target("RTX 4090", "--for").name, std::string("rtx-4090"));
    QCOMPARE(parse_target("H100_80GB", "--for").memory_bytes, std::uint64_t{80} << 30);
    try {
      parse_target("rtx4090", "--for");
      QFAIL("it was accepted");
    } catch (const Error& error) {
      QVERIFY2(QString(error.what()).contains("nearest: rtx-4090"), error.what());
    }
    QVERIFY_EXCEPTION_THROWN(parse_target("", "--for"), Error);
    QVERIFY_EXCEPTION_THROWN(parse_target("24XB", "--for"), Error);
  }
};

BATCHSCOPE_TEST(TestFormula)
#include "tst_formula.moc"
