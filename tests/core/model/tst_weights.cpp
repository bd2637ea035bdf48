#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include "core/base/error.h"
#include "core/checkpoint/safetensors.h"
#include "core/model/detail/weights.h"
#include "test_python.h"

using namespace batchscope;
using namespace batchscope::model;
using data::ExampleShape;

namespace {

const ExampleShape some_images{.input = ExampleShape::Input::image, .dimensions = {3, 16, 16}, .classes = 5};
const ExampleShape some_text{.input = ExampleShape::Input::tokens,
                             .target = ExampleShape::Target::next_token,
                             .dimensions = {12},
                             .vocabulary = 50};

std::unique_ptr<Model> made(const std::string& spec, const ExampleShape& shape, std::uint64_t seed) {
  return make_model(run::parse_model(spec), shape, 0.0, seed, at::kCPU);
}

QByteArray python(const QStringList& arguments) {
  QProcess process;
  process.setProcessChannelMode(QProcess::MergedChannels);
  process.start(test::test_python(),
                QStringList{BATCHSCOPE_SOURCE_DIR "/tests/core/model/transformers_twin.py"} + arguments);
  process.waitForFinished(300'000);
  return process.readAll();
}

std::string refusal_of(const Model& model, const std::string& file) {
  try {
    load_weights(model, file);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

} // namespace

/// Weights in files that other programs write and read.
class TestWeights : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void comeBackFromAFile_data() {
    QTest::addColumn<QString>("spec");
    for (const char* spec : {"cnn:width=8,norm=batch", "resnet:width=4,blocks=1", "mlp:hidden=8", "vit:width=16",
                             "gpt:layers=2,heads=2,width=16,context=12", "bert:layers=2,heads=2,width=16,context=12",
                             "llama:layers=2,heads=2,width=16,context=12"})
      QTest::newRow(spec) << spec;
  }
  void comeBackFromAFile() {
    QFETCH(QString, spec);
    const QTemporaryDir folder;
    const std::string file = folder.filePath("weights.safetensors").toStdString();
    const run::ModelKind& kind = run::kind_of(run::parse_model(spec.toStdString()));
    const ExampleShape& shape = kind.inputs[0] == ExampleShape::Input::tokens ? some_text : some_images;
    const auto one = made(spec.toStdString(), shape, 1), other = made(spec.toStdString(), shape, 2);
    checkpoint::write_safetensors(file, copy_weights(*one), {});
    load_weights(*other, file);
    QVERIFY(!one->state().empty());
    for (std::size_t i = 0; i < one->parameters().size(); ++i)
      QVERIFY(other->parameters()[i].equal(one->parameters()[i]) && other->parameters()[i].requires_grad());
    for (std::size_t i = 0; i < one->buffers().size(); ++i)
      QVERIFY(other->buffers()[i].equal(one->buffers()[i]));
  }

  void refusesOtherWeights() {
    const QTemporaryDir folder;
    const std::string file = folder.filePath("weights.safetensors").toStdString();
    const auto model = made("mlp:hidden=8", some_images, 1);
    const auto refused = [&](const std::function<void(std::vector<checkpoint::Tensor>&)>& change, const char* says) {
      auto weights = copy_weights(*made("mlp:hidden=8", some_images, 2));
      change(weights);
      checkpoint::write_safetensors(file, weights, {});
      const QString text = QString::fromStdString(refusal_of(*model, file));
      return text.contains(says) && !text.contains('\n') ? QString() : text + " for " + says;
    };
    const auto before = copy_weights(*model);
    QCOMPARE(refused([](auto& weights) { weights.pop_back(); }, "has no tensor \"output.bias\", one of the 4"),
             QString());
    QCOMPARE(refused([](auto& weights) { weights[0].name = "fc.weight"; }, "has no tensor \"hidden.0.weight\""),
             QString());
    QCOMPARE(refused(
                 [](auto& weights) {
                   weights.push_back(weights.back());
                   weights.back().name = "more";
                 },
                 "has the tensor \"more\", which this model has not"),
             QString());
    QCOMPARE(refused(
                 [](auto& weights) {
                   weights[1].shape = {4, 2};
                 },
                 "tensor \"hidden.0.bias\" is F32 [4, 2], and the model's is F32 [8]"),
             QString());
    QCOMPARE(refused([](auto& weights) { weights[1].type = "I32"; }, "is I32 [8]"), QString());
    QVERIFY(refusal_of(*model, folder.filePath("none").toStdString()).find("no such file") != std::string::npos);
    for (std::size_t i = 0; i < before.size(); ++i)
      QVERIFY(view_of(before[i], at::kFloat).equal(model->parameters()[i])); // nothing has changed
  }

  /// The step counters that PyTorch's batch norms have are left out.
  void takesTheFilesOfBatchNorms() {
    const QTemporaryDir folder;
    const std::string file = folder.filePath("weights.safetensors").toStdString();
    const auto model = made("cnn:width=8,norm=batch", some_images, 1);
    auto weights = copy_weights(*model);
    const std::shared_ptr<const char[]> zero(new char[8]());
    weights.push_back({.name = "norm1.num_batches_tracked", .type = "I64", .shape = {}, .data = zero, .bytes = 8});
    checkpoint::write_safetensors(file, weights, {});
    QCOMPARE(refusal_of(*model, file), std::string());
  }

  /// The same logits as in transformers, from the files that it saves.
  void agreesWithTransformers() {
    BATCHSCOPE_NEEDS_PYTHON();
    const QTemporaryDir folder;
    const QByteArray said = python({"make", folder.path()});
    QVERIFY2(said.contains("made vit"), said.constData());
    for (const auto& [name, sizes, shape] :
         {std::tuple{"bert", "bert:layers=2,heads=2,width=16,inner=24,context=12,positions=20,mask=3", some_text},
          std::tuple{"llama", "llama:layers=2,heads=2,kv-heads=1,width=16,inner=24,context=12", some_text},
          std::tuple{"vit", "vit:layers=2,heads=2,width=16,inner=24,patch=4", some_images}}) {
      const QString here = folder.filePath(name);
      const auto model = made(sizes, shape, 1);
      load_weights(*model, (here + "/model.safetensors").toStdString());
      at::Tensor input, logits;
      for (const checkpoint::Tensor& tensor : checkpoint::read_safetensors((here + "/case.safetensors").toStdString()))
        (tensor.name == "input" ? input : logits) =
            view_of(tensor, tensor.type == "I64" ? at::kLong : at::kFloat).clone();
      const at::NoGradGuard no_grad;
      const at::Tensor ours = model->forward(input, /*training=*/false);
      QCOMPARE(ours.sizes().vec(), logits.sizes().vec());
      const double apart = (ours - logits).abs().max().item<double>();
      qInfo("%s: largest difference of logits %.1e, the largest of which is %.1f", name, apart,
            logits.abs().max().item<double>());
      QVERIFY2(apart < 1e-5, name);
      checkpoint::write_safetensors((here + "/ours.safetensors").toStdString(), copy_weights(*model), {});
      QVERIFY(python({"same", here + "/model.safetensors", here + "/ours.safetensors"}).contains("same"));
    }
  }
};

BATCHSCOPE_TEST(TestWeights)
#include "tst_weights.moc"
