#include "core/model/detail/networks.h"

#include <string>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/gelu.h>

#include "core/model/detail/attention.h"

namespace batchscope::model {

namespace {

constexpr double vit_epsilon = 1e-12;
constexpr double vit_deviation = 0.02;

struct ImageBlock {
  ImageBlock(const LayerContext& context, std::int64_t width, std::int64_t inner, std::int64_t heads)
      : attention_norm(context.part("layernorm_before"), width, vit_epsilon),
        attend(context.part("attention"), "attention", width, heads),
        feed_norm(context.part("layernorm_after"), width, vit_epsilon),
        feed_in(context.part("intermediate.dense"), width, inner),
        feed_out(context.part("output.dense"), inner, width) {}

  LayerNorm attention_norm;
  SelfAttention attend;
  LayerNorm feed_norm;
  Linear feed_in, feed_out;
};

class Vit final : public Model {
public:
  explicit Vit(const NetworkOptions& options)
      : Model(options.dropout), context_(layer_context(options.generator, options.device)),
        class_token_(
            context_.part("vit.embeddings").normal("cls_token", {1, 1, options.spec.size("width")}, vit_deviation)),
        positions_(
            context_.part("vit.embeddings")
                .normal("position_embeddings", {1, squares(options) + 1, options.spec.size("width")}, vit_deviation)),
        patches_(context_.part("vit.embeddings.patch_embeddings.projection"), options.shape.dimensions[0],
                 options.spec.size("width"), options.spec.size("patch")),
        final_norm_(context_.part("vit.layernorm"), options.spec.size("width"), vit_epsilon),
        output_(context_.part("classifier"), options.spec.size("width"), outputs_for(options.shape)) {
    for (std::int64_t layer = 0; layer < options.spec.size("layers"); ++layer)
      blocks_.emplace_back(context_.part("vit.encoder.layer." + std::to_string(layer)), options.spec.size("width"),
                           options.spec.size("inner"), options.spec.size("heads"));
  }

  at::Tensor forward(const at::Tensor& input, bool training) override {
    const at::Tensor patches = patches_(input);
    const at::Tensor first = class_token_.expand({input.size(0), 1, class_token_.size(2)});
    at::Tensor x = drop(at::cat({first, patches}, 1) + positions_, training);
    for (const ImageBlock& block : blocks_) {
      x = segment(x, training, [this, training, &block](const at::Tensor& in, Pass) {
        const at::Tensor seen = in + drop(block.attend(block.attention_norm(in), training ? dropout() : 0.0), training);
        return seen + drop(block.feed_out(at::gelu(block.feed_in(block.feed_norm(seen)))), training);
      });
    }
    return output_(final_norm_(x).select(1, 0));
  }

private:
  static std::int64_t squares(const NetworkOptions& options) {
    const std::int64_t side = options.spec.size("patch");
    return (options.shape.dimensions[1] / side) * (options.shape.dimensions[2] / side);
  }

  LayerContext context_;
  at::Tensor class_token_, positions_;
  Patches patches_;
  std::vector<ImageBlock> blocks_;
  LayerNorm final_norm_;
  Linear output_;
};

} // namespace

/// Encoder of squares of an image (Dosovitskiy et al. 2021), whose answer is that of a token of its own.
std::unique_ptr<Model> make_vit(const NetworkOptions& options) {
  return std::make_unique<Vit>(options);
}

} // namespace batchscope::model
