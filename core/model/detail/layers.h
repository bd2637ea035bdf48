#pragma once

#include <cstdint>
#include <functional>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include "core/run/model_spec.h"

namespace batchscope::model {

/// What a forward pass is for. A recomputation repeats a part of a training pass during its backward pass: the
/// statistics of batch norm have moved already.
enum class Pass { evaluation, training, recomputation };

/// Registers a layer's tensors with the model and initializes them with the model's generator.
struct LayerContext {
  std::function<at::Tensor(at::Tensor)> parameter;
  std::function<at::Tensor(at::Tensor)> buffer;
  at::Generator generator; ///< on the host, so that initial weights do not depend on the device
  c10::Device device;
  const double* batch_norm_momentum; ///< the model's, which may change

  /// A parameter drawn uniformly from [-bound, bound].
  at::Tensor uniform(at::IntArrayRef shape, double bound) const;
  at::Tensor normal(at::IntArrayRef shape, double deviation) const;
  at::Tensor constant(at::IntArrayRef shape, double value) const;

private:
  at::Tensor without_values(at::IntArrayRef shape) const;
};

/// x W^T + b; weights uniform in +-1/sqrt(in), as in PyTorch's nn.Linear. Without bias, `bias` is undefined.
struct Linear {
  Linear(const LayerContext& context, std::int64_t in, std::int64_t out, bool has_bias = true);
  at::Tensor operator()(const at::Tensor& x) const;
  at::Tensor weight, bias;
};

/// [rows, width], drawn with standard deviation 0.02 (Radford et al. 2019).
at::Tensor embedding_weights(const LayerContext& context, std::int64_t rows, std::int64_t width);

/// Square convolution without bias (a norm follows), weights initialized as in PyTorch's nn.Conv2d.
struct Convolution {
  Convolution(const LayerContext& context, std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride);
  at::Tensor operator()(const at::Tensor& x) const;
  at::Tensor weight;
  std::int64_t stride, padding;
};

/// Group norm (the largest number of groups, at most 8, that divides the channels) or batch norm.
struct ChannelNorm {
  ChannelNorm(const LayerContext& context, run::ModelSpec::Norm kind, std::int64_t channels);
  at::Tensor operator()(const at::Tensor& x, Pass pass) const;
  run::ModelSpec::Norm kind;
  std::int64_t groups;
  at::Tensor weight, bias, mean, variance;
  const double* momentum;
};

/// x / sqrt(mean(x^2) + epsilon) * weight, of the last dimension (Zhang and Sennrich 2019).
struct RmsNorm {
  RmsNorm(const LayerContext& context, std::int64_t width);
  at::Tensor operator()(const at::Tensor& x) const;
  at::Tensor weight;
};

struct LayerNorm {
  LayerNorm(const LayerContext& context, std::int64_t width);
  at::Tensor operator()(const at::Tensor& x) const;
  at::Tensor weight, bias;
  std::int64_t width;
};

} // namespace batchscope::model
