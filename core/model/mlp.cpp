#include "core/model/detail/networks.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

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
      hidden_.emplace_back(context.part("hidden." + std::to_string(layer)), in, options.spec.size("hidden"));
      in = options.spec.size("hidden");
    }
    output_.emplace(context.part("output"), in, outputs_for(options.shape));
    layers_together_ = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(hidden_.size()))));
  }

  at::Tensor forward(const at::Tensor& input, bool training) override {
    at::Tensor x = input.flatten(1);
    for (std::size_t from = 0; from < hidden_.size(); from += layers_together_) {
      const std::size_t to = std::min(from + layers_together_, hidden_.size());
      x = segment(x, training, [this, training, from, to](const at::Tensor& in, Pass) {
        at::Tensor y = in;
        for (std::size_t layer = from; layer < to; ++layer)
          y = drop(at::relu(hidden_[layer](y)), training);
        return y;
      });
    }
    return (*output_)(x);
  }

private:
  std::vector<Linear> hidden_;
  std::optional<Linear> output_;
  std::size_t layers_together_ = 1; ///< in a segment: the root of their number keeps the fewest activations
};

} // namespace

/// Fully connected layers with ReLU; images are flattened.
std::unique_ptr<Model> make_mlp(const NetworkOptions& options) {
  return std::make_unique<Mlp>(options);
}

} // namespace batchscope::model
