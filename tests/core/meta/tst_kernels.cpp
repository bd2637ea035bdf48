#include <QTest>

#include <functional>
#include <map>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_adaptive_avg_pool2d.h>
#include <ATen/ops/_adaptive_avg_pool2d_backward.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/embedding_dense_backward.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/native_batch_norm_backward.h>
#include <ATen/ops/native_group_norm.h>
#include <ATen/ops/native_group_norm_backward.h>
#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/native_layer_norm_backward.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include "core/memory/detail/budget_allocator.h"
#include "core/memory/device.h"
#include "core/meta/detail/host_kernel.h"
#include "core/meta/detail/meta_device.h"
#include "test_program.h"

using namespace batchscope;

namespace {

using Tensors = std::vector<at::Tensor>;
using Sizes = std::vector<std::int64_t>;
/// Makes a tensor of zeros on the device that is tested.
using Make = std::function<at::Tensor(const Sizes&, at::ScalarType)>;
using Run = std::function<Tensors(const Make&)>;

template <typename... T> Tensors listed(const std::tuple<T...>& tensors) {
  return std::apply([](const auto&... each) { return Tensors{each...}; }, tensors);
}

Tensors convolve(const Make& make, const Sizes& stride, const Sizes& padding, std::int64_t groups) {
  const at::Tensor x = make({3, 4, 9, 7}, at::kFloat), w = make({6, 4 / groups, 3, 3}, at::kFloat);
  const at::Tensor y = at::convolution(x, w, {}, stride, padding, {1, 1}, false, {0, 0}, groups);
  Tensors all{y};
  for (const at::Tensor& gradient : listed(at::convolution_backward(y, x, w, std::nullopt, stride, padding, {1, 1},
                                                                    false, {0, 0}, groups, {true, true, false})))
    all.push_back(gradient);
  return all;
}

/// Each kernel that is registered for `meta`, called as the models call it.
const std::map<std::string, Run>& kernels() {
  static const std::map<std::string, Run> all{
      {"relu",
       [](const Make& make) {
         return Tensors{at::relu(make({3, 4}, at::kFloat))};
       }},
      {"relu_",
       [](const Make& make) {
         at::Tensor x = make({3, 4}, at::kFloat);
         return Tensors{x.relu_()};
       }},
      {"index_select",
       [](const Make& make) {
         return Tensors{make({9, 4}, at::kFloat).index_select(0, make({5}, at::kLong))};
       }},
      {"embedding_dense_backward",
       [](const Make& make) {
         return Tensors{
             at::embedding_dense_backward(make({2, 5, 4}, at::kFloat), make({2, 5}, at::kLong), 9, -1, false)};
       }},
      {"where",
       [](const Make& make) {
         return Tensors{at::where(make({3, 1}, at::kBool), make({3, 4}, at::kFloat), make({}, at::kFloat))};
       }},
      {"adaptive_avg_pool2d",
       [](const Make& make) {
         const at::Tensor x = make({2, 3, 9, 8}, at::kFloat), y = at::_adaptive_avg_pool2d(x, {7, 7});
         return Tensors{y, at::_adaptive_avg_pool2d_backward(y, x)};
       }},
      {"layer_norm",
       [](const Make& make) {
         const at::Tensor x = make({3, 5, 8}, at::kFloat), w = make({8}, at::kFloat);
         Tensors all = listed(at::native_layer_norm(x, {8}, w, w, 1e-5));
         const auto more = listed(at::native_layer_norm_backward(x, x, {8}, all[1], all[2], w, w, {true, true, true}));
         all.insert(all.end(), more.begin(), more.end());
         return all;
       }},
      {"group_norm",
       [](const Make& make) {
         const at::Tensor x = make({3, 8, 5, 5}, at::kFloat), w = make({8}, at::kFloat);
         Tensors all = listed(at::native_group_norm(x, w, w, 3, 8, 25, 4, 1e-5));
         const auto more =
             listed(at::native_group_norm_backward(x, x, all[1], all[2], w, 3, 8, 25, 4, {true, true, true}));
         all.insert(all.end(), more.begin(), more.end());
         return all;
       }},
      {"batch_norm",
       [](const Make& make) {
         const at::Tensor x = make({3, 8, 5, 5}, at::kFloat), w = make({8}, at::kFloat), mean = make({8}, at::kFloat),
                          variance = make({8}, at::kFloat);
         Tensors all = listed(at::native_batch_norm(x, w, w, mean, variance, true, 0.1, 1e-5));
         const auto more = listed(
             at::native_batch_norm_backward(x, x, w, mean, variance, all[1], all[2], true, 1e-5, {true, true, true}));
         all.insert(all.end(), more.begin(), more.end());
         return all;
       }},
      {"batch_norm in evaluation",
       [](const Make& make) {
         const at::Tensor x = make({3, 8, 5, 5}, at::kFloat), w = make({8}, at::kFloat);
         return Tensors{std::get<0>(at::native_batch_norm(x, w, w, w, w, false, 0.1, 1e-5))};
       }},
      {"convolution",
       [](const Make& make) {
         return convolve(make, {1, 1}, {1, 1}, 1);
       }},
      {"convolution, transposed",
       [](const Make& make) {
         const at::Tensor x = make({3, 4, 7, 7}, at::kFloat), w = make({4, 3, 3, 3}, at::kFloat);
         const at::Tensor y = at::convolution(x, w, {}, {2, 2}, {1, 1}, {1, 1}, true, {1, 1}, 2);
         Tensors all{y};
         for (const at::Tensor& gradient : listed(at::convolution_backward(
                  y, x, w, std::vector<std::int64_t>{6}, {2, 2}, {1, 1}, {1, 1}, true, {1, 1}, 2, {true, true, true})))
           all.push_back(gradient);
         return all;
       }},
      {"attention, as it is chosen",
       [](const Make& make) {
         const at::Tensor q = make({2, 3, 9, 8}, at::kFloat);
         return Tensors{at::scaled_dot_product_attention(q, q, q, {}, 0, true),
                        at::scaled_dot_product_attention(q, q, q, make({9, 9}, at::kFloat))};
       }},
      {"convolution, strided",
       [](const Make& make) {
         return convolve(make, {2, 2}, {1, 1}, 1);
       }},
      {"convolution, uneven",
       [](const Make& make) {
         return convolve(make, {2, 1}, {0, 2}, 1);
       }},
      {"convolution, groups",
       [](const Make& make) {
         return convolve(make, {1, 1}, {1, 1}, 2);
       }},
      {"attention",
       [](const Make& make) {
         const at::Tensor q = make({2, 6, 4, 8}, at::kFloat).transpose(1, 2); // [batch, heads, length, width]
         const auto [out, sums] = at::_scaled_dot_product_flash_attention_for_cpu(q, q, q, 0, true);
         Tensors all{out, sums};
         const auto more =
             listed(at::_scaled_dot_product_flash_attention_for_cpu_backward(out, q, q, q, out, sums, 0, true));
         all.insert(all.end(), more.begin(), more.end());
         return all;
       }},
      {"optimizers",
       [](const Make& make) {
         const Tensors weights{make({4}, at::kFloat)}, gradients{make({4}, at::kFloat)}, mean{make({4}, at::kFloat)},
             square{make({4}, at::kFloat)}, step{make({}, at::kFloat)};
         at::_fused_adam_(weights, gradients, mean, square, {}, step, 0.1, 0.9, 0.99, 0, 1e-8, false, false, {}, {});
         at::_fused_adamw_(weights, gradients, mean, square, {}, step, 0.1, 0.9, 0.99, 0, 1e-8, false, false, {}, {});
         at::_fused_sgd_(weights, gradients, mean, 0, 0.9, 0.1, 0, false, false, false);
         return Tensors{weights[0], mean[0], square[0]};
       }},
  };
  return all;
}

Make on(at::DeviceType device) {
  return [device](const Sizes& sizes, at::ScalarType type) {
    return at::zeros(sizes, at::TensorOptions(type).device(device));
  };
}

} // namespace

