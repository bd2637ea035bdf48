#pragma once

#include <ATen/core/Tensor.h>

namespace batchscope::model {

/// softmax(q k^T / sqrt(d)) v without storing the scores, of [b, heads, t, d]; `causal`: no token sees later ones.
at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, double dropout,
                     bool causal);

/// Heads side by side: [b, heads, t, d] to [b, t, heads x d].
at::Tensor join_heads(const at::Tensor& x);
/// [b, t, heads x d] to [b, heads, t, d].
at::Tensor split_heads(const at::Tensor& x, std::int64_t heads);

} // namespace batchscope::model
