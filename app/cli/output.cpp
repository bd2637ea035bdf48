#include "app/cli/output.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/terminal_text.h"
#include "core/base/text.h"

namespace batchscope::cli {

namespace {

/// Characters, not bytes: names may be in any language.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

constexpr std::string_view end_of_colour = "\x1b[0m";
/// By Colour.
constexpr std::array<std::string_view, 5> codes = {"", "\x1b[2m", "\x1b[32m", "\x1b[31m", "\x1b[1m"};

/// The code of a Palette that the text begins with; empty if it begins with none.
std::string_view code_before(std::string_view text) {
  for (const std::string_view code : codes)
    if (!code.empty() && text.starts_with(code))
      return code;
  return text.starts_with(end_of_colour) ? end_of_colour : std::string_view();
}

} // namespace

std::string with_own_codes(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::string_view code = code_before(text);
    const std::size_t end = code.empty() ? std::min(text.find('\x1b', 1), text.size()) : code.size();
    shown += code.empty() ? terminal_text(text.substr(0, end)) : std::string(code);
    text.remove_prefix(end);
  }
  return shown;
}

void print(std::string_view text) {
  const std::string shown = with_own_codes(text);
  std::fwrite(shown.data(), 1, shown.size(), stdout);
}

void print_json(const Json& document) {
  print(json_text(document, 2));
  print("\n");
}

void finish_output() {
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    throw Error(Error::Kind::failed, fmt::format("the output could not be written: {}",
                                                 errno != 0 ? std::strerror(errno) : "the stream is broken"));
}

Palette::Palette(int file) : terminal_(isatty(file) == 1) {
  const char* no_colour = std::getenv("NO_COLOR");
  colours_ = terminal_ && (no_colour == nullptr || *no_colour == '\0');
}

Palette Palette::for_stdout() {
  return Palette(STDOUT_FILENO);
}

Palette Palette::for_stderr() {
  return Palette(STDERR_FILENO);
}

std::string Palette::paint(Colour colour, std::string_view text) const {
  if (!colours_ || colour == Colour::plain)
    return terminal_text(text);
  return fmt::format("{}{}{}", codes.at(static_cast<std::size_t>(colour)), terminal_text(text), end_of_colour);
}

void Table::add(std::vector<std::string> cells, Colour colour) {
  cells.resize(columns_.size());
  for (std::string& cell : cells)
    cell = terminal_text(cell); // as wide as it is shown
  rows_.push_back({std::move(cells), colour});
}

std::string Table::line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string gap(widths[i] - width_of(cells[i]), ' ');
    text += i == 0 ? "" : "  ";
    text += columns_[i].align == Align::right ? gap + cells[i] : cells[i] + gap;
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string Table::text(const Palette& palette) const {
  std::vector<std::string> titles;
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    titles.push_back(columns_[i].title);
    widths.push_back(width_of(columns_[i].title));
    for (const Row& row : rows_)
      widths.back() = std::max(widths.back(), width_of(row.cells[i]));
  }
  std::string text = palette.paint(Colour::dim, line(titles, widths)) + '\n';
  for (const Row& row : rows_)
    text += palette.paint(row.colour, line(row.cells, widths)) + '\n';
  return text;
}

std::string facts(const std::vector<std::pair<std::string, std::string>>& rows) {
  std::size_t width = 0;
  for (const auto& [label, value] : rows)
    width = std::max(width, width_of(label));
  std::string text;
  for (const auto& [label, value] : rows)
    text.append(label).append(width - width_of(label) + 2, ' ').append(terminal_text(value)) += '\n';
  return text;
}

std::string figure(double value, int digits) {
  return fmt::format("{:.{}g}", value, digits);
}

std::string figure(const std::optional<double>& value, int digits) {
  return value ? figure(*value, digits) : "-";
}

std::string percent(const std::optional<double>& fraction) {
  return fraction && std::isfinite(*fraction) ? fmt::format("{:.2f} %", *fraction * 100) : "-";
}

std::string count_or_dash(const std::optional<std::int64_t>& value) {
  return value ? format_count(*value) : "-";
}

std::string runs_text(std::size_t count) {
  return count == 1 ? "1 run" : format_count(static_cast<std::int64_t>(count)) + " runs";
}

std::string bytes_or_dash(const std::optional<std::uint64_t>& bytes) {
  return bytes ? format_bytes(*bytes) : "-";
}

double five_decimals(double value) {
  return std::round(value * 1e5) / 1e5;
}

} // namespace batchscope::cli
