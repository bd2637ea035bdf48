#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/data/csv_text.h"
#include "core/data/input_file.h"
#include "core/exchange/detail/imported_run.h"
#include "core/exchange/import.h"
#include "core/filter/values.h"

namespace batchscope::exchange {

namespace {

/// Nothing for an empty cell or a text.
std::optional<double> number_in_cell(const std::string& cell) {
  return filter::value_of(telemetry::ValueKind::number, cell);
}

/// Lightning's names for what ours calls otherwise.
std::string series_of_column(const std::string& column, const ImportOptions& options) {
  if (const auto given = options.names.find(column); given != options.names.end())
    return given->second;
  static const std::map<std::string, std::string> usual = {{"train_loss", "loss"},
                                                           {"train_loss_step", "loss"},
                                                           {"val_loss", "validation_loss"},
                                                           {"valid_loss", "validation_loss"},
                                                           {"val_acc", "validation_accuracy"},
                                                           {"val_accuracy", "validation_accuracy"}};
  const auto found = usual.find(column);
  return found == usual.end() ? column : found->second;
}

class CsvImporter final : public Importer {
public:
  std::string name() const override { return "csv"; }
  std::string title() const override { return "CSV with a column of steps, such as Lightning's metrics.csv"; }

  bool accepts(const std::filesystem::path& path) const override { return path.extension() == ".csv"; }

  ImportedRuns read(const std::filesystem::path& path, const ImportOptions& options) const override {
    const std::string text = data::read_text_file(path.string());
    data::CsvText csv(text, path.string());
    std::vector<std::string> header;
    if (!csv.next(header))
      throw input_error("empty; accepted: a line of column names, then a row per step");
    std::vector<std::string> series;
    for (const std::string& column : header)
      series.push_back(series_of_column(column, options));
    const auto step_column = std::find(series.begin(), series.end(), "step");
    if (step_column == series.end())
      throw input_error(fmt::format("no column counts the steps; accepted: a column named step, or --map COLUMN=step "
                                    "with one of {}",
                                    fmt::join(header, ", ")));
    const auto run_column = std::find(series.begin(), series.end(), "run");
    // A row of each run that the file has; files without such a column have one.
    std::map<std::string, detail::ImportedRun> runs;
    std::vector<std::string> row;
    while (csv.next(row)) {
      if (row.size() != header.size())
        csv.refuse(fmt::format("{} values; the header has {} columns", row.size(), header.size()));
      const auto step = number_in_cell(row[static_cast<std::size_t>(step_column - series.begin())]);
      if (!step || *step != std::trunc(*step) || std::abs(*step) > 9e15)
        csv.refuse("the step is not a whole number");
      const std::string key =
          run_column == series.end() ? "" : row[static_cast<std::size_t>(run_column - series.begin())];
      auto run = runs.find(key);
      if (run == runs.end()) {
        run = runs.emplace(key, detail::ImportedRun(name(), path, identity(path, header, row))).first;
        run->second.set_name(name_of(path) + (key.empty() ? "" : " " + key));
      }
      for (std::size_t i = 0; i < row.size(); ++i)
        if (const auto value = number_in_cell(row[i]); value && series[i] != "step" && series[i] != "run")
          run->second.add(series[i], static_cast<std::int64_t>(*step), *value);
    }
    ImportedRuns read;
    for (auto& [key, run] : runs)
      if (!run.empty())
        read.runs.push_back(run.finish());
    if (read.runs.empty())
      throw input_error("no column has numbers");
    return read;
  }

private:
  /// The same for a file that has grown since: its name, its header and its first row.
  static std::string identity(const std::filesystem::path& path, const std::vector<std::string>& header,
                              const std::vector<std::string>& row) {
    return fmt::format("{}\n{}\n{}", name_of(path), fmt::join(header, ","), fmt::join(row, ","));
  }
  /// Lightning writes `version_0/metrics.csv`: the folder tells runs apart.
  static std::string name_of(const std::filesystem::path& path) {
    const auto folder = std::filesystem::absolute(path).parent_path().filename().string();
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
