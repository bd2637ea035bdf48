// Kernels of LibTorch's `meta` device that LibTorch has in Python only. Each makes the outputs, and the workspace, of
// the kernel that `cpu` uses, in the same order; there is nothing to compute.
#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <ATen/ExpandUtils.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/add_meta_dispatch.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mul_meta_dispatch.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/native_batch_norm_backward.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/result_type.h>
#include <ATen/ops/scaled_dot_product_attention_native.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include "core/meta/detail/host_kernel.h"

namespace batchscope::meta {

namespace {

using Optional = std::optional<at::Tensor>;
using Three = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

at::Tensor contiguous_like(const at::Tensor& x) {
  return at::empty_like(x, at::TensorOptions(), at::MemoryFormat::Contiguous);
}

at::Tensor adaptive_pool(const at::Tensor& x, at::IntArrayRef size) {
  return at::empty({x.size(0), x.size(1), size[0], size[1]}, x.options());
}

at::Tensor adaptive_pool_backward(const at::Tensor& /*gradient*/, const at::Tensor& x) {
  return contiguous_like(x);
}

at::Tensor where(const at::Tensor& condition, const at::Tensor& yes, const at::Tensor& no) {
  const auto sizes = at::infer_size(at::infer_size(condition.sizes(), yes.sizes()), no.sizes());
  return at::empty(sizes, yes.dim() > 0 ? yes.options() : no.options());
}

at::Tensor& where_out(const at::Tensor& condition, const at::Tensor& yes, const at::Tensor& no, at::Tensor& out) {
  out.resize_(at::infer_size(at::infer_size(condition.sizes(), yes.sizes()), no.sizes()));
  return out;
}

at::Tensor relu(const at::Tensor& x) {
  return at::empty_like(x);
}

at::Tensor& relu_(at::Tensor& x) {
  return x;
}

/// The copy that `cpu` makes of the operand whose type is not that of the result, while it computes; undefined if both
/// have it.
at::Tensor converted_operand(const at::Tensor& a, const at::Tensor& b) {
  const at::ScalarType type = at::result_type(a, b);
  const at::Tensor& other = a.scalar_type() == type ? b : a;
  return counts_host_workspace() && other.scalar_type() != type ? at::empty(other.sizes(), other.options().dtype(type))
                                                                : at::Tensor();
}

at::Tensor add(const at::Tensor& a, const at::Tensor& b, const at::Scalar& alpha) {
  const at::Tensor converted = converted_operand(a, b);
  return at::meta::add(a, b, alpha);
}

at::Tensor mul(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor converted = converted_operand(a, b);
  return at::meta::mul(a, b);
}

at::Tensor index_select(const at::Tensor& x, std::int64_t dimension, const at::Tensor& index) {
  std::vector<std::int64_t> sizes = x.sizes().vec();
  sizes[static_cast<std::size_t>(at::maybe_wrap_dim(dimension, x.dim()))] = index.numel();
  return at::empty(sizes, x.options());
}

at::Tensor embedding_dense_backward(const at::Tensor& gradient, const at::Tensor& /*indices*/, std::int64_t weights,
                                    std::int64_t /*padding*/, bool /*scale_by_frequency*/) {
  return at::empty({weights, gradient.size(-1)}, gradient.options());
}

/// The type of statistics and of the sums over them: that of the weights, if these are more precise than the input.
at::TensorOptions statistics_like(const at::Tensor& x, const Optional& weight) {
  return x.options().dtype(weight && weight->defined() ? weight->scalar_type() : x.scalar_type());
}

Three layer_norm(const at::Tensor& x, at::IntArrayRef normalized, const Optional& weight, const Optional& /*bias*/,
                 double /*epsilon*/) {
  const at::Tensor y = contiguous_like(x);
  std::vector<std::int64_t> sizes = x.sizes().vec();
  for (std::size_t i = sizes.size() - normalized.size(); i < sizes.size(); ++i)
    sizes[i] = 1;
  const at::Tensor mean = at::empty(sizes, statistics_like(x, weight));
  return {y, mean, contiguous_like(mean)};
}

Three layer_norm_backward(const at::Tensor& /*gradient*/, const at::Tensor& x, at::IntArrayRef normalized,
                          const at::Tensor& /*mean*/, const at::Tensor& /*deviation*/, const Optional& weight,
                          const Optional& bias, std::array<bool, 3> wanted) {
  const at::Tensor dx = wanted[0] ? contiguous_like(x) : at::Tensor();
  const at::Tensor dweight = wanted[1] ? contiguous_like(*weight) : at::Tensor();
  const at::Tensor dbias = wanted[2] ? contiguous_like(*bias) : at::Tensor();
  if (wanted[1] || wanted[2]) { // sums of each thread
    at::empty({2, at::get_num_threads(), c10::multiply_integers(normalized)}, statistics_like(x, weight));
  }
  return {dx, dweight, dbias};
}

Three group_norm(const at::Tensor& x, const Optional& weight, const Optional& /*bias*/, std::int64_t count,
                 std::int64_t /*channels*/, std::int64_t /*pixels*/, std::int64_t groups, double /*epsilon*/) {
  const at::Tensor y = contiguous_like(x);
  const at::Tensor mean = at::empty({count, groups}, statistics_like(x, weight));
  return {y, mean, contiguous_like(mean)};
}

Three group_norm_backward(const at::Tensor& /*gradient*/, const at::Tensor& x, const at::Tensor& /*mean*/,
                          const at::Tensor& /*deviation*/, const Optional& weight, std::int64_t count,
                          std::int64_t channels, std::int64_t /*pixels*/, std::int64_t /*groups*/,
                          std::array<bool, 3> wanted) {
  const at::Tensor dx = wanted[0] ? contiguous_like(x) : at::Tensor();
  const at::Tensor dweight = wanted[1] ? contiguous_like(*weight) : at::Tensor();
  const at::Tensor dbias = wanted[2] ? contiguous_like(*weight) : at::Tensor();
  const at::Tensor sums = at::empty({count, channels}, statistics_like(x, weight));
  const at::Tensor more_sums = contiguous_like(sums);
  return {dx, dweight, dbias};
}

/// Zeros on the host with another number of examples.
at::Tensor host_zeros(std::vector<std::int64_t> sizes, std::int64_t examples, at::ScalarType type) {
  sizes[0] = examples;
  return at::zeros(sizes, type);
}

std::int64_t elements_per_example(const std::vector<std::int64_t>& sizes) {
  return c10::multiply_integers(sizes.begin() + 1, sizes.end());
}

std::string text_of(const std::vector<std::int64_t>& sizes, std::size_t from = 0) {
  std::string text;
  for (std::size_t i = from; i < sizes.size(); ++i)
    text += std::to_string(sizes[i]) + ',';
  return text + ' ';
}

Three batch_norm(const at::Tensor& x, const Optional& /*weight*/, const Optional& /*bias*/, const Optional& /*mean*/,
                 const Optional& /*variance*/, bool training, double momentum, double epsilon) {
  const std::vector<std::int64_t> sizes = x.sizes().vec(), channels{x.size(1)};
  const at::ScalarType type = x.scalar_type();
  const auto prepare = [=](std::int64_t examples) -> RunKernel {
    return [=, x = host_zeros(sizes, examples, type), ones = at::ones(channels), mean = at::zeros(channels),
            variance = at::ones(channels)] {
      const auto [y, saved_mean, deviation] =
          at::native_batch_norm(x, ones, ones, mean, variance, training, momentum, epsilon);
      return std::vector{y, saved_mean, deviation};
    };
  };
  const std::vector<std::int64_t> saved{training ? x.size(1) : 0};
  const auto made = like_host_kernel({.key = "batch_norm " + text_of(sizes, 1) + (training ? "training" : "evaluation"),
                                      .examples = x.size(0),
                                      .elements = elements_per_example(sizes),
                                      .operations = elements_per_example(sizes),
                                      .type = type,
                                      .prepare = prepare,
                                      .outputs = {{sizes, type}, {saved}, {saved}}});
  return {made[0], made[1], made[2]};
}

Three batch_norm_backward(const at::Tensor& /*gradient*/, const at::Tensor& x, const Optional& /*weight*/,
                          const Optional& /*running_mean*/, const Optional& /*running_variance*/,
                          const Optional& /*mean*/, const Optional& /*deviation*/, bool training, double epsilon,
                          std::array<bool, 3> wanted) {
  const std::vector<std::int64_t> sizes = x.sizes().vec(), channels{x.size(1)}, none;
  const at::ScalarType type = x.scalar_type();
  const auto prepare = [=](std::int64_t examples) -> RunKernel {
    return
        [=, x = host_zeros(sizes, examples, type), dy = host_zeros(sizes, examples, type), ones = at::ones(channels)] {
          const auto [dx, dweight, dbias] =
              at::native_batch_norm_backward(dy, x, ones, ones, ones, ones, ones, training, epsilon, wanted);
          return std::vector{dx, dweight, dbias};
        };
  };
  const auto made = like_host_kernel(
      {.key = "batch_norm_backward " + text_of(sizes, 1),
       .examples = x.size(0),
       .elements = elements_per_example(sizes),
       .operations = elements_per_example(sizes),
       .type = type,
       .prepare = prepare,
       .outputs = {{wanted[0] ? sizes : none, type}, {wanted[1] ? channels : none}, {wanted[2] ? channels : none}}});
  return {made[0], made[1], made[2]};
}

/// The convolution of `cpu` with another number of examples.
struct HostConvolution {
  std::vector<std::int64_t> input, weight, output;
  std::vector<std::int64_t> stride, padding, dilation;
  bool transposed;
  std::vector<std::int64_t> output_padding;
  std::int64_t groups;
  at::ScalarType type;

