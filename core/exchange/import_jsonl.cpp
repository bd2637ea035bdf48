#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/exchange/detail/csv_table.h"
#include "core/exchange/detail/imported_run.h"
#include "core/exchange/import.h"
#include "core/store/run_store.h"

namespace batchscope::exchange {

namespace {

namespace fs = std::filesystem;

using Numbers = std::vector<std::pair<std::string, double>>; ///< names and values

/// The numbers of an object; those of objects in it as `outer/inner`.
void add_numbers(const Json& object, const std::string& prefix, Numbers& numbers) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object())
      add_numbers(value, prefix + key + '/', numbers);
    else if (const auto number = optional_number_from_json(value); number && !value.is_boolean())
      numbers.emplace_back(prefix + key, *number);
  }
}

/// The lines of a file that are objects.
struct Rows {
  std::vector<Numbers> rows;
  std::vector<std::string> columns; ///< names of all numbers, in the order in which they come
  std::int64_t damaged = 0, first_damaged = 0;
};

Rows rows_of(std::string_view text) {
  Rows read;
  std::set<std::string> known;
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty())
      continue;
    const Json row = detail::read_python_json(line);
    if (!row.is_object()) {
      read.first_damaged = read.damaged++ == 0 ? number : read.first_damaged;
      continue;
    }
    add_numbers(row, {}, read.rows.emplace_back());
    for (const auto& [name, value] : read.rows.back())
      if (known.insert(name).second)
        read.columns.push_back(name);
  }
  return read;
}

std::vector<std::string> series_of(const std::vector<std::string>& columns, const ImportOptions& options) {
  std::vector<std::string> series;
  series.reserve(columns.size());
  for (const std::string& column : columns)
    series.push_back(detail::series_name(column, options));
  return series;
}

class JsonlImporter final : public Importer {
public:
  std::string name() const override { return "jsonl"; }
  std::string title() const override { return "JSON lines (.jsonl, .ndjson), an object with its step in each"; }

  bool accepts(const fs::path& path) const override {
    return path.extension() == ".jsonl" || path.extension() == ".ndjson";
  }

  std::vector<ImportColumn> columns(const fs::path& path) const override {
    const std::string text = detail::text_of(path);
    const std::vector<std::string> names = rows_of(detail::without_mark(text)).columns, series = series_of(names, {});
    std::vector<ImportColumn> columns;
    for (std::size_t i = 0; i < names.size(); ++i)
      columns.push_back({names[i], series[i]});
    if (const auto step = detail::step_column_in(series))
      columns[*step].series = "step";
    return columns;
  }

  ImportedRuns read(const fs::path& path, const ImportOptions& options) const override {
    const std::string bytes = detail::text_of(path);
    const std::string_view text = detail::without_mark(bytes);
    const Rows rows = rows_of(options.partial ? detail::whole_rows(text) : text);
    if (rows.rows.empty() && rows.damaged > 0)
      throw input_error(fmt::format("line {}: no JSON object; accepted: one in each line", rows.first_damaged));
    ImportedRuns read;
    if (rows.columns.empty())
      return read;
    detail::ImportedRun run(name(), path, path.stem().string(), store::CompleteRun::Update::extend);
    run.set_name(path.stem().string());
    const auto series = series_of(rows.columns, options);
    const std::string& step = rows.columns[detail::column_of_steps(rows.columns, series, options)];
    std::int64_t without_step = 0;
    for (const Numbers& row : rows.rows)
      without_step += add_row(run, row, step, options) ? 0 : 1;
    if (rows.damaged > 0)
      read.remarks.push_back(fmt::format("{}: lines without a JSON object were left out: {}, the first is line {}",
                                         path.string(), rows.damaged, rows.first_damaged));
    if (without_step > 0)
      read.remarks.push_back(fmt::format("{}: lines whose {} is missing or no step were left out: {}", path.string(),
                                         in_quotes(step), without_step));
    if (!run.empty())
      read.runs.push_back(run.finish(options));
    return read;
  }

private:
  /// False for a row without a step.
  static bool add_row(detail::ImportedRun& run, const Numbers& row, const std::string& step,
                      const ImportOptions& options) {
    const auto counted = std::find_if(row.begin(), row.end(), [&step](const auto& each) { return each.first == step; });
    constexpr double most = 9e15; // integers are exact up to here
    if (counted == row.end() || !(counted->second >= 0 && counted->second <= most))
      return false;
    for (const auto& [name, value] : row)
      if (name != step)
        run.add(detail::series_name(name, options), static_cast<std::int64_t>(counted->second), value);
    return true;
  }
};

} // namespace

std::unique_ptr<Importer> jsonl_importer();
std::unique_ptr<Importer> jsonl_importer() {
  return std::make_unique<JsonlImporter>();
}

} // namespace batchscope::exchange
