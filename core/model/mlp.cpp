#include "core/model/detail/networks.h"

#include <optional>

#include <ATen/core/Tensor.h>
#include <ATen/ops/relu.h>

namespace batchscope::model {

namespace {

class Mlp final : public Model {
public:
  explicit Mlp(const NetworkOptions& options) : Model(options.dropout) {
    const LayerContext context = layer_context(options.generator, options.device);
    std::int64_t in = 1;
    for (const std::int64_t dimension : options.shape.dimensions)
      in *= dimension;
    for (std::int64_t layer = 0; layer < options.spec.size("layers"); ++layer) {
      hidden_.emplace_back(context, in, options.spec.size("hidden"));
      in = options.spec.size("hidden");
    }
    output_.emplace(context, in, outputs_for(options.shape));
  }

  at::Tensor forward(const at::Tensor& input, bool training) override {
    at::Tensor x = input.flatten(1);
    for (const Linear& layer : hidden_)
      x = drop(at::relu(layer(x)), training);
    return (*output_)(x);
  }

private:
  std::vector<Linear> hidden_;
  std::optional<Linear> output_;
};

} // namespace

/// Fully connected layers with ReLU; images are flattened.
std::unique_ptr<Model> make_mlp(const NetworkOptions& options) {
  return std::make_unique<Mlp>(options);
}

} // namespace batchscope::model
