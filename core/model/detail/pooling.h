#pragma once

#include <ATen/core/Tensor.h>

namespace batchscope::model {

/// The highest of each 2x2 pixels of images [b, c, h, w]; an odd last row or column is left out. The same bits,
/// gradients and memory as at::max_pool2d(x, 2), several times as fast on the host: LibTorch's kernel branches at every
/// pixel, and no processor predicts which of four is the highest.
at::Tensor max_pool_2x2(const at::Tensor& x);

} // namespace batchscope::model
