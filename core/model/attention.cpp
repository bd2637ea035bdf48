#include "core/model/detail/attention.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/scaled_dot_product_attention.h>

namespace batchscope::model {

/// LibTorch chooses an implementation by the device; for `meta`, that of `cpu`.
at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, double dropout,
                     bool causal) {
  if (query.is_meta() && dropout == 0)
    return std::get<0>(at::_scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout, causal));
  return at::scaled_dot_product_attention(query, key, value, /*attn_mask=*/{}, dropout, causal);
}

at::Tensor join_heads(const at::Tensor& x) {
  return x.transpose(1, 2).reshape({x.size(0), x.size(2), x.size(1) * x.size(3)});
}

at::Tensor split_heads(const at::Tensor& x, std::int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

} // namespace batchscope::model
