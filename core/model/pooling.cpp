#include "core/model/detail/pooling.h"

#include <algorithm>
#include <cmath>

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/max_pool2d_with_indices_backward.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

namespace batchscope::model {

namespace {

/// Minimum number of pixels per thread.
constexpr std::int64_t grain = 32768;

/// Index of the highest of four: the first of equal ones, and the last NaN if there is any.
int highest_of(float a, float b, float c, float d) {
  if (std::isnan(a + b + c + d)) [[unlikely]] { // also for infinities of both signs
    const float values[] = {a, b, c, d};
    int highest = 0;
    for (int i = 1; i < 4; ++i) {
      if (values[i] > values[highest] || std::isnan(values[i]))
        highest = i;
    }
    return highest;
  }
  const float most = std::max(std::max(a, b), std::max(c, d));
  const int not_a = a != most, not_b = b != most, not_c = c != most;
  return not_a + (not_a & not_b) + (not_a & not_b & not_c);
}

void pool_plane(const float* pixels, std::int64_t height, std::int64_t width, float* pooled, std::int64_t* places) {
  const std::int64_t offsets[] = {0, 1, width, width + 1};
  for (std::int64_t y = 0; y + 1 < height; y += 2) {
    for (std::int64_t x = 0; x + 1 < width; x += 2) {
      const std::int64_t corner = y * width + x;
      const float* from = pixels + corner;
      const std::int64_t offset = offsets[highest_of(from[0], from[1], from[width], from[width + 1])];
      *pooled++ = from[offset];
      *places++ = corner + offset;
    }
  }
}

class MaxPool2x2 : public torch::autograd::Function<MaxPool2x2> {
public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x) {
    const std::int64_t height = x.size(2), width = x.size(3);
    const std::int64_t pixels = height * width, pooled_pixels = (height / 2) * (width / 2);
    const at::Tensor pooled = at::empty({x.size(0), x.size(1), height / 2, width / 2}, x.options());
    const at::Tensor places = at::empty(pooled.sizes(), x.options().dtype(at::kLong));
    context->save_for_backward({x, places});
    if (x.is_meta())
      return pooled;
    const auto* from = x.const_data_ptr<float>();
    auto* to = pooled.mutable_data_ptr<float>();
    auto* to_places = places.mutable_data_ptr<std::int64_t>();
    at::parallel_for(0, x.size(0) * x.size(1), std::max<std::int64_t>(1, grain / pixels),
                     [&](std::int64_t begin, std::int64_t end) {
                       for (std::int64_t plane = begin; plane < end; ++plane)
                         pool_plane(from + plane * pixels, height, width, to + plane * pooled_pixels,
                                    to_places + plane * pooled_pixels);
                     });
    return pooled;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    return {at::max_pool2d_with_indices_backward(gradients[0], saved[0], {2, 2}, {2, 2}, {0, 0}, {1, 1},
                                                 /*ceil_mode=*/false, saved[1])};
  }
};

} // namespace

at::Tensor max_pool_2x2(const at::Tensor& x) {
  const bool own = (x.is_cpu() || x.is_meta()) && x.scalar_type() == at::kFloat && x.is_contiguous() && x.numel() > 0;
  return own ? MaxPool2x2::apply(x) : at::max_pool2d(x, 2);
}

at::Tensor averaging_weights(std::int64_t height, std::int64_t width, std::int64_t to_height, std::int64_t to_width,
                             c10::Device device) {
  at::Tensor weights = at::zeros({height * width, to_height * to_width}, at::kFloat);
  float* values = weights.mutable_data_ptr<float>();
  const auto begin = [](std::int64_t to, std::int64_t from_side, std::int64_t to_side) {
    return to * from_side / to_side;
  };
  const auto end = [](std::int64_t to, std::int64_t from_side, std::int64_t to_side) {
    return ((to + 1) * from_side + to_side - 1) / to_side;
  };
  for (std::int64_t row = 0; row < to_height; ++row) {
    for (std::int64_t column = 0; column < to_width; ++column) {
      const std::int64_t top = begin(row, height, to_height), bottom = end(row, height, to_height);
      const std::int64_t left = begin(column, width, to_width), right = end(column, width, to_width);
      const float share = 1.0F / static_cast<float>((bottom - top) * (right - left));
      for (std::int64_t y = top; y < bottom; ++y)
        for (std::int64_t x = left; x < right; ++x)
          values[(y * width + x) * to_height * to_width + row * to_width + column] = share;
    }
  }
  return weights.to(device);
}

} // namespace batchscope::model
