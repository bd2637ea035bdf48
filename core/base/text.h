#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace batchscope {

/// Parses a size in bytes: `400MB` = 400,000,000; `400MiB` = 419,430,400; a bare number is bytes. Units are kB MB GB TB
/// and KiB MiB GiB TiB, in any case. Throws Error (input) naming `field` for a negative, zero or too large size and for
/// an unknown unit.
std::uint64_t parse_size(std::string_view text, std::string_view field);

/// Parse the whole text; throw Error (input) naming `field`, the text and the accepted range.
std::int64_t parse_integer(std::string_view text, std::string_view field, std::int64_t lowest, std::int64_t highest);
/// Accepts finite numbers only.
double parse_number(std::string_view text, std::string_view field);

/// For display: `104.3 MB` (decimal units), `12,345`, `1:02:03` / `0:41` / `12.3 s`.
std::string format_bytes(std::uint64_t bytes);
std::string format_count(std::int64_t count);
std::string format_duration(double seconds);

/// A value that the user gave, for a message: at most its first 200 characters (`most` bytes), followed by the total
/// number of characters if it was cut. Use it for every text in a message that has no length limit of its own.
std::string shortened(std::string_view text, std::size_t most = 200);
/// shortened() in double quotes.
std::string in_quotes(std::string_view text);

/// The text without blanks, tabs and line breaks at either end.
std::string_view trimmed(std::string_view text);

/// The text as one line for display: each run of spaces, line breaks and control characters becomes one space; those at
/// either end are removed.
std::string one_line(std::string_view text);

/// The text for Markdown, in which none of its signs is markup or ends the cell of a table.
std::string markdown_escaped(std::string text);

/// The text up to the first comma, or all of it; `rest` keeps what follows that comma.
std::string_view take_part(std::string_view& rest);

/// The text quoted for a POSIX shell: bare if that is safe, else in single quotes.
std::string shell_quoted(std::string_view text);

/// Result of parsing `name:key=value,key=value` (`cnn:width=32,norm=group`). A value extends to the next comma.
struct NamedParameters {
  std::string name;
  std::vector<std::pair<std::string, std::string>> parameters; ///< in the order given
};
/// Throws Error (input) naming `field` for an empty name, a part without `=`, an empty key, or a key given twice.
NamedParameters parse_named(std::string_view text, std::string_view field);

} // namespace batchscope
