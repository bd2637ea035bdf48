#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace batchscope {

/// `400MB` = 400,000,000; `400MiB` = 419,430,400; a bare number is bytes; KB MB GB TB and KiB MiB GiB TiB, any case.
/// Throws Error (input) naming `field` for negative, zero, overflowing or unit-less nonsense.
std::uint64_t parse_size(std::string_view text, std::string_view field);

/// Whole-text parses; throw Error (input) naming `field`, the text and the accepted range.
std::int64_t parse_integer(std::string_view text, std::string_view field, std::int64_t lowest, std::int64_t highest);
/// Finite only.
double parse_number(std::string_view text, std::string_view field);

/// For people: `104.3 MB` (decimal units), `12,345`, `1:02:03` / `0:41` / `12.3 s`.
std::string format_bytes(std::uint64_t bytes);
std::string format_count(std::int64_t count);
std::string format_duration(double seconds);

/// What a person gave, for a message: at most the first 200 characters, and how many there are where that is less than
/// all. For every text in a message that has no bound of its own.
std::string shortened(std::string_view text);
/// The same in double quotes.
std::string in_quotes(std::string_view text);

/// As one line for people: spaces, line breaks and control characters become one space, those at the ends nothing.
std::string one_line(std::string_view text);

/// As a shell takes it: bare where that is safe, else in single quotes.
std::string shell_quoted(std::string_view text);

/// `name:key=value,key=value` (`cnn:width=32,norm=group`). Values keep everything up to the next comma.
struct NamedParameters {
  std::string name;
  std::vector<std::pair<std::string, std::string>> parameters; ///< in the order given
};
/// Throws Error (input) naming `field` for an empty name, a part without `=`, an empty key, or a key given twice.
NamedParameters parse_named(std::string_view text, std::string_view field);

} // namespace batchscope
