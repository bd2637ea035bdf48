// Kernels of LibTorch's `meta` device that LibTorch has in Python only. Each makes the outputs, and the workspace, of
// the kernel that `cpu` uses, in the same order; there is nothing to compute.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <ATen/ExpandUtils.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/native_batch_norm_backward.h>
#include <ATen/ops/ones.h>
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

at::Tensor index_select(const at::Tensor& x, std::int64_t dimension, const at::Tensor& index) {
  std::vector<std::int64_t> sizes = x.sizes().vec();
  sizes[static_cast<std::size_t>(at::maybe_wrap_dim(dimension, x.dim()))] = index.numel();
  return at::empty(sizes, x.options());
}

at::Tensor embedding_dense_backward(const at::Tensor& gradient, const at::Tensor& /*indices*/, std::int64_t weights,
                                    std::int64_t /*padding*/, bool /*scale_by_frequency*/) {
  return at::empty({weights, gradient.size(-1)}, gradient.options());
}

Three layer_norm(const at::Tensor& x, at::IntArrayRef normalized, const Optional& /*weight*/, const Optional& /*bias*/,
                 double /*epsilon*/) {
  const at::Tensor y = contiguous_like(x);
  std::vector<std::int64_t> sizes = x.sizes().vec();
  for (std::size_t i = sizes.size() - normalized.size(); i < sizes.size(); ++i)
    sizes[i] = 1;
  const at::Tensor mean = at::empty(sizes, x.options());
  return {y, mean, contiguous_like(mean)};
}

Three layer_norm_backward(const at::Tensor& /*gradient*/, const at::Tensor& x, at::IntArrayRef normalized,
                          const at::Tensor& /*mean*/, const at::Tensor& /*deviation*/, const Optional& weight,
                          const Optional& bias, std::array<bool, 3> wanted) {
  const at::Tensor dx = wanted[0] ? contiguous_like(x) : at::Tensor();
  const at::Tensor dweight = wanted[1] ? contiguous_like(*weight) : at::Tensor();
  const at::Tensor dbias = wanted[2] ? contiguous_like(*bias) : at::Tensor();
  if (wanted[1] || wanted[2]) { // sums of each thread
    at::empty({2, at::get_num_threads(), c10::multiply_integers(normalized)}, x.options());
  }
  return {dx, dweight, dbias};
}

Three group_norm(const at::Tensor& x, const Optional& /*weight*/, const Optional& /*bias*/, std::int64_t count,
                 std::int64_t /*channels*/, std::int64_t /*pixels*/, std::int64_t groups, double /*epsilon*/) {
  const at::Tensor y = contiguous_like(x);
  const at::Tensor mean = at::empty({count, groups}, x.options());
  return {y, mean, contiguous_like(mean)};
}

Three group_norm_backward(const at::Tensor& /*gradient*/, const at::Tensor& x, const at::Tensor& /*mean*/,
                          const at::Tensor& /*deviation*/, const Optional& weight, std::int64_t count,
                          std::int64_t channels, std::int64_t /*pixels*/, std::int64_t /*groups*/,
                          std::array<bool, 3> wanted) {
  const at::Tensor dx = wanted[0] ? contiguous_like(x) : at::Tensor();
  const at::Tensor dweight = wanted[1] ? contiguous_like(*weight) : at::Tensor();
  const at::Tensor dbias = wanted[2] ? contiguous_like(*weight) : at::Tensor();
  const at::Tensor sums = at::empty({count, channels}, x.options());
  const at::Tensor more_sums = contiguous_like(sums);
  return {dx, dweight, dbias};
}

/// Zeros on the host with another number of examples.
at::Tensor host_zeros(std::vector<std::int64_t> sizes, std::int64_t examples) {
  sizes[0] = examples;
  return at::zeros(sizes, at::kFloat);
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
  const auto prepare = [=](std::int64_t examples) -> RunKernel {
    return [=, x = host_zeros(sizes, examples), ones = at::ones(channels), mean = at::zeros(channels),
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
                                      .prepare = prepare,
                                      .outputs = {sizes, saved, saved}});
  return {made[0], made[1], made[2]};
}

Three batch_norm_backward(const at::Tensor& /*gradient*/, const at::Tensor& x, const Optional& /*weight*/,
                          const Optional& /*running_mean*/, const Optional& /*running_variance*/,
                          const Optional& /*mean*/, const Optional& /*deviation*/, bool training, double epsilon,
                          std::array<bool, 3> wanted) {
  const std::vector<std::int64_t> sizes = x.sizes().vec(), channels{x.size(1)}, none;
  const auto prepare = [=](std::int64_t examples) -> RunKernel {
    return [=, x = host_zeros(sizes, examples), dy = host_zeros(sizes, examples), ones = at::ones(channels)] {
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
       .prepare = prepare,
       .outputs = {wanted[0] ? sizes : none, wanted[1] ? channels : none, wanted[2] ? channels : none}});
  return {made[0], made[1], made[2]};
}

