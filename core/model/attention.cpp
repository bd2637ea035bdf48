#include "core/model/detail/attention.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/scaled_dot_product_attention.h>

namespace batchscope::model {

at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, double dropout,
                     bool causal) {
  return at::scaled_dot_product_attention(query, key, value, /*attn_mask=*/{}, dropout, causal);
}

at::Tensor join_heads(const at::Tensor& x) {
  return x.transpose(1, 2).reshape({x.size(0), x.size(2), x.size(1) * x.size(3)});
}

at::Tensor split_heads(const at::Tensor& x, std::int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

SelfAttention::SelfAttention(const LayerContext& context, const std::string& inner, std::int64_t width,
                             std::int64_t heads)
    : heads(heads), query(context.part(inner + ".query"), width, width),
      key(context.part(inner + ".key"), width, width), value(context.part(inner + ".value"), width, width),
      projection(context.part("output.dense"), width, width) {}

at::Tensor SelfAttention::operator()(const at::Tensor& x, double dropout) const {
  return projection(join_heads(attention(split_heads(query(x), heads), split_heads(key(x), heads),
                                         split_heads(value(x), heads), dropout, /*causal=*/false)));
}

} // namespace batchscope::model
