#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <ATen/core/Tensor.h>

// Helpers of the kernels of `meta` that repeat those of `cpu`.
namespace batchscope::meta {

using Optional = std::optional<at::Tensor>;
using Three = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

/// Zeros on the host with another number of examples.
at::Tensor host_zeros(std::vector<std::int64_t> sizes, std::int64_t examples, at::ScalarType type);
std::int64_t elements_per_example(const std::vector<std::int64_t>& sizes);
/// For the key of a call.
std::string text_of(const std::vector<std::int64_t>& sizes, std::size_t from = 0);

} // namespace batchscope::meta