/// The convolution of `cpu` with another number of examples.
struct HostConvolution {
  std::vector<std::int64_t> input, weight, output;
  std::vector<std::int64_t> stride, padding, dilation;
  std::int64_t groups;

  HostConvolution(const at::Tensor& x, const at::Tensor& w, at::IntArrayRef stride, at::IntArrayRef padding,
                  at::IntArrayRef dilation, std::int64_t groups)
      : input(x.sizes().vec()), weight(w.sizes().vec()), output{x.size(0), w.size(0)}, stride(stride.vec()),
        padding(padding.vec()), dilation(dilation.vec()), groups(groups) {
    for (std::size_t i = 0; i + 2 < input.size(); ++i) {
      const std::int64_t extent = dilation[i] * (weight[i + 2] - 1) + 1;
      output.push_back((input[i + 2] + 2 * padding[i] - extent) / stride[i] + 1);
    }
  }

  std::string key() const {
    return text_of(input, 1) + text_of(weight) + text_of(stride) + text_of(padding) + text_of(dilation) +
           std::to_string(groups);
  }
  HostKernelCall call(const std::string& name) const {
    return {.key = name + ' ' + key(),
            .examples = input[0],
            .elements = std::max(elements_per_example(input), elements_per_example(output)),
            .operations = elements_per_example(output) * elements_per_example(weight),
            .prepare = {},
            .outputs = {}};
  }
  RunKernel forward(std::int64_t examples) const {
    return [*this, x = host_zeros(input, examples), w = at::zeros(weight, at::kFloat)] {
      return std::vector{at::convolution(x, w, {}, stride, padding, dilation, /*transposed=*/false,
                                         std::vector<std::int64_t>(stride.size()), groups)};
    };
  }
  RunKernel backward(std::int64_t examples, std::array<bool, 3> wanted) const {
    return [*this, wanted, dy = host_zeros(output, examples), x = host_zeros(input, examples),
            w = at::zeros(weight, at::kFloat)] {
      const auto [dx, dw, db] =
          at::convolution_backward(dy, x, w, std::nullopt, stride, padding, dilation, /*transposed=*/false,
                                   std::vector<std::int64_t>(stride.size()), groups, wanted);
      return std::vector{dx, dw, db};
    };
  }
};

at::Tensor convolution(const at::Tensor& x, const at::Tensor& weight, const Optional& /*bias*/, at::IntArrayRef stride,
                       at::IntArrayRef padding, at::IntArrayRef dilation, bool /*transposed*/,
                       at::IntArrayRef /*output_padding*/, std::int64_t groups) {
  const HostConvolution host(x, weight, stride, padding, dilation, groups);
  HostKernelCall call = host.call("convolution");
  call.prepare = [&](std::int64_t examples) { return host.forward(examples); };
  call.outputs = {host.output};
  return like_host_kernel(call).front();
}

Three convolution_backward(const at::Tensor& /*gradient*/, const at::Tensor& x, const at::Tensor& weight,
                           at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
                           bool /*transposed*/, at::IntArrayRef /*output_padding*/, std::int64_t groups,
                           std::array<bool, 3> wanted) {
  const HostConvolution host(x, weight, stride, padding, dilation, groups);
  const std::vector<std::int64_t> none;
  HostKernelCall call = host.call(wanted[0] ? "convolution_backward" : "convolution_backward_weight");
  call.prepare = [&](std::int64_t examples) { return host.backward(examples, wanted); };
  call.outputs = {wanted[0] ? host.input : none, wanted[1] ? host.weight : none,
                  wanted[2] ? std::vector{weight.size(0)} : none};
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

std::tuple<at::Tensor, at::Tensor> flash_attention(const at::Tensor& query, const at::Tensor& key,
                                                   const at::Tensor& /*value*/, double /*dropout*/, bool /*causal*/,
                                                   const Optional& /*mask*/, std::optional<double> /*scale*/) {
  const std::int64_t count = query.size(0), heads = query.size(1), length = query.size(2), width = query.size(3);
  const at::Tensor output = at::empty({count, length, heads, width}, query.options());
  const at::Tensor log_sums = at::empty({count, length, heads}, query.options());
  if (counts_host_workspace()) {
    const AttentionBlocks blocks(query, key);
    at::empty({at::get_num_threads(), blocks.queries * (blocks.keys + 2 + width)}, query.options());
  }
  return {output.transpose(1, 2), log_sums.transpose(1, 2)};
}

Three flash_attention_backward(const at::Tensor& /*gradient*/, const at::Tensor& query, const at::Tensor& key,
                               const at::Tensor& value, const at::Tensor& /*output*/, const at::Tensor& /*log_sums*/,
                               double /*dropout*/, bool /*causal*/, const Optional& /*mask*/,
                               std::optional<double> /*scale*/) {
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
  library.impl("_fused_adam_", fused_adam);
  library.impl("_fused_adamw_", fused_adam);
  library.impl("_fused_sgd_", fused_sgd);
}

} // namespace batchscope::meta
