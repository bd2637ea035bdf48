#include "core/model/detail/networks.h"

#include <string>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>

#include "core/model/detail/attention.h"

namespace batchscope::model {

namespace {

constexpr double bert_epsilon = 1e-12;

struct EncoderBlock {
  EncoderBlock(const LayerContext& context, std::int64_t width, std::int64_t inner, std::int64_t heads)
      : attend(context.part("attention"), "self", width, heads),
        attention_norm(context.part("attention.output.LayerNorm"), width, bert_epsilon),
        feed_in(context.part("intermediate.dense"), width, inner), feed_out(context.part("output.dense"), inner, width),
        feed_norm(context.part("output.LayerNorm"), width, bert_epsilon) {}

  SelfAttention attend;
  LayerNorm attention_norm;
  Linear feed_in, feed_out;
  LayerNorm feed_norm;
};

/// Tokens of the data, and one more that masks others unless the model names one of them.
std::int64_t tokens_of(const NetworkOptions& options) {
  return options.shape.vocabulary + (options.spec.size("mask") == 0 ? 1 : 0);
}

class Bert final : public Model {
public:
  explicit Bert(const NetworkOptions& options)
      : Model(options.dropout), context_(layer_context(options.generator, options.device)),
        tokens_(embedding_weights(context_.part("bert.embeddings.word_embeddings"), tokens_of(options),
                                  options.spec.size("width"))),
        positions_(embedding_weights(context_.part("bert.embeddings.position_embeddings"),
                                     options.spec.size("positions"), options.spec.size("width"))),
        types_(embedding_weights(context_.part("bert.embeddings.token_type_embeddings"), options.spec.size("types"),
                                 options.spec.size("width"))),
        norm_(context_.part("bert.embeddings.LayerNorm"), options.spec.size("width"), bert_epsilon),
        head_(context_.part("cls.predictions.transform.dense"), options.spec.size("width"), options.spec.size("width")),
        head_norm_(context_.part("cls.predictions.transform.LayerNorm"), options.spec.size("width"), bert_epsilon),
        head_bias_(context_.part("cls.predictions").constant("bias", {tokens_of(options)}, 0.0)) {
    for (std::int64_t layer = 0; layer < options.spec.size("layers"); ++layer)
      blocks_.emplace_back(context_.part("bert.encoder.layer." + std::to_string(layer)), options.spec.size("width"),
                           options.spec.size("inner"), options.spec.size("heads"));
  }

  at::Tensor forward(const at::Tensor& input, bool training) override {
    at::Tensor x = at::embedding(tokens_, input) + positions_.slice(0, 0, input.size(1)) + types_.select(0, 0);
    x = drop(norm_(x), training);
    for (const EncoderBlock& block : blocks_) {
      x = segment(x, training, [this, training, &block](const at::Tensor& in, Pass) {
        const at::Tensor seen = block.attention_norm(in + drop(block.attend(in, training ? dropout() : 0.0), training));
        return block.feed_norm(seen + drop(block.feed_out(at::gelu(block.feed_in(seen))), training));
      });
    }
    return at::linear(head_norm_(at::gelu(head_(x))), tokens_, head_bias_);
  }

private:
  LayerContext context_;
  at::Tensor tokens_, positions_, types_;
  LayerNorm norm_;
  std::vector<EncoderBlock> blocks_;
  Linear head_;
  LayerNorm head_norm_;
  at::Tensor head_bias_;
};

} // namespace

/// Encoder (Devlin et al. 2018) with its head for masked tokens, whose output weights are the embedding's.
std::unique_ptr<Model> make_bert(const NetworkOptions& options) {
  return std::make_unique<Bert>(options);
}

} // namespace batchscope::model
