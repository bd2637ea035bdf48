#include "core/model/detail/networks.h"

#include <optional>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/scaled_dot_product_attention.h>

namespace batchscope::model {

namespace {

/// Initial standard deviation of embedding weights (Radford et al. 2019).
constexpr double embedding_deviation = 0.02;
constexpr std::int64_t feed_forward_factor = 4;

/// LibTorch chooses an implementation by the device; for `meta`, that of `cpu`.
at::Tensor causal_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, double dropout) {
  if (query.is_meta() && dropout == 0)
    return std::get<0>(at::_scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout, /*is_causal=*/true));
  return at::scaled_dot_product_attention(query, key, value, /*attn_mask=*/{}, dropout, /*is_causal=*/true);
}

struct DecoderBlock {
  DecoderBlock(const LayerContext& context, std::int64_t width, std::int64_t heads)
      : attention_norm(context, width), query_key_value(context, width, 3 * width), projection(context, width, width),
        feed_norm(context, width), feed_in(context, width, feed_forward_factor * width),
        feed_out(context, feed_forward_factor * width, width), heads(heads) {}

  at::Tensor attend(const at::Tensor& x, double dropout) const {
    const std::int64_t count = x.size(0), length = x.size(1), width = x.size(2);
    const auto parts = query_key_value(x).view({count, length, 3, heads, width / heads}).permute({2, 0, 3, 1, 4});
    const at::Tensor mixed = causal_attention(parts[0], parts[1], parts[2], dropout);
    return projection(mixed.transpose(1, 2).reshape({count, length, width}));
  }

  LayerNorm attention_norm;
  Linear query_key_value, projection;
  LayerNorm feed_norm;
  Linear feed_in, feed_out;
  std::int64_t heads;
};

class Gpt final : public Model {
public:
  explicit Gpt(const NetworkOptions& options)
      : Model(options.dropout), context_(layer_context(options.generator, options.device)),
        tokens_(context_.normal({options.shape.vocabulary, options.spec.size("width")}, embedding_deviation)),
        positions_(context_.normal({options.spec.size("context"), options.spec.size("width")}, embedding_deviation)),
        final_norm_(context_, options.spec.size("width")),
        output_(context_, options.spec.size("width"), outputs_for(options.shape)) {
    for (std::int64_t layer = 0; layer < options.spec.size("layers"); ++layer)
      blocks_.emplace_back(context_, options.spec.size("width"), options.spec.size("heads"));
  }

  at::Tensor forward(const at::Tensor& input, bool training) override {
    at::Tensor x = at::embedding(tokens_, input) + positions_.slice(0, 0, input.size(1));
    x = drop(x, training);
    for (const DecoderBlock& block : blocks_) {
      x = x + drop(block.attend(block.attention_norm(x), training ? dropout() : 0.0), training);
      x = x + drop(block.feed_out(at::gelu(block.feed_in(block.feed_norm(x)))), training);
    }
    return output_(final_norm_(x));
  }

private:
  LayerContext context_;
  at::Tensor tokens_, positions_;
  std::vector<DecoderBlock> blocks_;
  LayerNorm final_norm_;
  Linear output_;
};

} // namespace

/// Decoder with learned position embeddings, pre-norm blocks and scaled dot-product attention.
std::unique_ptr<Model> make_gpt(const NetworkOptions& options) {
  return std::make_unique<Gpt>(options);
}

} // namespace batchscope::model
