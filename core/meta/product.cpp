// Products of matrices on `meta`: in 16 bit with the blocks that `cpu` packs.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include "core/meta/detail/host_kernel.h"
#include "core/meta/detail/host_shapes.h"

namespace batchscope::meta {

namespace {

/// A matrix, or several, as an operand of a product.
struct HostMatrix {
  std::vector<std::int64_t> sizes; ///< in memory
  bool transposed;

  explicit HostMatrix(const at::Tensor& x)
      : sizes(x.sizes().vec()), transposed(x.stride(-1) != 1 && x.stride(-2) == 1) {
    if (transposed)
      std::swap(sizes.end()[-1], sizes.end()[-2]);
  }
  at::Tensor zeros(at::ScalarType type) const {
    const at::Tensor x = at::zeros(sizes, type);
    return transposed ? x.transpose(-2, -1) : x;
  }
};

struct ProductSizes {
  std::int64_t rows = 0, inner = 0, columns = 0;

  double multiplications() const {
    return static_cast<double>(rows) * static_cast<double>(inner) * static_cast<double>(columns);
  }
};

/// The very sizes if their product is quick, since the blocks in which operands are packed follow the sizes in no
/// simple way, and there is no telling which of them grows with the batch. Else the largest ones halved: it was off by
/// up to 3.2 MB then, where the operands are many times that.
ProductSizes sizes_to_learn_with(ProductSizes sizes) {
  constexpr double quick = 1 << 29;
  constexpr std::int64_t least = 1536;
  while (sizes.multiplications() > quick) {
    std::int64_t& largest =
        std::max({std::ref(sizes.rows), std::ref(sizes.inner), std::ref(sizes.columns)}, std::less<std::int64_t>());
    if (largest < least)
      break;
    largest = (largest + 1) / 2;
  }
  return sizes;
}

/// `bias` is undefined where none is added.
using Multiply = at::Tensor (*)(const at::Tensor& x, const at::Tensor& y, const at::Tensor& bias);

/// A product of matrices in 16 bit, for which some processors' `cpu` packs the operands in blocks, and others' does
/// not; in 32 bit no workspace is counted.
at::Tensor product(const at::Tensor& a, const at::Tensor& b, bool biased, Multiply run, const char* name) {
  std::vector<std::int64_t> sizes = a.sizes().vec();
  sizes.back() = b.size(-1);
  const at::ScalarType type = a.scalar_type();
  if (type == at::kFloat)
    return at::empty(sizes, a.options());
  const ProductSizes reduced_sizes = sizes_to_learn_with({a.size(-2), a.size(-1), b.size(-1)});
  const auto [rows, inner, columns] = reduced_sizes;
  // Number of products of a batch that are made: enough to occupy every thread.
  const auto enough = static_cast<std::int64_t>(std::clamp(0x1p31 / reduced_sizes.multiplications(), 64.0, 512.0));
  const std::int64_t count = a.dim() == 3 ? std::min(a.size(0), enough) : 1;
  const auto reduced = [&](const at::Tensor& x, std::int64_t height, std::int64_t width) {
    HostMatrix matrix(x);
    matrix.sizes.end()[-1] = matrix.transposed ? height : width;
    matrix.sizes.end()[-2] = matrix.transposed ? width : height;
    if (matrix.sizes.size() == 3)
      matrix.sizes.front() = count;
    return matrix;
  };
  const HostMatrix x = reduced(a, rows, inner), y = reduced(b, inner, columns);
  const std::string kind = std::string(name) + (x.transposed ? " transposed" : "") +
                           (y.transposed ? " by transposed " : " ") + c10::toString(type);
  constexpr double telling = 1 << 22; // where operands are packed, tiny ones may not be
  return like_host_kernel({.key = kind + ' ' + text_of(x.sizes) + text_of(y.sizes),
                           .family = reduced_sizes.multiplications() >= telling ? kind : std::string(),
                           .type = type,
                           .prepare = [&](std::int64_t) -> RunKernel {
                             return [run, x = x.zeros(type), y = y.zeros(type),
                                     bias = biased ? at::zeros({reduced_sizes.columns}, type) : at::Tensor()] {
                               return std::vector{run(x, y, bias)};
                             };
                           },
                           .outputs = {{sizes, type}}})
      .front();
}

at::Tensor mm(const at::Tensor& a, const at::Tensor& b) {
  return product(
      a, b, false, [](const at::Tensor& x, const at::Tensor& y, const at::Tensor&) { return at::mm(x, y); }, "mm");
}

at::Tensor bmm(const at::Tensor& a, const at::Tensor& b) {
  return product(
      a, b, false, [](const at::Tensor& x, const at::Tensor& y, const at::Tensor&) { return at::bmm(x, y); }, "bmm");
}

/// With a bias, the vector of a linear layer.
at::Tensor addmm(const at::Tensor& /*bias*/, const at::Tensor& a, const at::Tensor& b, const at::Scalar& /*beta*/,
                 const at::Scalar& /*alpha*/) {
  return product(
      a, b, true,
      [](const at::Tensor& x, const at::Tensor& y, const at::Tensor& bias) { return at::addmm(bias, x, y); }, "addmm");
}

} // namespace

// In the place of LibTorch's.
TORCH_LIBRARY_IMPL(aten, Meta, library) {
  library.impl("mm", mm);
  library.impl("bmm", bmm);
  library.impl("addmm", addmm);
}

} // namespace batchscope::meta
