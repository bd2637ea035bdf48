#include "core/model/detail/networks.h"
#include "core/model/detail/pooling.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/matmul.h>

namespace batchscope::model {

namespace {

/// Larger feature maps are averaged down to this side before the linear layer, which would otherwise grow with the
/// image.
constexpr std::int64_t pooled_side = 7;

class Cnn final : public Model {
public:
  explicit Cnn(const NetworkOptions& options)
      : Model(options.dropout), context_(layer_context(options.generator, options.device)),
        first_(context_.part("conv1"), options.shape.dimensions[0], options.spec.size("width"), 3, 1),
        first_norm_(context_.part("norm1"), options.spec.norm, options.spec.size("width")),
        second_(context_.part("conv2"), options.spec.size("width"), 2 * options.spec.size("width"), 3, 1),
        second_norm_(context_.part("norm2"), options.spec.norm, 2 * options.spec.size("width")),
        height_(side(options.shape.dimensions[1])), width_(side(options.shape.dimensions[2])),
        output_(context_.part("output"), 2 * options.spec.size("width") * height_ * width_,
                outputs_for(options.shape)) {
    const std::int64_t height = options.shape.dimensions[1] / 4, width = options.shape.dimensions[2] / 4;
    if (height != height_ || width != width_)
      averaging_ = averaging_weights(height, width, height_, width_, options.device);
  }

  at::Tensor forward(const at::Tensor& input, bool training) override {
    at::Tensor x = segment(input, training, [this](const at::Tensor& in, Pass pass) {
      return max_pool_2x2(first_norm_(first_(in), pass).relu_());
    });
    x = segment(x, training, [this](const at::Tensor& in, Pass pass) {
      return max_pool_2x2(second_norm_(second_(in), pass).relu_());
    });
    if (averaging_.defined())
      x = at::matmul(x.flatten(2), averaging_);
    return output_(drop(x.flatten(1), training));
  }

private:
  static std::int64_t side(std::int64_t pixels) { return std::min(pixels / 4, pooled_side); }

  LayerContext context_;
  Convolution first_;
  ChannelNorm first_norm_;
  Convolution second_;
  ChannelNorm second_norm_;
  std::int64_t height_, width_;
  at::Tensor averaging_; ///< [pixels, height_ * width_]; undefined if there are no more pixels
  Linear output_;
};

} // namespace

/// Two convolutions with norm, ReLU and pooling, then a linear layer.
std::unique_ptr<Model> make_cnn(const NetworkOptions& options) {
  return std::make_unique<Cnn>(options);
}

} // namespace batchscope::model
