#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace batchscope::data {

/// Parses CSV row by row. Fields are separated by commas, or another sign, and may be in double quotes (a doubled quote
/// stands for one; separators and line breaks inside belong to the field). Empty lines are skipped. The text must
/// outlive this object.
class CsvText {
public:
  /// `path` is used in error messages; `first_line`: the number of the text's first line in that file.
  CsvText(std::string_view text, std::string path, std::int64_t first_line = 1, char separator = ',')
      : text_(text), path_(std::move(path)), separator_(separator), next_line_(first_line) {}

  /// Reads the next row into `fields`; returns false at the end. Throws Error (input) naming the line of a quote that
  /// is not closed, or that is followed by anything but a separator or the end of the line.
  bool next(std::vector<std::string>& fields);
  /// After an error: goes on behind the line on which the row of the last next() begins.
  void skip_line();
  /// Line on which the row of the last next() begins, counted from 1.
  std::int64_t line() const { return line_; }
  /// "FILE, line N: why", of the row of the last next().
  std::string refusal(const std::string& why) const;
  /// Throws it as Error (input).
  [[noreturn]] void refuse(const std::string& why) const;

private:
  std::string quoted_field();
  bool at_line_end() const;
  void skip_line_end();

  std::string_view text_;
  std::string path_;
  char separator_;
  std::size_t position_ = 0;
  std::size_t row_begin_ = 0;
  std::int64_t line_ = 0;
  std::int64_t next_line_;
};

} // namespace batchscope::data
