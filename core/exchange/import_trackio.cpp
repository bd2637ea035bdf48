#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/base/utc.h"
#include "core/exchange/detail/imported_run.h"
#include "core/exchange/detail/sqlite_file.h"
#include "core/exchange/import.h"
#include "core/store/run_store.h"

// trackio's databases, one for each project, `~/.cache/huggingface/trackio/PROJECT.db`: tables metrics, system_metrics
// and configs, with an object of JSON in each row (trackio/sqlite_storage.py). A run is known by its id; in databases
// of earlier versions by its name, and in those of the first ones, which had all projects in one file, by its project,
// too.
namespace batchscope::exchange {

namespace {

namespace fs = std::filesystem;

bool is_trackio(SQLite::Database& database) {
  return detail::has_column(database, "metrics", "run_name") && detail::has_column(database, "metrics", "metrics");
}

bool is_trackio(const fs::path& path) {
  if (!detail::is_sqlite(path))
    return false;
  try {
    SQLite::Database database(path.string(), SQLite::OPEN_READONLY);
    return is_trackio(database);
  } catch (const SQLite::Exception&) {
    return false; // damaged or locked: said by the format that takes all databases
  }
}

/// The file itself, or those in trackio's folder.
std::vector<fs::path> trackio_files(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored))
    return is_trackio(path) ? std::vector{path} : std::vector<fs::path>{};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path, ignored))
    if (entry.path().extension() == ".db" && entry.is_regular_file(ignored) && is_trackio(entry.path()))
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// Seconds since 1970 of Python's isoformat(), with its fraction.
double time_of_text(const std::string& text) {
  const std::size_t dot = text.find('.');
  const std::size_t end = dot == std::string::npos ? dot : text.find_first_not_of("0123456789", dot + 1);
  const auto fraction = dot == std::string::npos ? std::nullopt : detail::number_in("0" + text.substr(dot, end - dot));
  return unix_seconds(text) + fraction.value_or(0);
}

/// A run of the database and where its time begins.
struct TrackioRun {
  detail::ImportedRun run;
  double started = 0;
};

class TrackioReader {
public:
  TrackioReader(SQLite::Database& database, const fs::path& path, const ImportOptions& options)
      : database_(database), path_(path), options_(options) {}

  ImportedRuns read() {
    read_metrics();
    if (detail::has_column(database_, "system_metrics", "metrics"))
      read_system_metrics();
    if (detail::has_column(database_, "configs", "config"))
      read_configs();
    ImportedRuns read;
    if (damaged_ > 0)
      read.remarks.push_back(
          fmt::format("{}: rows of metrics that are damaged were left out: {}", path_.string(), damaged_));
    for (const std::string& key : order_)
      if (TrackioRun& one = runs_.at(key); !one.run.empty())
        read.runs.push_back(one.run.finish(options_));
    return read;
  }

private:
  /// Expressions for the project and the run of a row.
  std::string identity(const std::string& table) const {
    const bool ids = detail::has_column(database_, table, "run_id");
    const bool projects = detail::has_column(database_, table, "project_name");
    return fmt::format("{}, {}", projects ? "project_name" : "''", ids ? "coalesce(run_id, run_name)" : "run_name");
  }

  /// The run of a row that begins with its identity; null if it has no metrics.
  TrackioRun* known(SQLite::Statement& row) {
    const auto found = runs_.find(key_of(row));
    return found == runs_.end() ? nullptr : &found->second;
  }

  static std::string key_of(SQLite::Statement& row) {
    return row.getColumn(0).getString() + "\n" + row.getColumn(1).getString();
  }

  TrackioRun& run_of(SQLite::Statement& row, const std::string& name, double time) {
    const std::string key = key_of(row);
    if (const auto found = runs_.find(key); found != runs_.end())
      return found->second;
    order_.push_back(key);
    const std::string project = row.getColumn(0).getString();
    const std::string own = project.empty() ? path_.stem().string() : project;
    detail::ImportedRun run("trackio", path_, own + key, store::CompleteRun::Update::replace);
    run.set_name(name);
    run.set_setting("project", own);
    if (time > 0)
      run.set_started(time);
    return runs_.emplace(key, TrackioRun{std::move(run), time}).first->second;
  }

  void read_metrics() {
    SQLite::Statement row(database_, fmt::format("SELECT {}, run_name, timestamp, step, metrics FROM metrics "
                                                 "ORDER BY id",
                                                 identity("metrics")));
    while (row.executeStep()) {
      const double time = time_of_text(row.getColumn(3).getString());
      TrackioRun& one = run_of(row, row.getColumn(2).getString(), time);
      const std::int64_t step = row.getColumn(4).getInt64();
      for_each_metric(row.getColumn(5).getString(), [&](const std::string& key, double value) {
        const std::string series = detail::series_name(key, options_);
        one.run.add(series, step, value);
        if (detail::is_training_loss(series) && time > 0)
          one.run.add("seconds", step, std::max(0.0, time - one.started));
      });
      one.run.reached(step, time);
    }
  }

  void read_system_metrics() {
    SQLite::Statement row(database_, fmt::format("SELECT {}, timestamp, metrics FROM system_metrics ORDER BY id",
                                                 identity("system_metrics")));
    while (row.executeStep())
      if (TrackioRun* one = known(row)) {
        const double time = time_of_text(row.getColumn(2).getString());
        for_each_metric(row.getColumn(3).getString(), [&](const std::string& key, double value) {
          one->run.sample(detail::series_name("system/" + key, options_), time, value);
        });
      }
  }

  void read_configs() {
    SQLite::Statement row(database_, fmt::format("SELECT {}, config FROM configs ORDER BY id", identity("configs")));
    while (row.executeStep())
      if (TrackioRun* one = known(row))
        set_config(one->run, detail::read_python_json(row.getColumn(2).getString()));
  }

  /// Keys that begin with `_` are trackio's own: user, time and group.
  static void set_config(detail::ImportedRun& run, Json config) {
    if (!config.is_object())
      return;
    if (const std::string group = text_member(config, "_Group"); !group.empty())
      run.set_setting("group", group);
    for (const auto& [key, value] : config.items())
      if (!key.starts_with('_'))
        run.add_settings({{key, value}});
  }

  /// The numbers of a row; media and tables are objects.
  template <typename Take> void for_each_metric(const std::string& text, const Take& take) {
    const Json metrics = detail::read_python_json(text);
    if (!metrics.is_object()) {
      ++damaged_;
      return;
    }
    for (const auto& [key, value] : metrics.items())
      if (const auto number = optional_number_from_json(value))
        take(key, *number);
  }

  SQLite::Database& database_;
  const fs::path& path_;
  const ImportOptions& options_;
  std::map<std::string, TrackioRun> runs_;
  std::vector<std::string> order_; ///< of their first rows
  std::int64_t damaged_ = 0;
};

class TrackioImporter final : public Importer {
public:
  std::string name() const override { return "trackio"; }
  std::string title() const override { return "a project's database of trackio, or the folder of them"; }

  bool accepts(const fs::path& path) const override { return !trackio_files(path).empty(); }

  ImportedRuns read(const fs::path& path, const ImportOptions& options) const override {
    ImportedRuns read;
    for (const fs::path& file : trackio_files(path))
      read.add(detail::read_sqlite(
          file, "trackio", [&](SQLite::Database& database) { return TrackioReader(database, file, options).read(); }));
    return read;
  }
};

} // namespace

std::unique_ptr<Importer> trackio_importer();
std::unique_ptr<Importer> trackio_importer() {
  return std::make_unique<TrackioImporter>();
}

} // namespace batchscope::exchange
