#include <map>
#include <set>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/csv_text.h"
#include "core/exchange/detail/csv_table.h"
#include "core/exchange/detail/imported_run.h"
#include "core/exchange/import.h"
#include "core/store/run_store.h"

namespace batchscope::exchange {

namespace {

namespace fs = std::filesystem;

/// Cells that are no numbers, in columns that have numbers otherwise.
class LeftOut {
public:
  void has_numbers(const std::string& series) { columns_[series].numbers = true; }

  void add(const std::string& series, std::int64_t line, std::string_view text) {
    Column& column = columns_[series];
    if (++column.others == 1)
      column.first = fmt::format("line {}, {}", line, in_quotes(text));
  }

  void tell(const fs::path& path, std::vector<std::string>& remarks) const {
    for (const auto& [series, column] : columns_)
      if (column.numbers && column.others > 0 && !series.empty())
        remarks.push_back(fmt::format("{}: values of {} that are no numbers were left out: {}, the first in {}",
                                      path.string(), series, column.others, column.first));
  }

private:
  struct Column {
    bool numbers = false;
    std::int64_t others = 0;
    std::string first;
  };
  std::map<std::string, Column> columns_; ///< by their series
};

class CsvImporter final : public Importer {
public:
  std::string name() const override { return "csv"; }
  std::string title() const override { return "CSV with a column of steps or epochs, such as Lightning's metrics.csv"; }

  bool accepts(const fs::path& path) const override { return !detail::tables_of(path).empty(); }

  ImportedRuns read(const fs::path& path, const ImportOptions& options) const override {
    ImportedRuns read;
    for (const fs::path& table : detail::tables_of(path))
      read_table(table, options, read);
    return read;
  }

  std::unique_ptr<SeriesFollower> follow(const fs::path& path) const override { return detail::follow_tables(path); }

  std::vector<ImportColumn> columns(const fs::path& path) const override {
    std::vector<ImportColumn> columns;
    std::set<std::string> known;
    for (const fs::path& table : detail::tables_of(path)) {
      const std::string line = first_line(table);
      std::vector<std::string> header;
      data::CsvText(line, table.string(), 1, detail::separator_of(line)).next(header);
      for (const std::string& field : header)
        if (const std::string column(trimmed(field)); known.insert(column).second)
          columns.push_back({column, detail::series_name(column, {})});
      if (const auto step = detail::step_column_in(header))
        for (ImportColumn& column : columns)
          if (column.name == trimmed(header[*step]))
            column.series = "step";
    }
    return columns;
  }

private:
  static std::string first_line(const fs::path& path) {
    constexpr std::size_t longest = 1 << 20;
    const std::string bytes = detail::first_bytes(path, longest);
    const std::string_view start = detail::without_mark(bytes);
    return std::string(start.substr(0, start.find('\n')));
  }

  void read_table(const fs::path& path, const ImportOptions& options, ImportedRuns& read) const {
    const std::string bytes = detail::text_of(path);
    const std::string_view text = detail::without_mark(bytes);
    detail::CsvRows rows(options, detail::separator_of(text));
    data::CsvText csv(options.partial ? detail::whole_rows(text) : text, path.string(), 1, rows.separator());
    // A row of each run that the file has; files without such a column have one.
    std::map<std::string, detail::ImportedRun> runs;
    LeftOut left_out;
    while (rows.next(csv)) {
      const std::string key = rows.table().run_of(rows.row());
      auto run = runs.find(key);
      if (run == runs.end()) {
        // The same for a file that has grown since, in rows and columns.
        const std::string identity = fmt::format("{}\n{}", name_of(path), rows.table().identity_of(rows.row()));
        run = runs.emplace(key, detail::ImportedRun(name(), path, identity, store::CompleteRun::Update::extend)).first;
        run->second.set_name(name_of(path) + (key.empty() ? "" : " " + key));
      }
      rows.table().values_of(
          rows.row(),
          [&](const std::string& series, double value) {
            run->second.add(series, rows.step(), value);
            left_out.has_numbers(series);
          },
          [&](const std::string& series, std::string_view other) { left_out.add(series, csv.line(), other); });
    }
    if (!rows.has_columns() && !options.partial)
      throw input_error("empty; accepted: a line of column names, then a row per step");
    if (rows.damaged() > 0 && runs.empty())
      throw input_error(rows.first_damage());
    if (rows.damaged() > 0)
      read.remarks.push_back(
          fmt::format("{}; damaged lines that were left out: {}", rows.first_damage(), rows.damaged()));
    left_out.tell(path, read.remarks);
    for (auto& [key, run] : runs)
      if (!run.empty())
        read.runs.push_back(run.finish(options));
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
