#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/csv_text.h"
#include "core/exchange/import.h"

namespace batchscope::exchange::detail {

/// The column that counts the steps by its name: step, global_step, iteration, iter...
std::optional<std::size_t> step_column_in(const std::vector<std::string>& columns);

/// The same, but a column that the options name goes first, and without either that of epochs counts. `series` are
/// those that the columns become. Throws Error (input) if there is none.
std::size_t column_of_steps(const std::vector<std::string>& columns, const std::vector<std::string>& series,
                            const ImportOptions& options);

/// The tables of a path: the file itself or, in a folder of Lightning's logs, `metrics.csv` of each version.
std::vector<std::filesystem::path> tables_of(const std::filesystem::path& path);

/// The text without a byte order mark, as Excel writes it.
std::string_view without_mark(std::string_view text);

/// The text without a last row that is still being written.
std::string_view whole_rows(std::string_view text);

/// Reads the rows that are added to the tables of a path.
std::unique_ptr<SeriesFollower> follow_tables(const std::filesystem::path& path);

/// The sign between the values of a table, from its first line: a comma, a semicolon or a tab.
char separator_of(std::string_view text);

/// The columns of a table: one counts the steps, one may tell runs apart, the others are series. Blanks around names
/// and values do not count.
class CsvTable {
public:
  /// Without a column of steps, that of epochs counts them. Throws Error (input) if there is none, either.
  /// `decimal_comma`: 0,5 is a number, too.
  CsvTable(const std::vector<std::string>& header, const ImportOptions& options, bool decimal_comma);

  const std::vector<std::string>& header() const { return header_; }
  const std::vector<std::string>& series() const { return series_; } ///< the columns' names, some empty
  const std::string& loss() const { return loss_; }                  ///< the series that becomes loss; empty: none
  /// The step of a row; nothing where it is not a whole number.
  std::optional<std::int64_t> step_of(const std::vector<std::string>& row) const;
  /// The run of a row; empty in a table of one run.
  std::string run_of(const std::vector<std::string>& row) const;
  using Take = std::function<void(const std::string& series, double value)>;
  using Leave = std::function<void(const std::string& series, std::string_view text)>;
  /// Calls `take` with the value of each column that has one, and `leave` with what is not empty and no number.
  void values_of(
      const std::vector<std::string>& row, const Take& take,
      const Leave& leave = [](const std::string&, std::string_view) {}) const;
  /// Text that identifies a row even after columns were added to the table: names and values of the cells that are not
  /// empty.
  std::string identity_of(const std::vector<std::string>& row) const;

private:
  std::optional<double> number(std::string_view text) const;

  std::vector<std::string> header_;
  std::vector<std::string> series_;
  std::size_t step_column_ = 0;
  std::optional<std::size_t> run_column_;
  std::string loss_;
  bool decimal_comma_ = false;
};

/// Reads the rows of a table. A line of names in between, as of a program that was started again, begins other columns;
/// rows before a column was added may be shorter than its header. A line that is damaged costs itself.
class CsvRows {
public:
  CsvRows(ImportOptions options, char separator) : options_(std::move(options)), separator_(separator) {}

  char separator() const { return separator_; }
  /// Goes on behind a header; else the first line is one.
  void set_header(const std::vector<std::string>& header);
  /// Goes to the next row of values; false at the end. `csv` may be another part of the table each time. Throws Error
  /// (input) for a header without a column that counts the steps.
  bool next(data::CsvText& csv);

  bool has_columns() const { return table_.has_value(); }
  const CsvTable& table() const { return *table_; } ///< of the row
  const std::vector<std::string>& row() const { return row_; }
  std::int64_t step() const { return step_; }
  std::int64_t damaged() const { return damaged_; }                 ///< lines since forget_damage()
  const std::string& first_damage() const { return first_damage_; } ///< of them: `FILE, line N: why`
  void forget_damage() { damaged_ = 0; }

private:
  bool is_header() const;
  /// Why the row is not one of the table; empty: it is.
  std::string problem();

  ImportOptions options_;
  char separator_;
  std::optional<CsvTable> table_;
  std::vector<std::string> row_;
  std::size_t widest_ = 0; ///< values of a row since the header
  std::int64_t step_ = 0;
  std::int64_t damaged_ = 0;
  std::string first_damage_;
};

} // namespace batchscope::exchange::detail
