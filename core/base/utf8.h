#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace batchscope {

struct Utf8Character {
  char32_t code = 0;    ///< code point
  std::size_t size = 0; ///< bytes, 1 to 4
};

/// The character that a text, which is not empty, begins with; nothing if its first bytes are no valid one (RFC 3629).
std::optional<Utf8Character> first_character(std::string_view text);

} // namespace batchscope