  HostConvolution(const at::Tensor& x, const at::Tensor& w, at::IntArrayRef stride, at::IntArrayRef padding,
                  at::IntArrayRef dilation, bool transposed, at::IntArrayRef output_padding, std::int64_t groups)
      : input(x.sizes().vec()), weight(w.sizes().vec()), output{x.size(0), channels(w, transposed, groups)},
        stride(stride.vec()), padding(padding.vec()), dilation(dilation.vec()), transposed(transposed),
        output_padding(output_padding.vec()), groups(groups), type(x.scalar_type()) {
    for (std::size_t i = 0; i + 2 < input.size(); ++i) {
      const std::int64_t extent = dilation[i] * (weight[i + 2] - 1) + 1;
      output.push_back(transposed ? (input[i + 2] - 1) * stride[i] - 2 * padding[i] + extent + output_padding[i]
                                  : (input[i + 2] + 2 * padding[i] - extent) / stride[i] + 1);
    }
  }

  static std::int64_t channels(const at::Tensor& w, bool transposed, std::int64_t groups) {
    return transposed ? w.size(1) * groups : w.size(0);
  }
  std::string key() const {
    return text_of(input, 1) + text_of(weight) + text_of(stride) + text_of(padding) + text_of(dilation) +
           (transposed ? "transposed " + text_of(output_padding) : "") + std::to_string(groups);
  }
  HostKernelCall call(const std::string& name) const {
    return {.key = name + ' ' + key(),
            .examples = input[0],
            .elements = std::max(elements_per_example(input), elements_per_example(output)),
            .operations = elements_per_example(output) * elements_per_example(weight),
            .type = type,
            .prepare = {},
            .outputs = {}};
  }
  RunKernel forward(std::int64_t examples) const {
    return [*this, x = host_zeros(input, examples, type), w = at::zeros(weight, type)] {
      return std::vector{at::convolution(x, w, {}, stride, padding, dilation, transposed, output_padding, groups)};
    };
  }
  RunKernel backward(std::int64_t examples, std::array<bool, 3> wanted) const {
    return [*this, wanted, dy = host_zeros(output, examples, type), x = host_zeros(input, examples, type),
            w = at::zeros(weight, type)] {
      const auto [dx, dw, db] = at::convolution_backward(dy, x, w, std::nullopt, stride, padding, dilation, transposed,
                                                         output_padding, groups, wanted);
      return std::vector{dx, dw, db};
    };
  }
};

at::Tensor convolution(const at::Tensor& x, const at::Tensor& weight, const Optional& /*bias*/, at::IntArrayRef stride,
                       at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed,
                       at::IntArrayRef output_padding, std::int64_t groups) {
  const HostConvolution host(x, weight, stride, padding, dilation, transposed, output_padding, groups);
  HostKernelCall call = host.call("convolution");
  call.prepare = [&](std::int64_t examples) { return host.forward(examples); };
  call.outputs = {{host.output, host.type}};
  return like_host_kernel(call).front();
}

Three convolution_backward(const at::Tensor& /*gradient*/, const at::Tensor& x, const at::Tensor& weight,
                           at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed,
                           at::IntArrayRef output_padding, std::int64_t groups, std::array<bool, 3> wanted) {
  const HostConvolution host(x, weight, stride, padding, dilation, transposed, output_padding, groups);
  const std::vector<std::int64_t> none;
  HostKernelCall call = host.call(wanted[0] ? "convolution_backward" : "convolution_backward_weight");
  call.prepare = [&](std::int64_t examples) { return host.backward(examples, wanted); };
  call.outputs = {{wanted[0] ? host.input : none, host.type},
                  {wanted[1] ? host.weight : none, host.type},
                  {wanted[2] ? std::vector{host.output[1]} : none, host.type}};
  const auto made = like_host_kernel(call);
  return {made[0], made[1], made[2]};
}

/// How the attention of `cpu` cuts queries and keys into blocks, of which each thread works on one at a time.
struct AttentionBlocks {
  std::int64_t queries, keys;

