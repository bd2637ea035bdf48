#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace batchscope {

/// Parses a `--device` value: returns nothing for `cpu` and the GPU's index, 0 to 63 (LibTorch's own limit), for
/// `cuda:N`. Throws Error (input) for any other text.
std::optional<int> parse_device(std::string_view text);

/// Environment variable that limits a process to some GPUs, by CUDA's own numbers or names. The process sees these GPUs
/// as cuda:0, cuda:1 and so on.
inline constexpr const char* visible_devices = "CUDA_VISIBLE_DEVICES";

/// Its entries in this process, as they are written; nothing if it is not set.
std::optional<std::vector<std::string>> visible_cards();

/// CUDA's number or name of `device`, such as `cuda:0`, from that variable: `GPU 2` or `GPU-5ab...`. Empty for `cpu`,
/// and where the variable does not name it.
std::string card_of(std::string_view device);

} // namespace batchscope
