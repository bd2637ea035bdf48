// Convolutions on `meta`: as `cpu` runs them.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include "core/meta/detail/host_kernel.h"
#include "core/meta/detail/host_shapes.h"

namespace batchscope::meta {

namespace {

/// The convolution of `cpu` with another number of examples.
struct HostConvolution {
  std::vector<std::int64_t> input, weight, output;
  std::vector<std::int64_t> stride, padding, dilation;
  bool transposed;
  std::vector<std::int64_t> output_padding;
  std::int64_t groups;
  at::ScalarType type;

  HostConvolution(const at::Tensor& x, const at::Tensor& w, at::IntArrayRef stride, at::IntArrayRef padding,
                  at::IntArrayRef dilation, bool transposed, at::IntArrayRef output_padding, std::int64_t groups)
      : input(x.sizes().vec()), weight(w.sizes().vec()), output{x.size(0), channels(w, transposed, groups)},
        stride(stride.vec()), padding(padding.vec()), dilation(dilation.vec()), transposed(transposed),
        output_padding(output_padding.vec()), groups(groups), type(x.scalar_type()) {
    for (std::size_t i = 0; i + 2 < input.size(); ++i) {
      const std::int64_t extent = dilation[i] * (weight[i + 2] - 1) + 1;
      output.push_back(transposed ? (input[i + 2] - 1) * stride[i] - 2 * padding[i] + extent + output_padding[i]
                                  : (input[i + 2] + 2 * padding[i] - extent) / stride[i] + 1);
    }
  }

  static std::int64_t channels(const at::Tensor& w, bool transposed, std::int64_t groups) {
    return transposed ? w.size(1) * groups : w.size(0);
  }
  std::string key() const {
    return text_of(input, 1) + text_of(weight) + text_of(stride) + text_of(padding) + text_of(dilation) +
           (transposed ? "transposed " + text_of(output_padding) : "") + std::to_string(groups);
  }
  HostKernelCall call(const std::string& name) const {
    return {.key = name + ' ' + key(),
            .examples = input[0],
            .elements = std::max(elements_per_example(input), elements_per_example(output)),
            .operations = elements_per_example(output) * elements_per_example(weight),
            .type = type,
            .prepare = {},
            .outputs = {}};
  }
  RunKernel forward(std::int64_t examples) const {
    return [*this, x = host_zeros(input, examples, type), w = at::zeros(weight, type)] {
      return std::vector{at::convolution(x, w, {}, stride, padding, dilation, transposed, output_padding, groups)};
    };
  }
  RunKernel backward(std::int64_t examples, std::array<bool, 3> wanted) const {
    return [*this, wanted, dy = host_zeros(output, examples, type), x = host_zeros(input, examples, type),
            w = at::zeros(weight, type)] {
      const auto [dx, dw, db] = at::convolution_backward(dy, x, w, std::nullopt, stride, padding, dilation, transposed,
                                                         output_padding, groups, wanted);
      return std::vector{dx, dw, db};
    };
  }
};

at::Tensor convolution(const at::Tensor& x, const at::Tensor& weight, const Optional& /*bias*/, at::IntArrayRef stride,
                       at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed,
                       at::IntArrayRef output_padding, std::int64_t groups) {
  const HostConvolution host(x, weight, stride, padding, dilation, transposed, output_padding, groups);
  HostKernelCall call = host.call("convolution");
  call.prepare = [&](std::int64_t examples) { return host.forward(examples); };
  call.outputs = {{host.output, host.type}};
  return like_host_kernel(call).front();
}

Three convolution_backward(const at::Tensor& /*gradient*/, const at::Tensor& x, const at::Tensor& weight,
                           at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed,
                           at::IntArrayRef output_padding, std::int64_t groups, std::array<bool, 3> wanted) {
  const HostConvolution host(x, weight, stride, padding, dilation, transposed, output_padding, groups);
  const std::vector<std::int64_t> none;
  HostKernelCall call = host.call(wanted[0] ? "convolution_backward" : "convolution_backward_weight");
  call.prepare = [&](std::int64_t examples) { return host.backward(examples, wanted); };
  call.outputs = {{wanted[0] ? host.input : none, host.type},
                  {wanted[1] ? host.weight : none, host.type},
                  {wanted[2] ? std::vector{host.output[1]} : none, host.type}};
  const auto made = like_host_kernel(call);
  return {made[0], made[1], made[2]};
}

} // namespace

TORCH_LIBRARY_IMPL(aten, Meta, library) {
  library.impl("convolution_overrideable", convolution);
  library.impl("convolution_backward_overrideable", convolution_backward);
}

} // namespace batchscope::meta