  AttentionBlocks(const at::Tensor& query, const at::Tensor& key) {
    const std::int64_t length = query.size(2);
    queries = std::min<std::int64_t>(length >= 768 ? 256 : length >= 192 ? 64 : 32, length);
    keys = std::min<std::int64_t>(512, key.size(2));
  }
};

/// The attention of `cpu` in 16 bit, which packs its inputs where the processor multiplies such matrices, with another
/// number of examples.
struct HostAttention {
  std::vector<std::int64_t> query, key, sums; ///< [examples, length, heads, width], as they are in memory
  at::ScalarType type;
  bool causal;

  HostAttention(const at::Tensor& q, const at::Tensor& k, bool causal)
      : query{q.size(0), q.size(2), q.size(1), q.size(3)}, key{k.size(0), k.size(2), k.size(1), k.size(3)},
        sums{q.size(0), q.size(2), q.size(1)}, type(q.scalar_type()), causal(causal) {}

  at::Tensor zeros(const std::vector<std::int64_t>& sizes, std::int64_t examples) const {
    return host_zeros(sizes, examples, type).transpose(1, 2);
  }
  HostKernelCall call(const std::string& name) const {
    return {.key = name + ' ' + text_of(query, 1) + text_of(key, 1) + (causal ? "causal " : ""),
            .examples = query[0],
            .elements = elements_per_example(query),
            .operations = elements_per_example(query) * key[1] * 4,
            .type = type,
            .prepare = {},
            .outputs = {}};
  }
  RunKernel forward(std::int64_t examples) const {
    return [*this, q = zeros(query, examples), k = zeros(key, examples)] {
      const auto [y, log_sums] = at::_scaled_dot_product_flash_attention_for_cpu(q, k, k, 0.0, causal);
      return std::vector{y, log_sums};
    };
  }
  RunKernel backward(std::int64_t examples) const {
    return [*this, q = zeros(query, examples), k = zeros(key, examples),
            log_sums = host_zeros(sums, examples, at::kFloat).transpose(1, 2)] {
      const auto [dq, dk, dv] =
          at::_scaled_dot_product_flash_attention_for_cpu_backward(q, q, k, k, q, log_sums, 0.0, causal);
      return std::vector{dq, dk, dv};
    };
  }
};

std::tuple<at::Tensor, at::Tensor> flash_attention(const at::Tensor& query, const at::Tensor& key,
                                                   const at::Tensor& /*value*/, double /*dropout*/, bool causal,
                                                   const Optional& /*mask*/, std::optional<double> /*scale*/) {
  if (query.scalar_type() != at::kFloat) {
    const HostAttention host(query, key, causal);
    HostKernelCall call = host.call("attention");
    call.prepare = [&](std::int64_t examples) { return host.forward(examples); };
    call.outputs = {{host.query, host.type}, {host.sums}};
    const auto made = like_host_kernel(call);
    return {made[0].transpose(1, 2), made[1].transpose(1, 2)};
  }
  const std::int64_t count = query.size(0), heads = query.size(1), length = query.size(2), width = query.size(3);
  const at::Tensor output = at::empty_like(query);
  const at::Tensor log_sums = at::empty({count, length, heads}, query.options());
  if (counts_host_workspace()) {
    const AttentionBlocks blocks(query, key);
    at::empty({at::get_num_threads(), blocks.queries * (blocks.keys + 2 + width)}, query.options());
  }
  return {output, log_sums.transpose(1, 2)};
}

Three flash_attention_backward(const at::Tensor& /*gradient*/, const at::Tensor& query, const at::Tensor& key,
                               const at::Tensor& value, const at::Tensor& /*output*/, const at::Tensor& /*log_sums*/,
                               double /*dropout*/, bool causal, const Optional& /*mask*/,
                               std::optional<double> /*scale*/) {
  if (query.scalar_type() != at::kFloat) {
    const HostAttention host(query, key, causal);
    HostKernelCall call = host.call("attention_backward");
    call.prepare = [&](std::int64_t examples) { return host.backward(examples); };
    call.outputs = {{host.query, host.type}, {host.key, host.type}, {host.key, host.type}};
    const auto made = like_host_kernel(call);
    return {made[0].transpose(1, 2), made[1].transpose(1, 2), made[2].transpose(1, 2)};
  }
  const auto like = [](const at::Tensor& x) {
    return at::empty({x.size(0), x.size(2), x.size(1), x.size(3)}, x.options()).transpose(1, 2);
  };
  Three gradients{like(query), like(key), like(value)};
  if (counts_host_workspace()) {
    const AttentionBlocks blocks(query, key);
    const at::Tensor scores = at::empty({at::get_num_threads(), 2, blocks.queries, blocks.keys}, query.options());
    const at::Tensor sums = at::empty({blocks.queries}, query.options()), more_sums = at::empty_like(sums);
  }
  return gradients;
}

void fused_adam(at::TensorList, at::TensorList, at::TensorList, at::TensorList, at::TensorList, at::TensorList, double,
                double, double, double, double, bool, bool, const Optional&, const Optional&) {}

/// A matrix, or several, as an operand of a product.
struct HostMatrix {
  std::vector<std::int64_t> sizes; ///< in memory
  bool transposed;

