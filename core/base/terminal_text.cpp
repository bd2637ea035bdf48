#include "core/base/terminal_text.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

namespace batchscope {

namespace {

struct Character {
  std::uint32_t point = 0;
  std::size_t length = 1; ///< bytes
};

/// The character that the text begins with; nothing if its first byte begins none (RFC 3629).
std::optional<Character> first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80)
    return Character{lead, 1};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length)
    return std::nullopt;
  std::uint32_t point = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) != 0x80)
      return std::nullopt;
    point = (point << 6) | (byte & 0x3FU);
  }
  const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
  return overlong || surrogate || point > 0x10FFFF ? std::nullopt : std::optional(Character{point, length});
}

bool is_plain(char c) {
  return (c >= 0x20 && c < 0x7F) || c == '\n' || c == '\t';
}

bool is_control(std::uint32_t point) {
  return (point < 0x20 && point != '\n' && point != '\t') || (point >= 0x7F && point < 0xA0);
}

bool sets_direction(std::uint32_t point) {
  return point == 0x061C || point == 0x200E || point == 0x200F || (point >= 0x202A && point <= 0x202E) ||
         (point >= 0x2066 && point <= 0x2069);
}

} // namespace

std::string terminal_text(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), is_plain))
    return std::string(text); // nearly all of what is printed, of which there may be megabytes
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const auto character = first_character(text);
    if (!character)
      shown += "\xEF\xBF\xBD";
    else if (is_control(character->point) || sets_direction(character->point))
      shown += fmt::format("\\u{:04x}", character->point);
    else
      shown += text.substr(0, character->length);
    text.remove_prefix(character ? character->length : 1);
  }
  return shown;
}

} // namespace batchscope
