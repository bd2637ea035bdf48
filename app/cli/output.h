#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"

namespace batchscope::cli {

/// Writes to stdout, as terminal_text() has it but for the codes of a Palette; finish_output() reports errors.
void print(std::string_view text);
/// The same text, for another stream.
std::string with_own_codes(std::string_view text);
/// Prints JSON, indented by two spaces, and a newline.
void print_json(const Json& document);
/// Flushes stdout; throws Error (failed) if anything could not be written (a full disk, a closed pipe).
void finish_output();

enum class Colour { plain, dim, good, bad, accent }; // as many as there are codes in output.cpp

/// Colours text if the stream is a terminal and NO_COLOR is not set.
class Palette {
public:
  static Palette for_stdout();
  static Palette for_stderr();

  bool terminal() const { return terminal_; }
  /// What of the text no terminal may have, codes of colours among it, is shown as terminal_text() has it.
  std::string paint(Colour colour, std::string_view text) const;

private:
  explicit Palette(int file);

  bool terminal_;
  bool colours_;
};

/// A text table: numbers right-aligned, texts left-aligned, columns as wide as their longest cell.
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

/// `label  value` lines with aligned values.
std::string facts(const std::vector<std::pair<std::string, std::string>>& rows);

/// Values as text for tables; `-` if there is none.
std::string figure(double value, int digits = 4);
std::string figure(const std::optional<double>& value, int digits = 4);
std::string percent(const std::optional<double>& fraction);
std::string count_or_dash(const std::optional<std::int64_t>& value);
std::string runs_text(std::size_t count); ///< `1 run`, `12 runs`
std::string bytes_or_dash(const std::optional<std::uint64_t>& bytes);

/// Rounded to 5 decimals, the precision in which shares of an epoch are printed.
double five_decimals(double value);

} // namespace batchscope::cli
