#include <QTest>

#include <functional>
#include <map>
#include <string>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/group_norm.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>

#include "core/meta/detail/host_kernel.h"
#include "core/meta/detail/meta_device.h"
#include "core/model/detail/autocast.h"
#include "test_program.h"

using namespace batchscope;

namespace {

/// An operator on a vector of a multiplied matrix, in the type that it has after that.
using Operator = std::function<at::Tensor(const at::Tensor& full, const at::Tensor& lower)>;

const std::map<std::string, Operator>& operators() {
  static const std::map<std::string, Operator> all{
      {"linear", [](auto& full, auto&) { return at::linear(full, full); }},
      {"matmul", [](auto& full, auto& lower) { return at::matmul(full, lower); }},
      {"bmm",
       [](auto& full, auto&) {
         return at::bmm(full.view({1, 8, 8}), full.view({1, 8, 8}));
       }},
      {"conv2d",
       [](auto& full, auto&) {
         return at::conv2d(full.view({1, 1, 8, 8}), full.view({1, 1, 8, 8}));
       }},
      {"add", [](auto& full, auto& lower) { return full + lower; }},
      {"multiply", [](auto& full, auto& lower) { return lower * full; }},
      {"cat",
       [](auto& full, auto& lower) {
         return at::cat({full, lower});
       }},
      {"cat of equals",
       [](auto&, auto& lower) {
         return at::cat({lower, lower});
       }},
      {"relu", [](auto&, auto& lower) { return at::relu(lower); }},
      {"gelu", [](auto&, auto& lower) { return at::gelu(lower); }},
      {"silu", [](auto&, auto& lower) { return at::silu(lower); }},
      {"softmax", [](auto&, auto& lower) { return at::softmax(lower, -1); }},
      {"pow", [](auto&, auto& lower) { return lower.pow(2); }},
      {"mean", [](auto&, auto& lower) { return lower.mean(-1); }},
      {"rsqrt", [](auto&, auto& lower) { return lower.rsqrt(); }},
      {"layer_norm", [](auto& full, auto& lower) { return at::layer_norm(lower, {8}, full[0], full[0]); }},
      {"group_norm",
       [](auto& full, auto& lower) {
         return at::group_norm(lower.view({1, 8, 8}), 2, full[0], full[0]);
       }},
      {"max_pool2d",
       [](auto&, auto& lower) {
         return at::max_pool2d(lower.view({1, 1, 8, 8}), 2);
       }},
  };
  return all;
}

} // namespace

/// `meta` has the types of `cpu` in mixed precision.
class TestAutocast : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void hasTheTypesOfTheHost_data() {
    QTest::addColumn<QString>("name");
    for (const auto& [name, run] : operators())
      QTest::addRow("%s", name.c_str()) << QString::fromStdString(name);
  }
  void hasTheTypesOfTheHost() {
    QFETCH(QString, name);
    const Operator& run = operators().at(name.toStdString());
    const auto device = meta::MetaDevice::open();
    const meta::MetaDevice::Scope scope(*device);
    const auto type_on = [&](c10::Device where) {
      const model::Autocast mixed(where, at::kBFloat16);
      const at::Tensor full = at::zeros({8, 8}, at::TensorOptions(at::kFloat).device(where));
      return run(full, full.to(at::kBFloat16)).scalar_type();
    };
    QCOMPARE(c10::toString(type_on(at::kMeta)), c10::toString(type_on(at::kCPU)));
  }

  /// LibTorch's lists for GPUs have norms and sums in fp32.
  void hasTheTypesOfAGpu() {
    const auto device = meta::MetaDevice::open();
    const meta::MetaDevice::Scope scope(*device);
    const meta::LearningScope of_a_gpu(meta::Learning::none);
    const model::Autocast mixed(at::kMeta, at::kHalf);
    const at::Tensor full = at::zeros({8, 8}, at::TensorOptions(at::kFloat).device(at::kMeta));
    const at::Tensor lower = at::linear(full, full);
    QVERIFY(lower.scalar_type() == at::kHalf);
    QVERIFY(at::layer_norm(lower, {8}, full[0], full[0]).scalar_type() == at::kFloat);
    QVERIFY(lower.pow(2).scalar_type() == at::kFloat);
    QVERIFY(at::relu(lower).scalar_type() == at::kHalf);
  }

  /// A parameter is cast once, and its copy freed with the scope; nothing is cast outside of it.
  void keepsTheCastsOfParameters() {
    const auto device = meta::MetaDevice::open();
    const meta::MetaDevice::Scope scope(*device);
    const at::Tensor weights = at::zeros({64, 64}, at::TensorOptions(at::kFloat).device(at::kMeta)).requires_grad_();
    const at::Tensor x = at::zeros({64, 64}, at::TensorOptions(at::kBFloat16).device(at::kMeta));
    const std::uint64_t before = device->readings().in_use, copy = 64 * 64 * 2;
    {
      const model::Autocast mixed(at::kMeta, at::kBFloat16);
      at::linear(x, weights);
      QCOMPARE(device->readings().in_use, before + copy);
      at::linear(x, weights);
      QCOMPARE(device->readings().in_use, before + copy);
    }
    QCOMPARE(device->readings().in_use, before);
    QVERIFY(model::Autocast::type_on(at::kMeta) == at::kFloat);
    QVERIFY(at::relu(weights).scalar_type() == at::kFloat);
  }
};

BATCHSCOPE_TEST(TestAutocast)
#include "tst_autocast.moc"
