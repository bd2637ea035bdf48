// Kernels of LibTorch's `meta` device that LibTorch has in Python only. Each makes the outputs, and the workspace, of
// the kernel that `cpu` uses, in the same order; there is nothing to compute.
#include <algorithm>
#include <array>
#include <vector>

#include <ATen/ExpandUtils.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/add_meta_dispatch.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul_meta_dispatch.h>
#include <ATen/ops/result_type.h>
#include <torch/library.h>

#include "core/meta/detail/host_kernel.h"
#include "core/meta/detail/host_shapes.h"

namespace batchscope::meta {

namespace {

at::Tensor contiguous_like(const at::Tensor& x) {
  return at::empty_like(x, at::TensorOptions(), at::MemoryFormat::Contiguous);
}

at::Tensor adaptive_pool(const at::Tensor& x, at::IntArrayRef size) {
  return at::empty({x.size(0), x.size(1), size[0], size[1]}, x.options());
}

at::Tensor adaptive_pool_backward(const at::Tensor& /*gradient*/, const at::Tensor& x) {
  return contiguous_like(x);
}

at::Tensor where(const at::Tensor& condition, const at::Tensor& yes, const at::Tensor& no) {
  const auto sizes = at::infer_size(at::infer_size(condition.sizes(), yes.sizes()), no.sizes());
  return at::empty(sizes, yes.dim() > 0 ? yes.options() : no.options());
}

at::Tensor& where_out(const at::Tensor& condition, const at::Tensor& yes, const at::Tensor& no, at::Tensor& out) {
  out.resize_(at::infer_size(at::infer_size(condition.sizes(), yes.sizes()), no.sizes()));
  return out;
}

at::Tensor relu(const at::Tensor& x) {
  return at::empty_like(x);
}

at::Tensor& relu_(at::Tensor& x) {
  return x;
}

/// The copy that `cpu` makes of the operand whose type is not that of the result, while it computes; undefined if both
/// have it.
at::Tensor converted_operand(const at::Tensor& a, const at::Tensor& b) {
  const at::ScalarType type = at::result_type(a, b);
  const at::Tensor& other = a.scalar_type() == type ? b : a;
  return counts_host_workspace() && other.scalar_type() != type ? at::empty(other.sizes(), other.options().dtype(type))
                                                                : at::Tensor();
}

at::Tensor add(const at::Tensor& a, const at::Tensor& b, const at::Scalar& alpha) {
  const at::Tensor converted = converted_operand(a, b);
  return at::meta::add(a, b, alpha);
}

at::Tensor mul(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor converted = converted_operand(a, b);
  return at::meta::mul(a, b);
}

at::Tensor index_select(const at::Tensor& x, std::int64_t dimension, const at::Tensor& index) {
  std::vector<std::int64_t> sizes = x.sizes().vec();
  sizes[static_cast<std::size_t>(at::maybe_wrap_dim(dimension, x.dim()))] = index.numel();
  return at::empty(sizes, x.options());
}

at::Tensor embedding_dense_backward(const at::Tensor& gradient, const at::Tensor& /*indices*/, std::int64_t weights,
                                    std::int64_t /*padding*/, bool /*scale_by_frequency*/) {
  return at::empty({weights, gradient.size(-1)}, gradient.options());
}

/// The type of statistics and of the sums over them: that of the weights, if these are more precise than the input.
at::TensorOptions statistics_like(const at::Tensor& x, const Optional& weight) {
  return x.options().dtype(weight && weight->defined() ? weight->scalar_type() : x.scalar_type());
}

Three layer_norm(const at::Tensor& x, at::IntArrayRef normalized, const Optional& weight, const Optional& /*bias*/,
                 double /*epsilon*/) {
  const at::Tensor y = contiguous_like(x);
  std::vector<std::int64_t> sizes = x.sizes().vec();
  for (std::size_t i = sizes.size() - normalized.size(); i < sizes.size(); ++i)
    sizes[i] = 1;
  const at::Tensor mean = at::empty(sizes, statistics_like(x, weight));
  return {y, mean, contiguous_like(mean)};
}

Three layer_norm_backward(const at::Tensor& /*gradient*/, const at::Tensor& x, at::IntArrayRef normalized,
                          const at::Tensor& /*mean*/, const at::Tensor& /*deviation*/, const Optional& weight,
                          const Optional& bias, std::array<bool, 3> wanted) {
  const at::Tensor dx = wanted[0] ? contiguous_like(x) : at::Tensor();
  const at::Tensor dweight = wanted[1] ? contiguous_like(*weight) : at::Tensor();
  const at::Tensor dbias = wanted[2] ? contiguous_like(*bias) : at::Tensor();
  if (wanted[1] || wanted[2]) { // sums of each thread
    at::empty({2, at::get_num_threads(), c10::multiply_integers(normalized)}, statistics_like(x, weight));
  }
  return {dx, dweight, dbias};
}

Three group_norm(const at::Tensor& x, const Optional& weight, const Optional& /*bias*/, std::int64_t count,
                 std::int64_t /*channels*/, std::int64_t /*pixels*/, std::int64_t groups, double /*epsilon*/) {
  const at::Tensor y = contiguous_like(x);
  const at::Tensor mean = at::empty({count, groups}, statistics_like(x, weight));
  return {y, mean, contiguous_like(mean)};
}

Three group_norm_backward(const at::Tensor& /*gradient*/, const at::Tensor& x, const at::Tensor& /*mean*/,
                          const at::Tensor& /*deviation*/, const Optional& weight, std::int64_t count,
                          std::int64_t channels, std::int64_t /*pixels*/, std::int64_t /*groups*/,
                          std::array<bool, 3> wanted) {
  const at::Tensor dx = wanted[0] ? contiguous_like(x) : at::Tensor();
  const at::Tensor dweight = wanted[1] ? contiguous_like(*weight) : at::Tensor();
  const at::Tensor dbias = wanted[2] ? contiguous_like(*weight) : at::Tensor();
  const at::Tensor sums = at::empty({count, channels}, statistics_like(x, weight));
  const at::Tensor more_sums = contiguous_like(sums);
  return {dx, dweight, dbias};
}

void fused_adam(at::TensorList, at::TensorList, at::TensorList, at::TensorList, at::TensorList, at::TensorList, double,
                double, double, double, double, bool, bool, const Optional&, const Optional&) {}

void unscale(at::TensorList, at::Tensor&, const at::Tensor&) {}

at::Tensor& update_scale(at::Tensor& scale, at::Tensor&, const at::Tensor&, double, double, std::int64_t) {
  return scale;
}

void fused_sgd(at::TensorList, at::TensorList, at::TensorList, double, double, double, double, bool, bool, bool,
               const Optional&, const Optional&) {}

} // namespace

TORCH_LIBRARY_IMPL(aten, Meta, library) {
  library.impl("_adaptive_avg_pool2d", adaptive_pool);
  library.impl("_adaptive_avg_pool2d_backward", adaptive_pool_backward);
  library.impl("where.self", where);
  library.impl("where.self_out", where_out);
  library.impl("relu", relu);
  library.impl("relu_", relu_);
  library.impl("index_select", index_select);
  library.impl("embedding_dense_backward", embedding_dense_backward);
  library.impl("native_layer_norm", layer_norm);
  library.impl("native_layer_norm_backward", layer_norm_backward);
  library.impl("native_group_norm", group_norm);
  library.impl("native_group_norm_backward", group_norm_backward);
  // In the place of LibTorch's.
  library.impl("add.Tensor", add);
  library.impl("mul.Tensor", mul);
  library.impl("_amp_foreach_non_finite_check_and_unscale_", unscale);
  library.impl("_amp_update_scale_", update_scale);
  library.impl("_fused_adam_", fused_adam);
  library.impl("_fused_adamw_", fused_adam);
  library.impl("_fused_sgd_", fused_sgd);
}

} // namespace batchscope::meta
