#include "core/meta/detail/host_shapes.h"

#include <ATen/ops/zeros.h>

namespace batchscope::meta {

at::Tensor host_zeros(std::vector<std::int64_t> sizes, std::int64_t examples, at::ScalarType type) {
  sizes[0] = examples;
  return at::zeros(sizes, type);
}

std::int64_t elements_per_example(const std::vector<std::int64_t>& sizes) {
  return c10::multiply_integers(sizes.begin() + 1, sizes.end());
}

std::string text_of(const std::vector<std::int64_t>& sizes, std::size_t from) {
  std::string text;
  for (std::size_t i = from; i < sizes.size(); ++i)
    text += std::to_string(sizes[i]) + ',';
  return text + ' ';
}

} // namespace batchscope::meta
