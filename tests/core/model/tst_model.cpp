#include <QTest>

#include <limits>
#include <set>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>

#include "core/base/error.h"
#include "core/model/detail/model.h"
#include "core/model/detail/pooling.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::model;
using data::ExampleShape;

namespace {

ExampleShape images(std::int64_t channels, std::int64_t side, std::int64_t classes) {
  return {.input = ExampleShape::Input::image, .dimensions = {channels, side, side}, .classes = classes};
}

ExampleShape text(std::int64_t context, std::int64_t vocabulary) {
  return {.input = ExampleShape::Input::tokens,
          .target = ExampleShape::Target::next_token,
          .dimensions = {context},
          .vocabulary = vocabulary};
}

std::unique_ptr<Model> make(const QString& spec, const ExampleShape& shape, std::uint64_t seed = 1) {
  return make_model(run::parse_model(spec.toStdString()), shape, 0.0, seed, at::kCPU);
}

std::int64_t parameters(const Model& model) {
  std::int64_t count = 0;
  for (const at::Tensor& parameter : model.parameters())
    count += parameter.numel();
  return count;
}

} // namespace

class TestModel : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void hasTheParametersItShould() {
    QCOMPARE(parameters(*make("mlp:hidden=256", images(1, 28, 10))), std::int64_t{784 * 256 + 256 + 256 * 10 + 10});
    // Convolutions without bias, norms with scale and shift, one linear layer on 64 maps of 7x7.
    QCOMPARE(parameters(*make("cnn:width=32", images(1, 28, 10))),
             std::int64_t{32 * 9 + 2 * 32 + 64 * 32 * 9 + 2 * 64 + 64 * 49 * 10 + 10});
    // Embeddings of tokens and positions; a block has 12 w^2 + 13 w; final norm and output.
    const std::int64_t w = 16;
    QCOMPARE(parameters(*make("gpt:layers=2,heads=2,width=16,context=8", text(8, 20))),
             20 * w + 8 * w + 2 * (12 * w * w + 13 * w) + 2 * w + 20 * w + 20);
  }

  void takesImagesOfManySizes_data() {
    QTest::addColumn<QString>("spec");
    QTest::addColumn<int>("side");
    for (const char* spec : {"cnn:width=4", "cnn:width=4,norm=batch", "resnet:width=4", "resnet:width=4,norm=batch"}) {
      for (const int side : {8, 28, 32, 96, 224})
        QTest::newRow(qPrintable(QStringLiteral("%1 at %2").arg(spec).arg(side))) << QString(spec) << side;
    }
  }
  void takesImagesOfManySizes() {
    QFETCH(QString, spec);
    QFETCH(int, side);
    const auto model = make(spec, images(3, side, 7));
    const at::Tensor logits = model->forward(at::rand({2, 3, side, side}), true);
    QCOMPARE(logits.sizes().vec(), (std::vector<std::int64_t>{2, 7}));
    logits.sum().backward();
    for (const at::Tensor& parameter : model->parameters())
      QVERIFY(parameter.grad().defined());
    QCOMPARE(model->buffers().empty(), !spec.contains("norm=batch"));
  }

  /// The counts of the checkpoints on Hugging Face, at sizes that fit into a test: those of their formulas.
  void transformersHaveTheirParameters() {
    const std::int64_t w = 16, inner = 24, v = 20;
    QCOMPARE(parameters(*make("gpt:layers=2,heads=2,width=16,context=8,positions=10,inner=24,tied=1", text(8, v))),
             (v + 10) * w + 2 * (4 * w * w + 4 * w + 2 * w * inner + inner + w + 4 * w) + 2 * w);
    const std::int64_t attention = 2 * w * w + 2 * w * (w / 2);
    QCOMPARE(parameters(*make("llama:layers=2,heads=4,kv-heads=2,width=16,inner=24,context=8", text(8, v))),
             2 * v * w + 2 * (attention + 3 * w * inner + 2 * w) + w);
    QCOMPARE(
        parameters(*make("llama:layers=2,heads=4,kv-heads=2,width=16,inner=24,context=8,tied=1,bias=1,head-norms=1",
                         text(8, v))),
        v * w + 2 * (attention + 3 * w * inner + 2 * w + 2 * w + 2 * (w / 4)) + w);
    QCOMPARE(parameters(*make("bert:layers=2,heads=2,width=16,inner=24,context=8,positions=10,mask=3", text(8, v))),
             (v + 10 + 2) * w + 2 * w + 2 * (4 * w * w + 4 * w + 2 * w * inner + inner + w + 4 * w) + w * w + w +
                 2 * w + v);
  }

  void visionTransformersHaveTheirParameters() {
    const std::int64_t w = 16, inner = 24, squares = 4 * 4;
    QCOMPARE(parameters(*make("vit:layers=2,heads=2,width=16,inner=24,patch=4", images(3, 16, 7))),
             3 * 16 * w + w + (squares + 2) * w + 2 * (4 * w * w + 4 * w + 2 * w * inner + inner + w + 4 * w) + 2 * w +
                 7 * w + 7);
  }

  /// Every tensor of a model has a name of its own, as PyTorch writes them.
  void tensorsHaveNames() {
    for (const char* spec : {"cnn:width=8,norm=batch", "resnet:width=8", "mlp:hidden=8,layers=2", "vit:width=16"}) {
      const auto model = make(spec, images(1, 16, 4));
      std::set<std::string> names;
      for (const auto& [name, tensor] : model->state())
        QVERIFY2(names.insert(name).second && tensor.defined(), name.c_str());
      QCOMPARE(names.size(), model->parameters().size() + model->buffers().size());
    }
    const auto bert = make("bert:layers=2,heads=2,width=16,context=8", text(8, 20));
    QCOMPARE(bert->state().at(14).first, std::string("bert.encoder.layer.0.attention.self.value.weight"));
  }

  /// Rotations of position p and q turn a query and a key so that their product depends on p - q alone.
  void rotaryPositionsAreRelative() {
    const auto model = make("llama:layers=1,heads=2,width=16,context=12", text(12, 20));
    const at::NoGradGuard no_grad;
    at::Tensor tokens = at::randint(20, {1, 12}, at::kLong);
    tokens.slice(1, 1, 12) = tokens[0][1].clone(); // the same everywhere but at the first, which differs
    tokens[0][0] = (tokens[0][1].item<std::int64_t>() + 1) % 20;
    const at::Tensor logits = model->forward(tokens, false);
    // One layer of equal tokens says the same at each position, but for the first token's share.
    tokens[0][0] = tokens[0][1];
    const at::Tensor equal = model->forward(tokens, false);
    QVERIFY(at::allclose(equal.select(1, 3), equal.select(1, 11), 1e-4, 1e-5));
    QVERIFY(!at::allclose(logits.select(1, 3), logits.select(1, 11), 1e-4, 1e-5));
  }

  void encodersSeeAll() {
    const auto model = make("bert:layers=1,heads=2,width=16,context=8", text(8, 20));
    const at::NoGradGuard no_grad;
    at::Tensor tokens = at::randint(20, {1, 8}, at::kLong);
    const at::Tensor before = model->forward(tokens, false);
    tokens[0][7] = (tokens[0][7].item<std::int64_t>() + 1) % 20;
    QVERIFY(!at::allclose(before.select(1, 0), model->forward(tokens, false).select(1, 0)));
  }

  void seesOnlyThePast_data() {
    QTest::addColumn<QString>("spec");
    QTest::newRow("gpt") << "gpt:layers=2,heads=2,width=16,context=8";
    QTest::newRow("llama") << "llama:layers=2,heads=4,kv-heads=2,width=16,context=8";
  }
  void seesOnlyThePast() {
    QFETCH(QString, spec);
    const auto model = make(spec, text(8, 20));
    const at::NoGradGuard no_grad;
    at::Tensor tokens = at::randint(20, {1, 8}, at::kLong);
    const at::Tensor before = model->forward(tokens, false);
    tokens[0][7] = (tokens[0][7].item<std::int64_t>() + 1) % 20;
    const at::Tensor after = model->forward(tokens, false);
    QVERIFY(at::allclose(before.slice(1, 0, 7), after.slice(1, 0, 7)));
    QVERIFY(!at::allclose(before.select(1, 7), after.select(1, 7)));
  }

  void poolsAsLibTorchDoes_data() {
    QTest::addColumn<int>("height");
    QTest::addColumn<int>("width");
    QTest::newRow("even") << 28 << 28;
    QTest::newRow("odd") << 7 << 9;
    QTest::newRow("one window") << 2 << 2;
    QTest::newRow("large") << 300 << 200;
  }
  void poolsAsLibTorchDoes() {
    QFETCH(int, height);
    QFETCH(int, width);
    constexpr float infinity = std::numeric_limits<float>::infinity();
    at::Tensor x = at::randn({3, 5, height, width}).relu_(); // half of it zeros: equals
    x[0][0][0][0] = std::numeric_limits<float>::quiet_NaN();
    x[1][1][0][0] = infinity;
    x[1][1][0][1] = -infinity;
    const auto results = [](const at::Tensor& images, const auto& pool) {
      const at::Tensor input = images.clone().requires_grad_();
      const at::Tensor pooled = pool(input);
      (pooled * at::arange(1, pooled.numel() + 1, at::kFloat).view(pooled.sizes()))
          .nan_to_num(0, 0, 0)
          .sum()
          .backward();
      return std::vector{pooled.detach().nan_to_num(7), input.grad().nan_to_num(7)};
    };
    const auto own = results(x, [](const at::Tensor& images) { return max_pool_2x2(images); });
    const auto theirs = results(x, [](const at::Tensor& images) { return at::max_pool2d(images, 2); });
    QVERIFY(own[0].equal(theirs[0]));
    QVERIFY(own[1].equal(theirs[1]));
    // A layout that it has no kernel for.
    QVERIFY(max_pool_2x2(x.contiguous(at::MemoryFormat::ChannelsLast)).nan_to_num(7).equal(theirs[0]));
  }

  void weightsComeFromTheSeed() {
    const auto a = make("cnn", images(1, 28, 10)), b = make("cnn", images(1, 28, 10)),
               c = make("cnn", images(1, 28, 10), 2);
    QVERIFY(a->parameters()[0].equal(b->parameters()[0]));
    QVERIFY(!a->parameters()[0].equal(c->parameters()[0]));
  }

  void refusesBadSizesWithTheBound_data() {
    QTest::addColumn<QString>("spec");
    QTest::addColumn<QString>("says");
    QTest::newRow("unknown model") << "vgg"
                                   << "cnn, mlp, resnet, gpt";
    QTest::newRow("unknown parameter") << "cnn:depth=3"
                                       << "width, norm";
    QTest::newRow("zero") << "cnn:width=0"
                          << "1024";
    QTest::newRow("above") << "mlp:hidden=65537"
                           << "65536";
    QTest::newRow("no number") << "gpt:layers=many"
                               << "256";
    QTest::newRow("context") << "gpt:context=20,positions=10"
                             << "positions=10";
    QTest::newRow("key heads") << "llama:heads=4,kv-heads=3"
                               << "kv-heads=3";
    QTest::newRow("odd heads") << "llama:head-width=3"
                               << "head-width=3 is odd";
    QTest::newRow("norm") << "resnet:norm=layer"
                          << "group, batch";
    QTest::newRow("heads") << "gpt:heads=3,width=128"
                           << "width=128 is not divisible by heads=3";
  }
  void refusesBadSizesWithTheBound() {
    QFETCH(QString, spec);
    QFETCH(QString, says);
    try {
      run::parse_model(spec.toStdString());
      QFAIL("no error");
    } catch (const Error& error) {
      QVERIFY(error.kind() == Error::Kind::input);
      QVERIFY2(QString(error.what()).contains(says), error.what());
    }
  }

  void refusesExamplesThatItCannotTake() {
    QVERIFY_EXCEPTION_THROWN(run::check_fits(run::parse_model("cnn"), text(8, 20)), Error);
    QVERIFY_EXCEPTION_THROWN(run::check_fits(run::parse_model("gpt"), images(1, 28, 10)), Error);
    QVERIFY_EXCEPTION_THROWN(run::check_fits(run::parse_model("mlp"), text(8, 20)), Error);
    QVERIFY_EXCEPTION_THROWN(run::check_fits(run::parse_model("cnn"), images(1, 7, 10)), Error);
    QVERIFY_EXCEPTION_THROWN(run::check_fits(run::parse_model("vit:patch=5"), images(1, 28, 10)), Error);
    QVERIFY_EXCEPTION_THROWN(run::check_fits(run::parse_model("bert:mask=20"), text(8, 20)), Error);
    run::check_fits(run::parse_model("resnet"), images(3, 224, 10));
  }
};

BATCHSCOPE_TEST(TestModel)
#include "tst_model.moc"
