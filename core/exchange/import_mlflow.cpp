#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>
#include <sstream>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/exchange/detail/imported_run.h"
#include "core/exchange/detail/sqlite_file.h"
#include "core/exchange/import.h"
#include "core/store/file/detail/migrations.h"
#include "core/store/file/detail/sql.h"
#include "core/store/run_store.h"

// MLflow's two tracking stores: a folder `mlruns/EXPERIMENT/RUN/{meta.yaml,params/,metrics/,tags/}` and an SQLite
// database with the tables runs, params, metrics, tags and experiments.
namespace batchscope::exchange {

namespace {

namespace fs = std::filesystem;
using telemetry::RunStatus;

constexpr double milliseconds = 1e-3;

/// A run as both stores describe it.
struct MlflowRun {
  std::string id;
  std::string name;
  std::string experiment;
  std::string status; ///< a name in the database, its number in a folder
  double started = 0; ///< seconds since 1970; 0: not known
  std::optional<double> ended;
};

detail::ImportedRun begin_run(const MlflowRun& theirs, const fs::path& store) {
  // Their id is unique, and MLflow overwrites no point.
  detail::ImportedRun run("mlflow", store, theirs.id, store::CompleteRun::Update::replace);
  run.set_name(theirs.name.empty() ? theirs.id : theirs.name);
  if (theirs.started > 0)
    run.set_started(theirs.started);
  if (theirs.ended)
    run.set_ended(*theirs.ended);
  if (!theirs.experiment.empty())
    run.set_setting("experiment", theirs.experiment);
  if (theirs.status == "FINISHED" || theirs.status == "3")
    run.set_status(RunStatus::finished);
  else if (theirs.status == "FAILED" || theirs.status == "4")
    run.set_status(RunStatus::failed, "failed, according to MLflow");
  else if (theirs.status == "KILLED" || theirs.status == "5")
    run.set_status(RunStatus::stopped);
  else
    run.set_status(RunStatus::running);
  return run;
}

/// Measurements of the machine, whose steps only count the samples.
bool is_of_machine(const std::string& key) {
  return key.starts_with("system/");
}

void add_metric(detail::ImportedRun& run, const std::string& key, const std::string& series, const MlflowRun& theirs,
                double time, std::int64_t step, double value) {
  if (is_of_machine(key))
    return run.sample(series, time, value);
  run.add(series, step, value);
  run.reached(step, time);
  if (detail::is_training_loss(series) && theirs.started > 0)
    run.add("seconds", step, std::max(0.0, time - theirs.started));
}

/// A run's tags, by key; those of MLflow itself begin with `mlflow.`.
using MlflowTags = std::map<std::string, std::string>;

std::string value_of(const MlflowTags& tags, const char* key) {
  const auto found = tags.find(key);
  return found == tags.end() ? std::string() : found->second;
}

constexpr const char* parent_key = "mlflow.parentRunId";

/// `key=value`, or the key alone of one that is only set. Texts that are too long to be read in a list become settings.
void add_tag(detail::ImportedRun& run, const std::string& key, const std::string& value) {
  constexpr std::size_t longest = 100;
  const bool set = value.empty() || value == "true" || value == "True";
  if (key.size() + value.size() > longest)
    run.set_setting("tags." + key, value);
  else
    run.add_tag(set ? key : key + "=" + value);
}

/// `parent`: the name of the run that this one is a part of; empty: none is known.
void add_tags(detail::ImportedRun& run, const MlflowTags& tags, const std::string& parent) {
  run.set_note(value_of(tags, "mlflow.note.content"));
  if (!parent.empty())
    run.set_setting("parent", parent);
  Json environment = Json::object();
  for (const auto& [ours, theirs] :
       {std::pair{"script", "mlflow.source.name"}, {"git_commit", "mlflow.source.git.commit"}})
    if (const std::string text = value_of(tags, theirs); !text.empty())
      environment[ours] = text;
  run.set_environment(environment);
  for (const auto& [key, value] : tags)
    if (!key.starts_with("mlflow."))
      add_tag(run, key, value);
}

// --- the folder ---

constexpr const char* meta_name = "meta.yaml";

/// The members of a `meta.yaml`, which are all on one line each.
std::map<std::string, std::string> members_of(const fs::path& meta) {
  std::map<std::string, std::string> members;
  std::istringstream lines(detail::text_of(meta));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos || line.starts_with(' '))
      continue;
    std::string value = one_line(line.substr(colon + 2));
    if (value.size() >= 2 && (value.front() == '\'' || value.front() == '"') && value.back() == value.front())
      value = value.substr(1, value.size() - 2);
    members[line.substr(0, colon)] = value == "null" ? "" : value;
  }
  return members;
}

