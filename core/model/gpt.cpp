#include "core/model/detail/networks.h"

#include <optional>
#include <string>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>

#include "core/model/detail/attention.h"

namespace batchscope::model {

namespace {

struct DecoderBlock {
  DecoderBlock(const LayerContext& context, std::int64_t width, std::int64_t inner, std::int64_t heads)
      : attention_norm(context.part("ln_1"), width), query_key_value(context.part("attn.c_attn"), width, 3 * width),
        projection(context.part("attn.c_proj"), width, width), feed_norm(context.part("ln_2"), width),
        feed_in(context.part("mlp.c_fc"), width, inner), feed_out(context.part("mlp.c_proj"), inner, width),
        heads(heads) {}

  at::Tensor attend(const at::Tensor& x, double dropout) const {
    const std::int64_t count = x.size(0), length = x.size(1), width = x.size(2);
    const auto parts = query_key_value(x).view({count, length, 3, heads, width / heads}).permute({2, 0, 3, 1, 4});
    return projection(join_heads(attention(parts[0], parts[1], parts[2], dropout, /*causal=*/true)));
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
        tokens_(
            embedding_weights(context_.part("transformer.wte"), options.shape.vocabulary, options.spec.size("width"))),
        positions_(embedding_weights(context_.part("transformer.wpe"), options.spec.size("positions"),
                                     options.spec.size("width"))),
        final_norm_(context_.part("transformer.ln_f"), options.spec.size("width")) {
    const run::ModelSpec& spec = options.spec;
    if (spec.size("tied") == 0)
      output_.emplace(context_.part("lm_head"), spec.size("width"), outputs_for(options.shape));
    for (std::int64_t layer = 0; layer < spec.size("layers"); ++layer)
      blocks_.emplace_back(context_.part("transformer.h." + std::to_string(layer)), spec.size("width"),
                           spec.size("inner"), spec.size("heads"));
  }

  at::Tensor forward(const at::Tensor& input, bool training) override {
    at::Tensor x = at::embedding(tokens_, input) + positions_.slice(0, 0, input.size(1));
    x = drop(x, training);
    for (const DecoderBlock& block : blocks_) {
      x = segment(x, training, [this, training, &block](const at::Tensor& in, Pass) {
        const at::Tensor seen = in + drop(block.attend(block.attention_norm(in), training ? dropout() : 0.0), training);
        return seen + drop(block.feed_out(at::gelu(block.feed_in(block.feed_norm(seen)))), training);
      });
    }
    x = final_norm_(x);
    return output_ ? (*output_)(x) : at::linear(x, tokens_);
  }

private:
  LayerContext context_;
  at::Tensor tokens_, positions_;
  std::vector<DecoderBlock> blocks_;
  LayerNorm final_norm_;
  std::optional<Linear> output_; ///< none: the embedding's weights
};

} // namespace

/// Decoder (Radford et al. 2019) with learned position embeddings, pre-norm blocks and scaled dot-product attention.
std::unique_ptr<Model> make_gpt(const NetworkOptions& options) {
  return std::make_unique<Gpt>(options);
}

} // namespace batchscope::model
