#include "core/model/detail/layers.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/group_norm.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/zeros.h>

namespace batchscope::model {

namespace {

constexpr std::int64_t max_groups = 8;

std::int64_t groups_for(std::int64_t channels) {
  std::int64_t groups = std::min(max_groups, channels);
  while (channels % groups != 0)
    --groups;
  return groups;
}

} // namespace

LayerContext LayerContext::part(const std::string& name) const {
  LayerContext inner = *this;
  inner.path += name + '.';
  return inner;
}

at::Tensor LayerContext::parameter(const char* name, at::Tensor tensor) const {
  return add_parameter(path + name, std::move(tensor));
}

at::Tensor LayerContext::buffer(const char* name, at::Tensor tensor) const {
  return add_buffer(path + name, std::move(tensor));
}

at::Tensor LayerContext::derived_buffer(at::Tensor tensor) const {
  return add_buffer({}, std::move(tensor));
}

at::Tensor LayerContext::uniform(const char* name, at::IntArrayRef shape, double bound) const {
  if (!generator.defined())
    return without_values(name, shape);
  return parameter(name, at::empty(shape, at::kFloat).uniform_(-bound, bound, generator).to(device));
}

at::Tensor LayerContext::normal(const char* name, at::IntArrayRef shape, double deviation) const {
  if (!generator.defined())
    return without_values(name, shape);
  return parameter(name, at::empty(shape, at::kFloat).normal_(0.0, deviation, generator).to(device));
}

at::Tensor LayerContext::without_values(const char* name, at::IntArrayRef shape) const {
  return parameter(name, at::empty(shape, at::TensorOptions(at::kFloat).device(device)));
}

at::Tensor LayerContext::constant(const char* name, at::IntArrayRef shape, double value) const {
  return parameter(name, at::full(shape, value, at::TensorOptions(at::kFloat).device(device)));
}

Linear::Linear(const LayerContext& context, std::int64_t in, std::int64_t out, bool has_bias)
    : weight(context.uniform("weight", {out, in}, 1.0 / std::sqrt(static_cast<double>(in)))) {
  if (has_bias)
    bias = context.uniform("bias", {out}, 1.0 / std::sqrt(static_cast<double>(in)));
}

at::Tensor Linear::operator()(const at::Tensor& x) const {
  return at::linear(x, weight, bias.defined() ? std::optional(bias) : std::nullopt);
}

at::Tensor embedding_weights(const LayerContext& context, std::int64_t rows, std::int64_t width) {
  constexpr double deviation = 0.02;
  return context.normal("weight", {rows, width}, deviation);
}

Convolution::Convolution(const LayerContext& context, std::int64_t in, std::int64_t out, std::int64_t kernel,
                         std::int64_t stride)
    : weight(context.uniform("weight", {out, in, kernel, kernel},
                             1.0 / std::sqrt(static_cast<double>(in * kernel * kernel)))),
      stride(stride), padding(kernel / 2) {}

at::Tensor Convolution::operator()(const at::Tensor& x) const {
  return at::conv2d(x, weight, /*bias=*/{}, stride, padding);
}

Patches::Patches(const LayerContext& context, std::int64_t channels, std::int64_t width, std::int64_t side)
    : weight(context.uniform("weight", {width, channels, side, side},
                             1.0 / std::sqrt(static_cast<double>(channels * side * side)))),
      bias(context.constant("bias", {width}, 0.0)), side(side) {}

at::Tensor Patches::operator()(const at::Tensor& images) const {
  return at::conv2d(images, weight, bias, /*stride=*/side).flatten(2).transpose(1, 2);
}

ChannelNorm::ChannelNorm(const LayerContext& context, run::ModelSpec::Norm kind, std::int64_t channels)
    : kind(kind), groups(groups_for(channels)), weight(context.constant("weight", {channels}, 1.0)),
      bias(context.constant("bias", {channels}, 0.0)), momentum(context.batch_norm_momentum) {
  if (kind != run::ModelSpec::Norm::batch)
    return;
  const auto options = at::TensorOptions(at::kFloat).device(context.device);
  mean = context.buffer("running_mean", at::zeros({channels}, options));
  variance = context.buffer("running_var", at::ones({channels}, options));
}

at::Tensor ChannelNorm::operator()(const at::Tensor& x, Pass pass) const {
  if (kind == run::ModelSpec::Norm::group)
    return at::group_norm(x, groups, weight, bias, norm_epsilon);
  const bool moves = pass != Pass::recomputation;
  return at::batch_norm(x, weight, bias, moves ? mean : at::Tensor(), moves ? variance : at::Tensor(),
                        pass != Pass::evaluation, *momentum, norm_epsilon, /*cudnn_enabled=*/true);
}

RmsNorm::RmsNorm(const LayerContext& context, std::int64_t width) : weight(context.constant("weight", {width}, 1.0)) {}

at::Tensor RmsNorm::operator()(const at::Tensor& x) const {
  return weight * (x * (x.pow(2).mean(-1, /*keepdim=*/true) + norm_epsilon).rsqrt());
}

LayerNorm::LayerNorm(const LayerContext& context, std::int64_t width, double epsilon)
    : weight(context.constant("weight", {width}, 1.0)), bias(context.constant("bias", {width}, 0.0)), width(width),
      epsilon(epsilon) {}

at::Tensor LayerNorm::operator()(const at::Tensor& x) const {
  return at::layer_norm(x, {width}, weight, bias, epsilon);
}

} // namespace batchscope::model
