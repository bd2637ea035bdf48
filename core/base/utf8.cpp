#include "core/base/utf8.h"

namespace batchscope {

namespace {

/// Number of bytes of the character that begins with this byte; 0 if none does.
std::size_t bytes_of(unsigned char first) {
  if (first < 0x80)
    return 1;
  if (first >= 0xC2 && first < 0xE0)
    return 2;
  if (first >= 0xE0 && first < 0xF0)
    return 3;
  return first >= 0xF0 && first < 0xF5 ? 4 : 0;
}

} // namespace

std::optional<Utf8Character> first_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t size = bytes_of(first);
  if (size == 1)
    return Utf8Character{first, size};
  if (size == 0 || size > text.size())
    return std::nullopt;
  char32_t code = first & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0U) != 0x80U)
      return std::nullopt;
    code = code << 6 | (next & 0x3FU);
  }
  const bool overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return overlong || surrogate || code > 0x10FFFF ? std::nullopt : std::optional(Utf8Character{code, size});
}

} // namespace batchscope