bool is_run(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / meta_name, ignored) &&
         (fs::is_directory(folder / "metrics", ignored) || fs::is_directory(folder / "params", ignored));
}

/// The folder itself, or those of runs in an experiment's folder or in a store's. Names with a dot are what was
/// deleted.
std::vector<fs::path> run_folders(const fs::path& path, int depth = 2) {
  if (is_run(path))
    return {path};
  std::vector<fs::path> folders;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(path, ignored)) {
    if (depth == 0 || !entry.is_directory(ignored) || entry.path().filename().string().starts_with('.') ||
        !fs::exists(entry.path() / meta_name, ignored))
      continue;
    const auto below = run_folders(entry.path(), depth - 1);
    folders.insert(folders.end(), below.begin(), below.end());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

/// Calls `take` with the name and the path of each file; names may have folders in them: `train/loss`.
template <typename Take> void for_each_file(const fs::path& folder, const Take& take) {
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored))
    if (entry.is_regular_file(ignored))
      take(entry.path().lexically_relative(folder).generic_string(), entry.path());
}

/// Lines of a time in milliseconds, a value and a step. A last line without its end is still being written.
void read_metric(detail::ImportedRun& run, const MlflowRun& theirs, const std::string& key, const fs::path& file,
                 const ImportOptions& options) {
  const std::string series = detail::series_name(key, options);
  const std::string text = detail::text_of(file);
  std::size_t number = 0;
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    ++number;
    std::istringstream line(text.substr(begin, end - begin));
    std::string time, value, step;
    line >> time >> value >> step;
    const auto time_ms = detail::number_in(time);
    const auto parsed = detail::number_in(value);
    const auto at = step.empty() ? std::optional(0.0) : detail::number_in(step);
    if (!time_ms || !parsed || !at || std::abs(*at) > 9e15)
      throw input_error(fmt::format("{}, line {}: is not a time, a value and a step", file.string(), number));
    add_metric(run, key, series, theirs, *time_ms * milliseconds, static_cast<std::int64_t>(*at), *parsed);
  }
}

std::optional<store::CompleteRun> run_of_folder(const fs::path& folder, const ImportOptions& options) {
  const fs::path absolute = fs::absolute(folder).lexically_normal();
  auto meta = members_of(absolute / meta_name);
  if (meta["lifecycle_stage"] == "deleted")
    return std::nullopt;
  const auto seconds = [&](const char* name) {
    const auto value = detail::number_in(meta[name]);
    return value ? std::optional(*value * milliseconds) : std::nullopt;
  };
  const fs::path experiment = absolute.parent_path() / meta_name;
  std::error_code ignored;
  const MlflowRun theirs{.id = meta["run_id"].empty() ? absolute.filename().string() : meta["run_id"],
                         .name = meta["run_name"],
                         .experiment = fs::exists(experiment, ignored) ? members_of(experiment)["name"] : "",
                         .status = meta["status"],
                         .started = seconds("start_time").value_or(0),
                         .ended = seconds("end_time")};
  detail::ImportedRun run = begin_run(theirs, absolute.parent_path().parent_path());
  for_each_file(absolute / "params", [&](const std::string& key, const fs::path& file) {
    run.set_setting(key, detail::value_of_text(one_line(detail::text_of(file))));
  });
  for_each_file(absolute / "metrics",
                [&](const std::string& key, const fs::path& file) { read_metric(run, theirs, key, file, options); });
  MlflowTags tags;
  for_each_file(absolute / "tags",
                [&](const std::string& key, const fs::path& file) { tags[key] = detail::text_of(file); });
  const std::string parent = one_line(value_of(tags, parent_key));
  const fs::path meta_of_parent = absolute.parent_path() / fs::path(parent).filename() / meta_name;
  const bool known = !parent.empty() && fs::exists(meta_of_parent, ignored);
  const std::string name_of_parent = known ? members_of(meta_of_parent)["run_name"] : "";
  add_tags(run, tags, name_of_parent.empty() ? parent : name_of_parent);
  return run.finish(options);
}

ImportedRuns read_folder(const fs::path& path, const ImportOptions& options) {
  ImportedRuns read;
  for (const fs::path& folder : run_folders(path))
    if (auto run = run_of_folder(folder, options))
      read.runs.push_back(*std::move(run));
  return read;
}

// --- the database ---

/// MLflow stores no infinities but the largest numbers.
double metric_value(SQLite::Statement& row) {
  if (row.getColumn(4).getInt() != 0)
    return std::numeric_limits<double>::quiet_NaN();
  const double value = row.getColumn(1).getDouble();
  const bool largest = std::abs(value) == std::numeric_limits<double>::max();
  return largest ? std::copysign(std::numeric_limits<double>::infinity(), value) : value;
}

