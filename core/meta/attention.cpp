// Attention on `meta`: in the blocks of `cpu`, and in 16 bit as it runs there.
#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/scaled_dot_product_attention_native.h>
#include <torch/library.h>

#include "core/meta/detail/host_kernel.h"
#include "core/meta/detail/host_shapes.h"

namespace batchscope::meta {

namespace {

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

} // namespace

TORCH_LIBRARY_IMPL(aten, Meta, library) {
  library.impl("_scaled_dot_product_flash_attention_for_cpu", flash_attention);
  library.impl("_scaled_dot_product_flash_attention_for_cpu_backward", flash_attention_backward);
}

// Made of others, so it is replaced before it comes apart.
TORCH_LIBRARY_IMPL(aten, AutogradMeta, library) {
  library.impl("scaled_dot_product_attention", attention);
}

} // namespace batchscope::meta
