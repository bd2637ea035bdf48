#include <QTest>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>

#include "core/model/detail/autocast.h"
#include "core/model/detail/model.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::model;
using data::ExampleShape;

namespace {

constexpr std::int64_t tokens_in_text = 12;
constexpr std::int64_t classes = 20;

struct TrainingPass {
  at::Tensor logits, generator; ///< the generator's state afterwards
  std::vector<at::Tensor> gradients, buffers;
};

TrainingPass pass(const QString& spec, double dropout, at::ScalarType precision, bool checkpointing) {
  const run::ModelSpec parsed = run::parse_model(spec.toStdString());
  const bool reads_text = parsed.sizes.count("context") > 0;
  ExampleShape shape{.input = ExampleShape::Input::image, .dimensions = {3, 10, 10}, .classes = classes};
  if (reads_text)
    shape = {.input = ExampleShape::Input::tokens,
             .target = ExampleShape::Target::next_token,
             .dimensions = {tokens_in_text},
             .vocabulary = classes};
  const auto model = make_model(parsed, shape, dropout, 1, at::kCPU);
  model->set_checkpointing(checkpointing);
  at::Generator generator = at::globalContext().defaultGenerator(at::kCPU);
  generator.set_current_seed(7);
  const at::Tensor input = reads_text ? at::randint(classes, {4, tokens_in_text}, at::kLong) : at::rand({4, 3, 10, 10});
  TrainingPass result;
  {
    const Autocast mixed(at::kCPU, precision);
    result.logits = model->forward(input, true).reshape({-1, classes}).to(at::kFloat);
  }
  const at::Tensor target = at::randint(classes, {result.logits.size(0)}, at::kLong);
  at::cross_entropy_loss(result.logits, target).backward();
  for (const at::Tensor& parameter : model->parameters())
    result.gradients.push_back(parameter.grad());
  result.buffers = model->buffers();
  result.generator = generator.get_state();
  return result;
}

} // namespace

/// What is computed again is what was computed first, to the last bit.
class TestCheckpointing : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void changesNoBit_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<double>("dropout");
    QTest::addColumn<bool>("bf16");
    for (const bool bf16 : {false, true})
      for (const double dropout : {0.0, 0.3})
        for (const char* model :
             {"mlp:hidden=8", "mlp:hidden=8,layers=5", "cnn:width=4", "cnn:width=4,norm=batch",
              "resnet:width=4,blocks=2", "resnet:width=4,blocks=1,norm=batch",
              "gpt:layers=3,heads=2,width=16,context=12", "gpt:layers=2,heads=2,width=16,context=12,tied=1",
              "bert:layers=2,heads=2,width=16,context=12,mask=3", "vit:layers=2,heads=2,width=16,patch=5",
              "llama:layers=2,heads=4,kv-heads=2,width=16,context=12,head-norms=1,bias=1"})
          QTest::addRow("%s, dropout %g, %s", model, dropout, bf16 ? "bf16" : "fp32")
              << QString(model) << dropout << bf16;
  }
  void changesNoBit() {
    QFETCH(QString, model);
    QFETCH(double, dropout);
    QFETCH(bool, bf16);
    const at::ScalarType precision = bf16 ? at::kBFloat16 : at::kFloat;
    const TrainingPass kept = pass(model, dropout, precision, false), again = pass(model, dropout, precision, true);
    QVERIFY(kept.logits.equal(again.logits));
    QCOMPARE(kept.gradients.size(), again.gradients.size());
    for (std::size_t i = 0; i < kept.gradients.size(); ++i)
      QVERIFY2(kept.gradients[i].equal(again.gradients[i]), qPrintable(QStringLiteral("parameter %1").arg(i)));
    for (std::size_t i = 0; i < kept.buffers.size(); ++i)
      QVERIFY2(kept.buffers[i].equal(again.buffers[i]), qPrintable(QStringLiteral("buffer %1").arg(i)));
    QVERIFY(kept.generator.equal(again.generator));
  }

  /// The comparison can fail: another dropout gives other logits.
  void dropoutShows() {
    const auto logits = [](double dropout) { return pass("mlp:hidden=8", dropout, at::kFloat, false).logits; };
    QVERIFY(!logits(0.3).equal(logits(0.2)));
  }
};

BATCHSCOPE_TEST(TestCheckpointing)
#include "tst_checkpointing.moc"
