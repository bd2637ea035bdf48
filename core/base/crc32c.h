#pragma once

#include <cstdint>
#include <string_view>

namespace batchscope {

/// CRC-32C (Castagnoli) of the bytes; of several parts, each call gets the result of the one before.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

} // namespace batchscope
