#pragma once

#include <optional>
#include <string_view>

namespace batchscope {

/// `cpu` or `cuda:N` as `--device` names it: the GPU's number, 0 to 63 (LibTorch's own bound), or nothing for `cpu`.
/// Throws Error (input) for any other text.
std::optional<int> parse_device(std::string_view text);

} // namespace batchscope
