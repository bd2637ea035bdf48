#pragma once

#include <ATen/core/Tensor.h>

namespace batchscope::model {

/// 2x2 max pooling of images [b, c, h, w]; an odd last row or column is dropped. Bit-identical to at::max_pool2d(x, 2)
/// in values, gradients and memory, but several times as fast on the host: LibTorch's kernel branches at every pixel,
/// and the branch is unpredictable.
at::Tensor max_pool_2x2(const at::Tensor& x);

/// The weights [height * width, to_height * to_width] with which a product averages the pixels of an image of these
/// sides as at::adaptive_avg_pool2d does, whose backward pass has no deterministic implementation on a GPU.
at::Tensor averaging_weights(std::int64_t height, std::int64_t width, std::int64_t to_height, std::int64_t to_width,
                             c10::Device device);

} // namespace batchscope::model