  explicit HostMatrix(const at::Tensor& x)
      : sizes(x.sizes().vec()), transposed(x.stride(-1) != 1 && x.stride(-2) == 1) {
    if (transposed)
      std::swap(sizes.end()[-1], sizes.end()[-2]);
  }
  at::Tensor zeros(at::ScalarType type) const {
    const at::Tensor x = at::zeros(sizes, type);
    return transposed ? x.transpose(-2, -1) : x;
  }
};

struct ProductSizes {
  std::int64_t rows = 0, inner = 0, columns = 0;

  double multiplications() const {
    return static_cast<double>(rows) * static_cast<double>(inner) * static_cast<double>(columns);
  }
};

/// The very sizes if their product is quick, since the blocks in which operands are packed follow the sizes in no
/// simple way, and there is no telling which of them grows with the batch. Else the largest ones halved: it was off by
/// up to 3.2 MB then, where the operands are many times that.
ProductSizes sizes_to_learn_with(ProductSizes sizes) {
  constexpr double quick = 1 << 29;
  constexpr std::int64_t least = 1536;
  while (sizes.multiplications() > quick) {
    std::int64_t& largest =
        std::max({std::ref(sizes.rows), std::ref(sizes.inner), std::ref(sizes.columns)}, std::less<std::int64_t>());
    if (largest < least)
      break;
    largest = (largest + 1) / 2;
  }
  return sizes;
}

/// A product of matrices in 16 bit, for which `cpu` packs the operands in blocks; in 32 bit no workspace is counted.
at::Tensor product(const at::Tensor& a, const at::Tensor& b,
                   const std::function<at::Tensor(at::Tensor, at::Tensor)>& run, const char* name) {
  std::vector<std::int64_t> sizes = a.sizes().vec();
  sizes.back() = b.size(-1);
  const at::ScalarType type = a.scalar_type();
  if (type == at::kFloat)
    return at::empty(sizes, a.options());
  const ProductSizes reduced_sizes = sizes_to_learn_with({a.size(-2), a.size(-1), b.size(-1)});
  const auto [rows, inner, columns] = reduced_sizes;
  // Of several products, enough to occupy every thread.
  const auto enough = static_cast<std::int64_t>(std::clamp(0x1p31 / reduced_sizes.multiplications(), 64.0, 512.0));
  const std::int64_t count = a.dim() == 3 ? std::min(a.size(0), enough) : 1;
  const auto reduced = [&](const at::Tensor& x, std::int64_t height, std::int64_t width) {
    HostMatrix matrix(x);
    matrix.sizes.end()[-1] = matrix.transposed ? height : width;
    matrix.sizes.end()[-2] = matrix.transposed ? width : height;
    if (matrix.sizes.size() == 3)
      matrix.sizes.front() = count;
    return matrix;
  };
  const HostMatrix x = reduced(a, rows, inner), y = reduced(b, inner, columns);
  return like_host_kernel({.key = std::string(name) + ' ' + text_of(x.sizes) + text_of(y.sizes) +
                                  (x.transposed ? "transposed " : "") + (y.transposed ? "by transposed " : ""),
                           .type = type,
                           .prepare = [&](std::int64_t) -> RunKernel {
                             return [run, x = x.zeros(type), y = y.zeros(type)] { return std::vector{run(x, y)}; };
                           },
                           .outputs = {{sizes, type}}})
      .front();
}

at::Tensor mm(const at::Tensor& a, const at::Tensor& b) {
  return product(
      a, b, [](const at::Tensor& x, const at::Tensor& y) { return at::mm(x, y); }, "mm");
}

at::Tensor bmm(const at::Tensor& a, const at::Tensor& b) {
  return product(
      a, b, [](const at::Tensor& x, const at::Tensor& y) { return at::bmm(x, y); }, "bmm");
}

/// With a bias, the vector of a linear layer.
at::Tensor addmm(const at::Tensor& /*bias*/, const at::Tensor& a, const at::Tensor& b, const at::Scalar& /*beta*/,
                 const at::Scalar& /*alpha*/) {
  const auto run = [](const at::Tensor& x, const at::Tensor& y) {
    return at::addmm(at::zeros({y.size(1)}, x.scalar_type()), x, y);
  };
  return product(a, b, run, "addmm");
}

/// Whether `cpu` does not write the scores out.
bool is_fused(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const Optional& mask,
              double dropout) {
  const auto good = [](const at::Tensor& x) { return x.dim() == 4 && x.size(2) > 0 && x.stride(3) == 1; };
  return dropout == 0 && good(query) && good(key) && good(value) && query.size(1) == key.size(1) &&
         query.size(3) == key.size(3) && key.size(3) == value.size(3) &&
         !(mask && mask->defined() && mask->requires_grad());
}

/// LibTorch chooses an implementation by the device; for `meta`, this is that of `cpu`.
at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const Optional& mask,
                     double dropout, bool causal, std::optional<double> scale, bool grouped) {
  if (is_fused(query, key, value, mask, dropout))
    return std::get<0>(
        at::_scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout, causal, mask, scale));
  return at::native::scaled_dot_product_attention(query, key, value, mask, dropout, causal, scale, grouped);
}

