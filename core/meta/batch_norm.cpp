// Batch norm on `meta`: as `cpu` runs it.
#include <array>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/native_batch_norm_backward.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include "core/meta/detail/host_kernel.h"
#include "core/meta/detail/host_shapes.h"

namespace batchscope::meta {

namespace {

Three batch_norm(const at::Tensor& x, const Optional& /*weight*/, const Optional& /*bias*/, const Optional& /*mean*/,
                 const Optional& /*variance*/, bool training, double momentum, double epsilon) {
  const std::vector<std::int64_t> sizes = x.sizes().vec(), channels{x.size(1)};
  const at::ScalarType type = x.scalar_type();
  const auto prepare = [=](std::int64_t examples) -> RunKernel {
    return [=, x = host_zeros(sizes, examples, type), ones = at::ones(channels), mean = at::zeros(channels),
            variance = at::ones(channels)] {
      const auto [y, saved_mean, deviation] =
          at::native_batch_norm(x, ones, ones, mean, variance, training, momentum, epsilon);
      return std::vector{y, saved_mean, deviation};
    };
  };
  const std::vector<std::int64_t> saved{training ? x.size(1) : 0};
  const auto made = like_host_kernel({.key = "batch_norm " + text_of(sizes, 1) + (training ? "training" : "evaluation"),
                                      .examples = x.size(0),
                                      .elements = elements_per_example(sizes),
                                      .operations = elements_per_example(sizes),
                                      .type = type,
                                      .prepare = prepare,
                                      .outputs = {{sizes, type}, {saved}, {saved}}});
  return {made[0], made[1], made[2]};
}

Three batch_norm_backward(const at::Tensor& /*gradient*/, const at::Tensor& x, const Optional& /*weight*/,
                          const Optional& /*running_mean*/, const Optional& /*running_variance*/,
                          const Optional& /*mean*/, const Optional& /*deviation*/, bool training, double epsilon,
                          std::array<bool, 3> wanted) {
  const std::vector<std::int64_t> sizes = x.sizes().vec(), channels{x.size(1)}, none;
  const at::ScalarType type = x.scalar_type();
  const auto prepare = [=](std::int64_t examples) -> RunKernel {
    return
        [=, x = host_zeros(sizes, examples, type), dy = host_zeros(sizes, examples, type), ones = at::ones(channels)] {
          const auto [dx, dweight, dbias] =
              at::native_batch_norm_backward(dy, x, ones, ones, ones, ones, ones, training, epsilon, wanted);
          return std::vector{dx, dweight, dbias};
        };
  };
  const auto made = like_host_kernel(
      {.key = "batch_norm_backward " + text_of(sizes, 1),
       .examples = x.size(0),
       .elements = elements_per_example(sizes),
       .operations = elements_per_example(sizes),
       .type = type,
       .prepare = prepare,
       .outputs = {{wanted[0] ? sizes : none, type}, {wanted[1] ? channels : none}, {wanted[2] ? channels : none}}});
  return {made[0], made[1], made[2]};
}

} // namespace

TORCH_LIBRARY_IMPL(aten, Meta, library) {
  library.impl("native_batch_norm", batch_norm);
  library.impl("native_batch_norm_backward", batch_norm_backward);
}

} // namespace batchscope::meta
