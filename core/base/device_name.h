#pragma once

#include <optional>
#include <string_view>

namespace batchscope {

/// Parses a `--device` value: returns nothing for `cpu` and the GPU's index, 0 to 63 (LibTorch's own limit), for
/// `cuda:N`. Throws Error (input) for any other text.
std::optional<int> parse_device(std::string_view text);

} // namespace batchscope