/// Kernels without data give tensors of the same form as the kernels of `cpu`.
class TestKernels : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void giveTheSameForms_data() {
    QTest::addColumn<QString>("kernel");
    for (const auto& [name, run] : kernels())
      QTest::newRow(name.c_str()) << QString::fromStdString(name);
  }
  void giveTheSameForms() {
    QFETCH(QString, kernel);
    const at::NoGradGuard no_grad;
    const auto device = meta::MetaDevice::open();
    const meta::MetaDevice::Scope scope(*device);
    const Run& run = kernels().at(kernel.toStdString());
    const Tensors real = run(on(at::kCPU)), formal = run(on(at::kMeta));
    QCOMPARE(formal.size(), real.size());
    for (std::size_t i = 0; i < real.size(); ++i) {
      QCOMPARE(formal[i].defined(), real[i].defined());
      if (!real[i].defined())
        continue;
      QVERIFY(formal[i].is_meta());
      QCOMPARE(formal[i].sizes().vec(), real[i].sizes().vec());
      QCOMPARE(formal[i].strides().vec(), real[i].strides().vec());
      QVERIFY(formal[i].scalar_type() == real[i].scalar_type());
    }
  }

  /// The workspace of a kernel is learnt once, grows with the batch if it does in the kernel, and counts for no budget.
  void learnsWorkspace() {
    const auto host = memory::open_device("cpu", 1'000'000);
    int runs = 0;
    const auto blocks = [&](std::int64_t examples) {
      const auto device = meta::MetaDevice::open();
      const meta::MetaDevice::Scope scope(*device);
      device->start_trace();
      const auto made =
          meta::like_host_kernel({.key = "test",
                                  .examples = examples,
                                  .elements = 100,
                                  .operations = 100,
                                  .prepare =
                                      [&](std::int64_t n) {
                                        return [&runs, n] {
                                          ++runs;
                                          const at::Tensor fixed = at::zeros({30}), growing = at::zeros({n, 50});
                                          return Tensors{at::zeros({n, 100}), at::Tensor()};
                                        };
                                      },
                                  .outputs = {{{examples, 100}}, {}}});
      std::vector<std::uint64_t> sizes;
      for (const telemetry::TraceEvent& event : device->stop_trace().events) {
        if (event.allocates)
          sizes.push_back(event.bytes);
      }
      if (made[0].size(0) != examples || made[1].defined())
        sizes.clear();
      return sizes;
    };
    using Bytes = std::vector<std::uint64_t>;
    QCOMPARE(blocks(10), (Bytes{120, 2000, 4000}));
    QCOMPARE(runs, 2); // the first one fills the caches of kernels
    QCOMPARE(blocks(1000), (Bytes{120, 200000, 400000}));
    QCOMPARE(blocks(3000), (Bytes{120, 600000, 1200000}));
    QVERIFY(runs <= 6);
    const int before = runs;
    QCOMPARE(blocks(1000), (Bytes{120, 200000, 400000}));
    QCOMPARE(runs, before);
    QCOMPARE(host->readings().in_use, std::uint64_t{0});
    QCOMPARE(host->readings().refused, std::uint64_t{0});
  }

  /// Of kernels that all use none, three are run; where one uses some, and without a family, each is.
  void aFamilyWithoutWorkspaceIsLearntFromThree() {
    const auto host = memory::open_device("cpu", 1'000'000);
    const auto device = meta::MetaDevice::open();
    const meta::MetaDevice::Scope scope(*device);
    const auto learnt = [](const std::string& family, std::int64_t with_workspace) {
      int prepared = 0;
      for (std::int64_t n = 1; n <= 6; ++n) {
        const auto made = meta::like_host_kernel({.key = family + " of " + std::to_string(n),
                                                  .family = family,
                                                  .prepare =
                                                      [&prepared, n, with_workspace](std::int64_t) {
                                                        ++prepared;
                                                        return [n, with_workspace] {
                                                          if (n == with_workspace)
                                                            at::zeros({30});
                                                          return Tensors{at::zeros({n})};
                                                        };
                                                      },
                                                  .outputs = {{{n}}}});
        if (made[0].numel() != n || !made[0].is_meta())
          return -1;
      }
      return prepared;
    };
    QCOMPARE(learnt("none", 0), 3);
    QCOMPARE(learnt("the first", 1), 6);
    QCOMPARE(learnt("the third", 3), 6);
    QCOMPARE(learnt("", 0), 6);
  }

  /// A kernel that would take long is not run.
  void leavesLargeKernelsAlone() {
    const auto device = meta::MetaDevice::open();
    const meta::MetaDevice::Scope scope(*device);
    const auto made = meta::like_host_kernel({.key = "large",
                                              .examples = 64,
                                              .elements = 1 << 24,
                                              .operations = 1 << 24,
                                              .prepare = [](std::int64_t) -> meta::RunKernel { qFatal("it was run"); },
                                              .outputs = {{{64, 1 << 24}}}});
    QCOMPARE(made[0].numel(), std::int64_t{64} << 24);
  }
};

BATCHSCOPE_TEST(TestKernels)
#include "tst_kernels.moc"
