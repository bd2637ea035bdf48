#include "core/model/detail/networks.h"

#include <optional>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/max_pool2d.h>
#include <fmt/format.h>

namespace batchscope::model {

namespace {

/// Images of at least this side are halved twice by the stem, as in the variant for large images.
constexpr std::int64_t large_image = 96;
constexpr int stages = 3;

struct ResidualBlock {
  ResidualBlock(const LayerContext& context, run::ModelSpec::Norm norm, std::int64_t in, std::int64_t out,
                std::int64_t stride)
      : first(context.part("conv1"), in, out, 3, stride), first_norm(context.part("norm1"), norm, out),
        second(context.part("conv2"), out, out, 3, 1), second_norm(context.part("norm2"), norm, out) {
    if (stride != 1 || in != out) {
      shortcut.emplace(context.part("shortcut.0"), in, out, 1, stride);
      shortcut_norm.emplace(context.part("shortcut.1"), norm, out);
    }
  }

  at::Tensor operator()(const at::Tensor& x, Pass pass) const {
    at::Tensor y = first_norm(first(x), pass).relu_();
    y = second_norm(second(y), pass);
    return (y + (shortcut ? (*shortcut_norm)((*shortcut)(x), pass) : x)).relu_();
  }

  Convolution first;
  ChannelNorm first_norm;
  Convolution second;
  ChannelNorm second_norm;
  std::optional<Convolution> shortcut;
  std::optional<ChannelNorm> shortcut_norm;
};

class Resnet final : public Model {
public:
  explicit Resnet(const NetworkOptions& options)
      : Model(options.dropout), context_(layer_context(options.generator, options.device)),
        large_(std::min(options.shape.dimensions[1], options.shape.dimensions[2]) >= large_image),
        stem_(context_.part("conv1"), options.shape.dimensions[0], options.spec.size("width"), large_ ? 7 : 3,
              large_ ? 2 : 1),
        stem_norm_(context_.part("norm1"), options.spec.norm, options.spec.size("width")) {
    std::int64_t in = options.spec.size("width");
    for (int stage = 0; stage < stages; ++stage) {
      const std::int64_t out = options.spec.size("width") << stage;
      for (std::int64_t block = 0; block < options.spec.size("blocks"); ++block) {
        blocks_.emplace_back(context_.part(fmt::format("layer{}.{}", stage + 1, block)), options.spec.norm, in, out,
                             stage > 0 && block == 0 ? 2 : 1);
        in = out;
      }
    }
    output_.emplace(context_.part("output"), in, outputs_for(options.shape));
  }

  at::Tensor forward(const at::Tensor& input, bool training) override {
    at::Tensor x = segment(input, training, [this](const at::Tensor& in, Pass pass) {
      const at::Tensor y = stem_norm_(stem_(in), pass).relu_();
      return large_ ? at::max_pool2d(y, 3, 2, 1) : y;
    });
    for (const ResidualBlock& block : blocks_)
      x = segment(x, training, [&block](const at::Tensor& in, Pass pass) { return block(in, pass); });
    return (*output_)(drop(x.mean({2, 3}), training));
  }

private:
  LayerContext context_;
  bool large_;
  Convolution stem_;
  ChannelNorm stem_norm_;
  std::vector<ResidualBlock> blocks_;
  std::optional<Linear> output_;
};

} // namespace

/// Three stages of residual blocks (He et al. 2016, the variant for small images; large ones are halved twice first).
std::unique_ptr<Model> make_resnet(const NetworkOptions& options) {
  return std::make_unique<Resnet>(options);
}

} // namespace batchscope::model
