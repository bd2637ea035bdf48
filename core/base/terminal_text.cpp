#include "core/base/terminal_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/utf8.h"

namespace batchscope {

namespace {

bool is_plain(char c) {
  return (c >= 0x20 && c < 0x7F) || c == '\n' || c == '\t';
}

bool is_control(char32_t code) {
  return (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7F && code < 0xA0);
}

bool sets_direction(char32_t code) {
  return code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
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
    else if (is_control(character->code) || sets_direction(character->code))
      shown += fmt::format("\\u{:04x}", static_cast<unsigned>(character->code));
    else
      shown += text.substr(0, character->size);
    text.remove_prefix(character ? character->size : 1);
  }
  return shown;
}

} // namespace batchscope
