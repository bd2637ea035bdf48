#pragma once

#include <ATen/core/Tensor.h>

namespace batchscope::model {

/// 2x2 max pooling of images [b, c, h, w]; an odd last row or column is dropped. Bit-identical to at::max_pool2d(x, 2)
/// in values, gradients and memory, but several times as fast on the host: LibTorch's kernel branches at every pixel,
/// and the branch is unpredictable.
at::Tensor max_pool_2x2(const at::Tensor& x);

} // namespace batchscope::model
