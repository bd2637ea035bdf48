#include "core/base/json.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "core/base/error.h"

namespace batchscope {

namespace {

/// Levels of lists and objects. Nothing that is read has so many; a value is copied and written by functions that call
/// themselves for each.
constexpr int deepest = 500;

bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text) {
      i += c == '\\' ? 1 : 0;
      in_text = c != '"';
    } else if (c == '"') {
      in_text = true;
    } else if (c == '[' || c == '{') {
      if (++depth > deepest)
        return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

} // namespace

Json parse_json(const std::string& text) {
  if (is_too_deep(text))
    throw input_error(fmt::format("JSON of more levels than are read ({})", deepest));
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    const std::size_t at = std::min(error.byte > 0 ? error.byte - 1 : 0, text.size());
    const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
    const auto line_start = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
    const std::size_t column = at - (line_start == std::string::npos ? 0 : line_start + 1) + 1;
    throw input_error(fmt::format("line {}, column {}: not valid JSON", line, column));
  } catch (const Json::exception& error) {
    // Well-formed but not representable: a number beyond the range of a double.
    const std::string_view what = error.what();
    const auto name_end = what.find("] ");
    throw input_error(fmt::format("JSON cannot be read: {}", name_end == what.npos ? what : what.substr(name_end + 2)));
  }
}

Json parse_json_or_discard(const std::string& text) {
  return is_too_deep(text) ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
}

std::string json_text(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

} // namespace batchscope
