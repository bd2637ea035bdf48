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

/// The tables of a path: the file itself or, in a folder of Lightning's logs, `metrics.csv` of each version.
std::vector<std::filesystem::path> tables_of(const std::filesystem::path& path);

/// The text without a last row that is still being written.
std::string_view whole_rows(std::string_view text);

/// Reads the rows that are added to the tables of a path.
std::unique_ptr<SeriesFollower> follow_tables(const std::filesystem::path& path);

/// The columns of a table: one counts the steps, one may tell runs apart, the others are series. Blanks around names
/// and values do not count.
class CsvTable {
public:
  /// Throws Error (input) if no column counts the steps.
  CsvTable(const std::vector<std::string>& header, const ImportOptions& options);

  const std::vector<std::string>& series() const { return series_; } ///< the columns' names, some empty
  /// The step of a row. Throws Error (input) naming its line for one that is not a row of this table.
  std::int64_t step_of(const std::vector<std::string>& row, const data::CsvText& csv) const;
  /// The run of a row; empty in a table of one run.
  std::string run_of(const std::vector<std::string>& row) const;
  using Take = std::function<void(const std::string& series, double value)>;
  using Leave = std::function<void(const std::string& series, std::string_view text)>;
  /// Calls `take` with the value of each column that has one, and `leave` with what is not empty and no number.
  void values_of(
      const std::vector<std::string>& row, const Take& take,
      const Leave& leave = [](const std::string&, std::string_view) {}) const;
  /// What stays of a row when the table gets more columns: the names and values of those that are not empty.
  std::string identity_of(const std::vector<std::string>& row) const;

private:
  std::vector<std::string> header_;
  std::vector<std::string> series_;
  std::size_t step_column_ = 0;
  std::optional<std::size_t> run_column_;
};

} // namespace batchscope::exchange::detail
