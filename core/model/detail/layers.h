#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include "core/run/model_spec.h"

namespace batchscope::model {

/// Purpose of a forward pass. A recomputation repeats a part of a training pass during its backward pass: the
/// statistics of batch norm have moved already.
enum class Pass { evaluation, training, recomputation };

/// Registers a layer's tensors with the model, under the names that PyTorch's state_dict() has for them, and
/// initializes them with the model's generator.
struct LayerContext {
  using Add = std::function<at::Tensor(const std::string& name, at::Tensor tensor)>;
  Add add_parameter, add_buffer;
  /// On the host, so that initial weights do not depend on the device. Undefined: they have no values.
  at::Generator generator;
  c10::Device device;
  const double* batch_norm_momentum; ///< the model's, which may change
  std::string path{};                ///< of the layer: what the names of its tensors begin with

  /// Context of a layer within this one: `h.0`.
  LayerContext part(const std::string& name) const;
  /// A parameter drawn uniformly from [-bound, bound].
  at::Tensor uniform(const char* name, at::IntArrayRef shape, double bound) const;
  at::Tensor normal(const char* name, at::IntArrayRef shape, double deviation) const;
  at::Tensor constant(const char* name, at::IntArrayRef shape, double value) const;
  at::Tensor buffer(const char* name, at::Tensor tensor) const;
  /// One that follows from the model's sizes, so that files of weights leave it out.
  at::Tensor derived_buffer(at::Tensor tensor) const;

private:
  at::Tensor parameter(const char* name, at::Tensor tensor) const;
  at::Tensor without_values(const char* name, at::IntArrayRef shape) const;
};

constexpr double norm_epsilon = 1e-5;

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

/// Cuts images into squares of `side` pixels and maps each to `width` numbers: [b, c, h, w] to [b, squares, width].
struct Patches {
  Patches(const LayerContext& context, std::int64_t channels, std::int64_t width, std::int64_t side);
  at::Tensor operator()(const at::Tensor& images) const;
  at::Tensor weight, bias;
  std::int64_t side;
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
  LayerNorm(const LayerContext& context, std::int64_t width, double epsilon = norm_epsilon);
  at::Tensor operator()(const at::Tensor& x) const;
  at::Tensor weight, bias;
  std::int64_t width;
  double epsilon;
};

} // namespace batchscope::model
