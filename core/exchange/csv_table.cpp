#include "core/exchange/detail/csv_table.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/exchange/detail/imported_run.h"
#include "core/exchange/detail/number_text.h"

namespace batchscope::exchange::detail {

namespace fs = std::filesystem;

std::size_t column_of_steps(const std::vector<std::string>& header, const std::vector<std::string>& series,
                            const ImportOptions& options) {
  auto found = std::find_if(header.begin(), header.end(), [&](const std::string& column) {
    const auto given = options.names.find(column);
    return given != options.names.end() && given->second == "step";
  });
  if (const auto step = step_column_in(series); found == header.end() && step)
    found = header.begin() + static_cast<std::ptrdiff_t>(*step);
  if (found == header.end()) // an epoch only if nothing counts steps
    found = header.begin() + (std::find(series.begin(), series.end(), "epoch") - series.begin());
  if (found == header.end())
    throw input_error(
        fmt::format("no column counts the steps; accepted: a column named step, iter or epoch, or one that "
                    "becomes it (--map COLUMN=step) of {}",
                    shortened(one_line(fmt::format("{}", fmt::join(header, ", "))))));
  return static_cast<std::size_t>(found - header.begin());
}

std::optional<std::size_t> step_column_in(const std::vector<std::string>& columns) {
  for (const char* name : {"step", "global_step", "iteration", "iter", "steps", "iterations"})
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (trimmed(columns[i]) == name)
        return i;
  return std::nullopt;
}

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

std::string_view without_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

std::string_view whole_rows(std::string_view text) {
  const std::size_t end = text.rfind('\n');
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end + 1);
}

char separator_of(std::string_view text) {
  std::map<char, int> counts;
  bool quoted = false;
  for (const char c : text.substr(0, text.find('\n')))
    if (c == '"')
      quoted = !quoted;
    else if (!quoted)
      ++counts[c];
  char most = ',';
  for (const char c : {';', '\t'})
    if (counts[c] > counts[most])
      most = c;
  return most;
}

CsvTable::CsvTable(const std::vector<std::string>& header, const ImportOptions& options, bool decimal_comma)
    : decimal_comma_(decimal_comma) {
  for (const std::string& column : header) {
    header_.emplace_back(trimmed(column));
    series_.push_back(series_name(header_.back(), options));
  }
  loss_ = name_of_loss(
      [&](const std::string& name) { return std::find(series_.begin(), series_.end(), name) != series_.end(); });
  step_column_ = column_of_steps(header_, series_, options);
  if (series_[step_column_] != "epoch") // which is a series, too
    series_[step_column_] = "step";
  if (const auto run = std::find(series_.begin(), series_.end(), "run"); run != series_.end())
    run_column_ = static_cast<std::size_t>(run - series_.begin());
}

std::optional<double> CsvTable::number(std::string_view text) const {
  if (const auto value = number_in(text); value || !decimal_comma_)
    return value;
  if (std::count(text.begin(), text.end(), ',') != 1 || text.find('.') != std::string_view::npos)
    return std::nullopt;
  std::string with_point(text);
  std::replace(with_point.begin(), with_point.end(), ',', '.');
  return number_in(with_point);
}

std::optional<std::int64_t> CsvTable::step_of(const std::vector<std::string>& row) const {
  const auto step = step_column_ < row.size() ? number(trimmed(row[step_column_])) : std::nullopt;
  return step ? whole_number(*step) : std::nullopt;
}

std::string CsvTable::run_of(const std::vector<std::string>& row) const {
  return run_column_ && *run_column_ < row.size() ? std::string(trimmed(row[*run_column_])) : std::string();
}

void CsvTable::values_of(const std::vector<std::string>& row, const Take& take, const Leave& leave) const {
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::string_view text = trimmed(row[i]);
    if (text.empty() || series_[i] == "step" || series_[i] == "run")
      continue;
    if (const auto value = number(text))
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

void CsvRows::set_header(const std::vector<std::string>& header) {
  table_.emplace(header, options_, separator_ != ',');
  widest_ = 0;
}

bool CsvRows::is_header() const {
  if (!table_)
    return true;
  if (std::equal(row_.begin(), row_.end(), table_->header().begin(), table_->header().end(),
                 [](const std::string& name, const std::string& known) { return trimmed(name) == known; }))
    return true;
  const auto is_name = [](const std::string& cell) { return !trimmed(cell).empty() && !number_in(trimmed(cell)); };
  if (!std::all_of(row_.begin(), row_.end(), is_name))
    return false;
  try {
    const CsvTable columns(row_, options_, false);
    return true;
  } catch (const Error&) {
    return false; // no column counts the steps
  }
}

std::string CsvRows::problem() {
  const std::size_t columns = table_->header().size();
  // In a table that was written anew with another column, rows before it may have one value less.
  if (row_.size() > columns || row_.size() < std::min(widest_, columns))
    return fmt::format("{} values; the header has {} columns", row_.size(), columns);
  const auto step = table_->step_of(row_);
  if (!step)
    return "the step is not a whole number";
  widest_ = row_.size();
  step_ = *step;
  return {};
}

bool CsvRows::next(data::CsvText& csv) {
  const auto leave_out = [this](const std::string& why) {
    if (++damaged_ == 1)
      first_damage_ = why;
  };
  for (;;) {
    try {
      if (!csv.next(row_))
        return false;
    } catch (const Error& error) {
      if (!table_)
        throw;
      leave_out(error.what());
      csv.skip_line();
      continue;
    }
    if (is_header()) {
      set_header(row_);
      continue;
    }
    const std::string why = problem();
    if (why.empty())
      return true;
    leave_out(csv.refusal(why));
  }
}

} // namespace batchscope::exchange::detail
