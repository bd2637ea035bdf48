#include "core/model/detail/networks.h"

#include <optional>
#include <string>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/silu.h>

#include "core/model/detail/attention.h"

namespace batchscope::model {

namespace {

constexpr double rotary_base = 10000.0;

/// Positions as rotations of pairs of a head's numbers (Su et al. 2021).
class RotaryPositions {
public:
  RotaryPositions(const LayerContext& context, std::int64_t length, std::int64_t width) {
    const auto options = at::TensorOptions(at::kFloat).device(context.device);
    if (!context.generator.defined()) {
      cosines_ = context.derived_buffer(at::empty({length, width}, options));
      sines_ = context.derived_buffer(at::empty({length, width}, options));
      return;
    }
    const at::Tensor exponents = at::arange(0, width, 2, at::kFloat) / -static_cast<double>(width);
    const at::Tensor half = at::outer(at::arange(length, at::kFloat), at::pow(rotary_base, exponents));
    const at::Tensor angles = at::cat({half, half}, -1);
    cosines_ = context.derived_buffer(angles.cos().to(context.device));
    sines_ = context.derived_buffer(angles.sin().to(context.device));
  }

  /// Rotates a tensor of the shape [b, heads, t, d].
  at::Tensor operator()(const at::Tensor& x) const {
    const std::int64_t length = x.size(2), half = x.size(3) / 2;
    const at::Tensor turned = at::cat({-x.slice(3, half), x.slice(3, 0, half)}, -1);
    return x * cosines_.slice(0, 0, length) + turned * sines_.slice(0, 0, length);
  }

private:
  at::Tensor cosines_, sines_;
};

/// Each key or value head for several query heads (Ainslie et al. 2023).
at::Tensor repeat_heads(const at::Tensor& x, std::int64_t heads) {
  const std::int64_t count = x.size(0), groups = x.size(1), length = x.size(2), width = x.size(3);
  if (groups == heads)
    return x;
  return x.unsqueeze(2).expand({count, groups, heads / groups, length, width}).reshape({count, heads, length, width});
}

struct LlamaBlock {
  LlamaBlock(const LayerContext& context, const run::ModelSpec& spec)
      : heads(spec.size("heads")), kv_heads(spec.size("kv-heads")),
        attention_norm(context.part("input_layernorm"), spec.size("width")),
        query(context.part("self_attn.q_proj"), spec.size("width"), heads * spec.size("head-width"),
              spec.size("bias") != 0),
        key(context.part("self_attn.k_proj"), spec.size("width"), kv_heads * spec.size("head-width"),
            spec.size("bias") != 0),
        value(context.part("self_attn.v_proj"), spec.size("width"), kv_heads * spec.size("head-width"),
              spec.size("bias") != 0),
        projection(context.part("self_attn.o_proj"), heads * spec.size("head-width"), spec.size("width"), false),
        feed_norm(context.part("post_attention_layernorm"), spec.size("width")),
        gate(context.part("mlp.gate_proj"), spec.size("width"), spec.size("inner"), false),
        up(context.part("mlp.up_proj"), spec.size("width"), spec.size("inner"), false),
        down(context.part("mlp.down_proj"), spec.size("inner"), spec.size("width"), false) {
    if (spec.size("head-norms") == 0)
      return;
    query_norm.emplace(context.part("self_attn.q_norm"), spec.size("head-width"));
    key_norm.emplace(context.part("self_attn.k_norm"), spec.size("head-width"));
  }

  at::Tensor attend(const at::Tensor& x, const RotaryPositions& rotate, double dropout) const {
    at::Tensor q = split_heads(query(x), heads), k = split_heads(key(x), kv_heads);
    const at::Tensor v = split_heads(value(x), kv_heads);
    if (query_norm) {
      q = (*query_norm)(q);
      k = (*key_norm)(k);
    }
    q = rotate(q);
    k = rotate(k);
    return projection(
        join_heads(attention(q, repeat_heads(k, heads), repeat_heads(v, heads), dropout, /*causal=*/true)));
  }

  at::Tensor feed_forward(const at::Tensor& x) const { return down(at::silu(gate(x)) * up(x)); }

  std::int64_t heads, kv_heads;
  RmsNorm attention_norm;
  Linear query, key, value, projection;
  std::optional<RmsNorm> query_norm, key_norm;
  RmsNorm feed_norm;
  Linear gate, up, down;
};

class Llama final : public Model {
public:
  explicit Llama(const NetworkOptions& options)
      : Model(options.dropout), context_(layer_context(options.generator, options.device)),
        rotate_(context_, options.spec.size("context"), options.spec.size("head-width")),
        tokens_(embedding_weights(context_.part("model.embed_tokens"), options.shape.vocabulary,
                                  options.spec.size("width"))),
        final_norm_(context_.part("model.norm"), options.spec.size("width")) {
    if (options.spec.size("tied") == 0)
      output_.emplace(context_.part("lm_head"), options.spec.size("width"), outputs_for(options.shape), false);
    for (std::int64_t layer = 0; layer < options.spec.size("layers"); ++layer)
      blocks_.emplace_back(context_.part("model.layers." + std::to_string(layer)), options.spec);
  }

  at::Tensor forward(const at::Tensor& input, bool training) override {
    at::Tensor x = drop(at::embedding(tokens_, input), training);
    for (const LlamaBlock& block : blocks_) {
      x = segment(x, training, [this, training, &block](const at::Tensor& in, Pass) {
        const at::Tensor seen =
            in + drop(block.attend(block.attention_norm(in), rotate_, training ? dropout() : 0.0), training);
        return seen + drop(block.feed_forward(block.feed_norm(seen)), training);
      });
    }
    x = final_norm_(x);
    return output_ ? (*output_)(x) : at::linear(x, tokens_);
  }

private:
  LayerContext context_;
  RotaryPositions rotate_;
  at::Tensor tokens_;
  std::vector<LlamaBlock> blocks_;
  RmsNorm final_norm_;
  std::optional<Linear> output_; ///< none: the embedding's weights
};

} // namespace

/// Decoder (Touvron et al. 2023) with rotary positions, RMS norms, grouped key and value heads and a gated feed-forward
/// layer. Also Mistral; Qwen2 with `bias`, Qwen3 with `head-norms`.
std::unique_ptr<Model> make_llama(const NetworkOptions& options) {
  return std::make_unique<Llama>(options);
}

} // namespace batchscope::model
