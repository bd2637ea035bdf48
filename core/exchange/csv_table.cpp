#include "core/exchange/detail/csv_table.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/exchange/detail/imported_run.h"

namespace batchscope::exchange::detail {

namespace fs = std::filesystem;

namespace {

/// A column that the options name goes before one that has the name.
std::size_t column_of_steps(const std::vector<std::string>& header, const std::vector<std::string>& series,
                            const ImportOptions& options) {
  auto found = std::find_if(header.begin(), header.end(), [&](const std::string& column) {
    const auto given = options.names.find(column);
    return given != options.names.end() && given->second == "step";
  });
  if (found == header.end())
    found = header.begin() + (std::find(series.begin(), series.end(), "step") - series.begin());
  if (found == header.end())
    throw input_error(fmt::format("no column counts the steps; accepted: a column named step, or one that becomes it "
                                  "(--map COLUMN=step) of {}",
                                  fmt::join(header, ", ")));
  return static_cast<std::size_t>(found - header.begin());
}

} // namespace

std::vector<fs::path> tables_of(const fs::path& path) {
  constexpr const char* table = "metrics.csv";
  std::error_code ignored;
  if (!fs::is_directory(path, ignored))
    return path.extension() == ".csv" ? std::vector{path} : std::vector<fs::path>{};
  if (fs::exists(path / table, ignored))
    return {path / table};
  std::vector<fs::path> tables;
  for (const auto& entry : fs::directory_iterator(path, ignored))
    if (fs::exists(entry.path() / table, ignored))
      tables.push_back(entry.path() / table);
  std::sort(tables.begin(), tables.end());
  return tables;
}

std::string_view whole_rows(std::string_view text) {
  const std::size_t end = text.rfind('\n');
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end + 1);
}

CsvTable::CsvTable(const std::vector<std::string>& header, const ImportOptions& options) {
  for (const std::string& column : header) {
    header_.emplace_back(trimmed(column));
    series_.push_back(series_name(header_.back(), options));
  }
  step_column_ = column_of_steps(header_, series_, options);
  if (const auto run = std::find(series_.begin(), series_.end(), "run"); run != series_.end())
    run_column_ = static_cast<std::size_t>(run - series_.begin());
}

std::int64_t CsvTable::step_of(const std::vector<std::string>& row, const data::CsvText& csv) const {
  if (row.size() != header_.size())
    csv.refuse(fmt::format("{} values; the header has {} columns", row.size(), header_.size()));
  const auto step = number_in(trimmed(row[step_column_]));
  if (!step || *step != std::trunc(*step) || std::abs(*step) > 9e15)
    csv.refuse("the step is not a whole number");
  return static_cast<std::int64_t>(*step);
}

std::string CsvTable::run_of(const std::vector<std::string>& row) const {
  return run_column_ ? std::string(trimmed(row[*run_column_])) : std::string();
}

void CsvTable::values_of(const std::vector<std::string>& row, const Take& take, const Leave& leave) const {
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::string_view text = trimmed(row[i]);
    if (text.empty() || series_[i] == "step" || series_[i] == "run")
      continue;
    if (const auto value = number_in(text))
      take(series_[i], *value);
    else
      leave(series_[i], text);
  }
}

std::string CsvTable::identity_of(const std::vector<std::string>& row) const {
  std::set<std::string> values;
  for (std::size_t i = 0; i < row.size(); ++i)
    if (!row[i].empty())
      values.insert(header_[i] + "=" + row[i]);
  return fmt::format("{}", fmt::join(values, ","));
}

} // namespace batchscope::exchange::detail
