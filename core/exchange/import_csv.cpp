#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/data/csv_text.h"
#include "core/exchange/detail/imported_run.h"
#include "core/exchange/import.h"

namespace batchscope::exchange {

namespace {

namespace fs = std::filesystem;

/// The tables of a path: the file itself or, in a folder of Lightning's logs, `metrics.csv` of each version.
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

/// The text without a last row that is still being written.
std::string_view whole_rows(std::string_view text) {
  const std::size_t end = text.rfind('\n');
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end + 1);
}

class CsvImporter final : public Importer {
public:
  std::string name() const override { return "csv"; }
  std::string title() const override { return "CSV with a column of steps, such as Lightning's metrics.csv"; }

  bool accepts(const fs::path& path) const override { return !tables_of(path).empty(); }

  ImportedRuns read(const fs::path& path, const ImportOptions& options) const override {
    ImportedRuns read;
    for (const fs::path& table : tables_of(path))
      read_table(table, options, read);
    return read;
  }

  std::vector<ImportColumn> columns(const fs::path& path) const override {
    std::vector<ImportColumn> columns;
    std::set<std::string> known;
    for (const fs::path& table : tables_of(path)) {
      const std::string line = first_line(table);
      std::vector<std::string> header;
      data::CsvText(line, table.string()).next(header);
      for (const std::string& column : header)
        if (known.insert(column).second)
          columns.push_back({column, detail::series_name(column, {})});
    }
    return columns;
  }

private:
  static std::string first_line(const fs::path& path) {
    constexpr std::size_t longest = 1 << 20;
    const std::string start = detail::first_bytes(path, longest);
    return start.substr(0, start.find('\n'));
  }

  void read_table(const fs::path& path, const ImportOptions& options, ImportedRuns& read) const {
    const std::string text = detail::text_of(path);
    data::CsvText csv(options.partial ? whole_rows(text) : text, path.string());
    std::vector<std::string> header;
    if (!csv.next(header)) {
      if (options.partial)
        return;
      throw input_error("empty; accepted: a line of column names, then a row per step");
    }
    std::vector<std::string> series;
    for (const std::string& column : header)
      series.push_back(detail::series_name(column, options));
    const std::size_t step_column = column_of_steps(header, series, options);
    const auto run_column = std::find(series.begin(), series.end(), "run");
    // A row of each run that the file has; files without such a column have one.
    std::map<std::string, detail::ImportedRun> runs;
    std::vector<std::string> row;
    while (csv.next(row)) {
      if (row.size() != header.size())
        csv.refuse(fmt::format("{} values; the header has {} columns", row.size(), header.size()));
      const auto step = detail::number_in(row[step_column]);
      if (!step || *step != std::trunc(*step) || std::abs(*step) > 9e15)
        csv.refuse("the step is not a whole number");
      const std::string key =
          run_column == series.end() ? "" : row[static_cast<std::size_t>(run_column - series.begin())];
      auto run = runs.find(key);
      if (run == runs.end()) {
        run = runs.emplace(key, detail::ImportedRun(name(), path, identity(path, header, row),
                                                    store::CompleteRun::Update::extend))
                  .first;
        run->second.set_name(name_of(path) + (key.empty() ? "" : " " + key));
      }
      for (std::size_t i = 0; i < row.size(); ++i)
        if (const auto value = detail::number_in(row[i]); value && series[i] != "step" && series[i] != "run")
          run->second.add(series[i], static_cast<std::int64_t>(*step), *value);
    }
    for (auto& [key, run] : runs)
      if (!run.empty())
        read.runs.push_back(run.finish(options));
  }

  /// A column that the options name goes before one that has the name.
  static std::size_t column_of_steps(const std::vector<std::string>& header, const std::vector<std::string>& series,
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

  /// The same for a file that has grown since, in rows and columns: its name and the values of its first row.
  static std::string identity(const fs::path& path, const std::vector<std::string>& header,
                              const std::vector<std::string>& row) {
    std::set<std::string> values;
    for (std::size_t i = 0; i < row.size(); ++i)
      if (!row[i].empty())
        values.insert(header[i] + "=" + row[i]);
    return fmt::format("{}\n{}", name_of(path), fmt::join(values, ","));
  }
  /// Lightning writes `version_0/metrics.csv`: the folder tells runs apart.
  static std::string name_of(const fs::path& path) {
    const auto folder = fs::absolute(path).lexically_normal().parent_path().filename().string();
    return path.filename() == "metrics.csv" ? folder : path.stem().string();
  }
};

} // namespace

std::unique_ptr<Importer> csv_importer();
/// A row per step: all columns with numbers become series. `run` tells several runs apart, as in `export --format csv`.
std::unique_ptr<Importer> csv_importer() {
  return std::make_unique<CsvImporter>();
}

} // namespace batchscope::exchange
