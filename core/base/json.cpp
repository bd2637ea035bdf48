#include "core/base/json.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "core/base/error.h"

namespace batchscope {

Json parse_json(const std::string& text) {
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
  return Json::parse(text, nullptr, false);
}

std::string json_text(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

} // namespace batchscope
