#include "core/base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include <fmt/format.h>

#include "core/base/error.h"

namespace batchscope {

namespace {

constexpr std::uint64_t largest_size = std::numeric_limits<std::int64_t>::max();

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// A UTF-8 continuation byte.
bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// Bytes per unit; 0 for an unknown unit.
std::uint64_t unit_bytes(std::string_view unit) {
  std::string lower(unit);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  if (lower.empty() || lower == "b")
    return 1;
  constexpr std::string_view prefixes = "kmgt";
  const auto power = prefixes.find(lower.front());
  if (power == std::string_view::npos)
    return 0;
  const std::string_view rest = std::string_view(lower).substr(1);
  const std::uint64_t base = rest == "b" ? 1000 : rest == "ib" ? 1024 : 0;
  std::uint64_t bytes = base;
  for (std::size_t i = 0; i < power; ++i)
    bytes *= base;
  return bytes;
}

Error size_error(std::string_view text, std::string_view field, std::string_view problem) {
  return input_error(fmt::format("{}: {} {}; accepted: a number of bytes above 0, or one with a unit such as "
                                 "400MB, 1.5GB or 400MiB",
                                 field, in_quotes(text), problem));
}

/// Digits of a decimal fraction times `unit`, rounded down; exact for as many digits as a user would type.
std::uint64_t fraction_of(std::string_view digits, std::uint64_t unit) {
  long double value = 0;
  long double scale = 0.1L;
  for (const char digit : digits) {
    value += (digit - '0') * scale;
    scale /= 10;
  }
  // The small addend keeps 0.3kB at 300 bytes: 0.1 has no exact binary form.
  return static_cast<std::uint64_t>(std::floor(value * unit + 1e-6L));
}

} // namespace

std::uint64_t parse_size(std::string_view text, std::string_view field) {
  const auto whole_end = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
  if (whole_end == 0)
    throw size_error(text, field, text.starts_with('-') ? "is negative" : "is not a size");
  std::string_view rest = text.substr(whole_end);
  std::string_view fraction;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    fraction = rest.substr(0, std::find_if_not(rest.begin(), rest.end(), is_digit) - rest.begin());
    rest.remove_prefix(fraction.size());
  }
  if (rest.starts_with(' ') && rest.size() > 1)
    rest.remove_prefix(1);
  const std::uint64_t unit = unit_bytes(rest);
  if (unit == 0 || (rest.empty() && whole_end != text.size()))
    throw size_error(text, field, "is not a size");

  std::uint64_t whole = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + whole_end, whole);
  if (parsed.ec == std::errc::result_out_of_range || whole > largest_size / unit)
    throw size_error(text, field, "is too large");
  const std::uint64_t bytes = whole * unit + fraction_of(fraction, unit);
  if (bytes > largest_size)
    throw size_error(text, field, "is too large");
  if (bytes == 0)
    throw size_error(text, field, "is 0 bytes");
  return bytes;
}

std::int64_t parse_integer(std::string_view text, std::string_view field, std::int64_t lowest, std::int64_t highest) {
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  if (whole && value >= lowest && value <= highest)
    return value;
  const std::string accepted = highest == std::numeric_limits<std::int64_t>::max()
                                   ? fmt::format("a whole number, at least {}", lowest)
                                   : fmt::format("a whole number from {} to {}", lowest, highest);
  throw input_error(fmt::format("{}: {} is not accepted; accepted: {}", field, in_quotes(text), accepted));
}

double parse_number(std::string_view text, std::string_view field) {
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || !std::isfinite(value))
    throw input_error(
        fmt::format("{}: {} is not accepted; accepted: a finite number such as 0.1", field, in_quotes(text)));
  return value;
}

std::string format_bytes(std::uint64_t bytes) {
  if (bytes < 1000)
    return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  const char* const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  value /= 1000;
  // 999.95 would be printed as 1000.0.
  while (value >= 999.95 && unit + 1 < std::size(units)) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, units[unit]);
}

std::string format_count(std::int64_t count) {
  std::string digits = fmt::format("{}", count);
  const std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t position = digits.size(); position > first + 3;) {
    position -= 3;
    digits.insert(position, 1, ',');
  }
  return digits;
}

std::string format_duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0)
    return "-";
  constexpr double tenth = 0.00995; // below, milliseconds with two digits
  if (seconds < tenth)
    return fmt::format("{:.2g} ms", seconds * 1000);
  if (seconds < 0.9995)
    return fmt::format("{:.0f} ms", seconds * 1000);
  if (seconds < 19.95)
    return fmt::format("{:.1f} s", seconds);
  if (seconds >= 1e15)
    return fmt::format("{:.3g} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600)
    return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most)
    return std::string(text);
  std::size_t end = most;
  while (end > 0 && continues_character(text[end]))
    --end;
  const auto characters =
      text.size() - static_cast<std::size_t>(std::count_if(text.begin(), text.end(), continues_character));
  return fmt::format("{}... ({} characters)", text.substr(0, end), format_count(static_cast<std::int64_t>(characters)));
}

std::string in_quotes(std::string_view text) {
  return '"' + shortened(text) + '"';
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string one_line(std::string_view text) {
  std::string line;
  bool gap = false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool blank = byte <= ' ' || byte == 0x7f;
    if (!blank && gap && !line.empty())
      line += ' ';
    if (!blank)
      line += c;
    gap = blank;
  }
  return line;
}

std::string shell_quoted(std::string_view text) {
  constexpr std::string_view safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  if (!text.empty() && text.find_first_not_of(safe) == std::string_view::npos)
    return std::string(text);
  std::string result = "'";
  for (const char c : text)
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string markdown_escaped(std::string text) {
  for (std::size_t at = 0; (at = text.find_first_of("|\\<>*_`[]", at)) != std::string::npos; at += 2)
    text.insert(at, 1, '\\');
  return text;
}

std::string_view take_part(std::string_view& rest) {
  const std::string_view part = rest.substr(0, rest.find(','));
  rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  return part;
}

NamedParameters parse_named(std::string_view text, std::string_view field) {
  const auto colon = text.find(':');
  NamedParameters named{std::string(text.substr(0, colon)), {}};
  if (named.name.empty())
    throw input_error(
        fmt::format("{}: {} has no name; accepted: name or name:key=value,key=value", field, in_quotes(text)));
  if (colon == std::string_view::npos)
    return named;
  std::string_view rest = text.substr(colon + 1);
  for (bool more = true; more;) {
    const auto comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    more = comma != std::string_view::npos;
    if (more)
      rest.remove_prefix(comma + 1);
    const auto equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0)
      throw input_error(
          fmt::format("{}: {} in {} is not a parameter; accepted: key=value", field, in_quotes(part), in_quotes(text)));
    const std::string key(part.substr(0, equals));
    for (const auto& [known, value] : named.parameters)
      if (known == key)
        throw input_error(fmt::format("{}: {} is given twice in {}", field, in_quotes(key), in_quotes(text)));
    named.parameters.emplace_back(key, part.substr(equals + 1));
  }
  return named;
}

} // namespace batchscope
