#pragma once

#include <ATen/core/Tensor.h>

#include "core/model/detail/layers.h"

namespace batchscope::model {

/// softmax(q k^T / sqrt(d)) v without storing the scores, of [b, heads, t, d]; `causal`: no token sees later ones.
at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, double dropout,
                     bool causal);

/// Heads side by side: [b, heads, t, d] to [b, t, heads x d].
at::Tensor join_heads(const at::Tensor& x);
/// [b, t, heads x d] to [b, heads, t, d].
at::Tensor split_heads(const at::Tensor& x, std::int64_t heads);

/// The attention of an encoder, in which every token sees all others; named as in BERT and ViT.
struct SelfAttention {
  /// `inner`: what the names of query, key and value begin with.
  SelfAttention(const LayerContext& context, const std::string& inner, std::int64_t width, std::int64_t heads);
  at::Tensor operator()(const at::Tensor& x, double dropout) const;
  std::int64_t heads;
  Linear query, key, value, projection;
};

} // namespace batchscope::model