MlflowTags tags_in(SQLite::Database& database, const std::string& id) {
  MlflowTags tags;
  if (!database.tableExists("tags"))
    return tags;
  SQLite::Statement query(database, "SELECT key, coalesce(value, '') FROM tags WHERE run_uuid = ?");
  query.bind(1, id);
  while (query.executeStep())
    tags[query.getColumn(0)] = query.getColumn(1).getString();
  return tags;
}

std::string name_in(SQLite::Database& database, const std::string& id) {
  SQLite::Statement query(database, "SELECT coalesce(name, '') FROM runs WHERE run_uuid = ?");
  query.bind(1, id);
  return query.executeStep() ? query.getColumn(0).getString() : std::string();
}

store::CompleteRun run_of_database(SQLite::Database& database, const MlflowRun& theirs, const fs::path& path,
                                   const ImportOptions& options) {
  detail::ImportedRun run = begin_run(theirs, path);
  SQLite::Statement params(database, "SELECT key, value FROM params WHERE run_uuid = ? ORDER BY key");
  params.bind(1, theirs.id);
  while (params.executeStep())
    run.set_setting(params.getColumn(0), detail::value_of_text(params.getColumn(1)));
  SQLite::Statement metrics(database, "SELECT key, value, timestamp, step, is_nan FROM metrics WHERE run_uuid = ? "
                                      "ORDER BY step, timestamp, rowid");
  metrics.bind(1, theirs.id);
  std::map<std::string, std::string> names;
  while (metrics.executeStep()) {
    const std::string key = metrics.getColumn(0);
    auto name = names.find(key);
    if (name == names.end())
      name = names.emplace(key, detail::series_name(key, options)).first;
    add_metric(run, key, name->second, theirs, metrics.getColumn(2).getDouble() * milliseconds,
               metrics.getColumn(3).getInt64(), metric_value(metrics));
  }
  const MlflowTags tags = tags_in(database, theirs.id);
  const std::string parent = value_of(tags, parent_key);
  const std::string name_of_parent = parent.empty() ? parent : name_in(database, parent);
  add_tags(run, tags, name_of_parent.empty() ? parent : name_of_parent);
  return run.finish(options);
}

ImportedRuns read_database(SQLite::Database& database, const fs::path& path, const ImportOptions& options) {
  if (database.execAndGet("PRAGMA application_id").getInt() == store::detail::application_id)
    throw input_error("a run database of this program, which is opened and not imported");
  if (!database.tableExists("runs") || !database.tableExists("metrics"))
    throw input_error("an SQLite database without MLflow's tables; accepted: mlflow.db, a database of trackio");
  SQLite::Statement query(
      database,
      "SELECT runs.run_uuid, coalesce(nullif(runs.name, ''), tags.value, ''), coalesce(experiments.name, ''), "
      "status, coalesce(start_time, 0), end_time FROM runs "
      "LEFT JOIN experiments ON experiments.experiment_id = runs.experiment_id "
      "LEFT JOIN tags ON tags.run_uuid = runs.run_uuid AND tags.key = 'mlflow.runName' "
      "WHERE coalesce(runs.lifecycle_stage, 'active') = 'active' ORDER BY start_time, runs.run_uuid");
  ImportedRuns read;
  while (query.executeStep()) {
    MlflowRun theirs{.id = query.getColumn(0),
                     .name = query.getColumn(1),
                     .experiment = query.getColumn(2),
                     .status = query.getColumn(3),
                     .started = query.getColumn(4).getDouble() * milliseconds,
                     .ended = std::nullopt};
    if (const auto ended = store::detail::optional_real(query.getColumn(5)))
      theirs.ended = *ended * milliseconds;
    read.runs.push_back(run_of_database(database, theirs, path, options));
  }
  return read;
}

class MlflowImporter final : public Importer {
public:
  std::string name() const override { return "mlflow"; }
  std::string title() const override { return "MLflow's folder mlruns (or one in it), or mlflow.db"; }

  bool accepts(const fs::path& path) const override {
    std::error_code ignored;
    return fs::is_directory(path, ignored) ? !run_folders(path).empty() : detail::is_sqlite(path);
  }

  ImportedRuns read(const fs::path& path, const ImportOptions& options) const override {
    std::error_code ignored;
    if (fs::is_directory(path, ignored))
      return read_folder(path, options);
    return detail::read_sqlite(path, "MLflow",
                               [&](SQLite::Database& database) { return read_database(database, path, options); });
  }
};

} // namespace

std::unique_ptr<Importer> mlflow_importer();
/// Parameters become settings, metrics series.
std::unique_ptr<Importer> mlflow_importer() {
  return std::make_unique<MlflowImporter>();
}

} // namespace batchscope::exchange
