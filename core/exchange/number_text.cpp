#include "core/exchange/detail/number_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace batchscope::exchange::detail {

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos)
    return text;
  std::string quoted = "\"";
  for (const char c : text)
    quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

void append_number(std::string& text, double value) {
  if (std::isnan(value)) {
    text += "NaN";
    return;
  }
  if (std::isinf(value)) {
    text += value > 0 ? "Infinity" : "-Infinity";
    return;
  }
  // Large enough for every double in its shortest form, and for all integers that doubles represent exactly.
  std::array<char, 32> digits;
  constexpr double exact = 9007199254740992; // 2^53
  const bool integer = std::trunc(value) == value && std::abs(value) <= exact && (value != 0 || !std::signbit(value));
  const auto end = integer ? std::to_chars(digits.begin(), digits.end(), static_cast<std::int64_t>(value)).ptr
                           : std::to_chars(digits.begin(), digits.end(), value).ptr;
  text.append(digits.begin(), end);
}

std::optional<std::int64_t> whole_number(double value) {
  constexpr double largest = 9e15;
  const bool whole = value == std::trunc(value) && std::abs(value) <= largest;
  return whole ? std::optional(static_cast<std::int64_t>(value)) : std::nullopt;
}

std::optional<std::int64_t> whole_number(const Json& value) {
  return value.is_number() ? whole_number(value.get<double>()) : std::nullopt;
}

Json json_of_number(double value) {
  const auto whole = whole_number(value);
  return whole ? Json(*whole) : json_number(value);
}

} // namespace batchscope::exchange::detail
