#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"

namespace batchscope::cli {

/// Writes to stdout; see finish_output() for what becomes of errors.
void print(std::string_view text);
/// Two-space indented JSON and a line end.
void print_json(const Json& document);
/// Flushes stdout; throws Error (failed) where something could not be written (a full disk, a closed pipe).
void finish_output();

enum class Colour { plain, dim, good, bad, accent };

/// Colours a text where the stream is a terminal and NO_COLOR is not set.
class Palette {
public:
  static Palette for_stdout();
  static Palette for_stderr();

  bool terminal() const { return terminal_; }
  std::string paint(Colour colour, std::string_view text) const;

private:
  explicit Palette(int file);

  bool terminal_;
  bool colours_;
};

/// Rows for people: numbers to the right, texts to the left, as wide as their longest cell.
class Table {
public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::right;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> cells, Colour colour = Colour::plain);
  std::string text(const Palette& palette) const;

private:
  struct Row {
    std::vector<std::string> cells;
    Colour colour;
  };
  std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

/// `label  value` lines, the values one under the other.
std::string facts(const std::vector<std::pair<std::string, std::string>>& rows);

/// Figures as a table shows them; `-` where there is none.
std::string figure(double value, int digits = 4);
std::string figure(const std::optional<double>& value, int digits = 4);
std::string percent(const std::optional<double>& share);
std::string count_or_dash(const std::optional<std::int64_t>& value);
std::string bytes_or_dash(const std::optional<std::uint64_t>& bytes);

/// Rounded to the 5 decimals in which shares of an epoch are shown.
double five_decimals(double value);

} // namespace batchscope::cli