void unscale(at::TensorList, at::Tensor&, const at::Tensor&) {}

at::Tensor& update_scale(at::Tensor& scale, at::Tensor&, const at::Tensor&, double, double, std::int64_t) {
  return scale;
}

void fused_sgd(at::TensorList, at::TensorList, at::TensorList, double, double, double, double, bool, bool, bool,
               const Optional&, const Optional&) {}

} // namespace

TORCH_LIBRARY_IMPL(aten, Meta, library) {
  library.impl("_adaptive_avg_pool2d", adaptive_pool);
  library.impl("_adaptive_avg_pool2d_backward", adaptive_pool_backward);
  library.impl("where.self", where);
  library.impl("where.self_out", where_out);
  library.impl("relu", relu);
  library.impl("relu_", relu_);
  library.impl("index_select", index_select);
  library.impl("embedding_dense_backward", embedding_dense_backward);
  library.impl("native_layer_norm", layer_norm);
  library.impl("native_layer_norm_backward", layer_norm_backward);
  library.impl("native_group_norm", group_norm);
  library.impl("native_group_norm_backward", group_norm_backward);
  library.impl("native_batch_norm", batch_norm);
  library.impl("native_batch_norm_backward", batch_norm_backward);
  library.impl("convolution_overrideable", convolution);
  library.impl("convolution_backward_overrideable", convolution_backward);
  library.impl("_scaled_dot_product_flash_attention_for_cpu", flash_attention);
  library.impl("_scaled_dot_product_flash_attention_for_cpu_backward", flash_attention_backward);
  // In the place of LibTorch's.
  library.impl("add.Tensor", add);
  library.impl("mul.Tensor", mul);
  library.impl("mm", mm);
  library.impl("bmm", bmm);
  library.impl("addmm", addmm);
  library.impl("_amp_foreach_non_finite_check_and_unscale_", unscale);
  library.impl("_amp_update_scale_", update_scale);
  library.impl("_fused_adam_", fused_adam);
  library.impl("_fused_adamw_", fused_adam);
  library.impl("_fused_sgd_", fused_sgd);
}

// Made of others, so it is replaced before it comes apart.
TORCH_LIBRARY_IMPL(aten, AutogradMeta, library) {
  library.impl("scaled_dot_product_attention", attention);
}

} // namespace batchscope::meta
