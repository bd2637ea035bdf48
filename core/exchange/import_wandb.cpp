#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/exchange/detail/imported_run.h"
#include "core/exchange/detail/number_text.h"
#include "core/exchange/detail/protobuf.h"
#include "core/exchange/detail/wandb_log.h"
#include "core/exchange/detail/wandb_records.h"
#include "core/exchange/detail/yaml.h"
#include "core/exchange/import.h"
#include "core/store/run_store.h"

// The folders that W&B writes beside a program: `wandb/run-DATE-ID` and, without a network,
// `wandb/offline-run-DATE-ID`. `run-ID.wandb` in them has everything (wandb/proto/wandb_internal.proto), `files` what
// W&B's server would show.
namespace batchscope::exchange {

namespace {

namespace fs = std::filesystem;
using detail::Fields;
using detail::Wire;

/// The log in a run's folder; empty if there is none.
fs::path log_in(const fs::path& folder) {
  std::error_code ignored;
  std::vector<fs::path> logs;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".wandb" && entry.is_regular_file(ignored))
      logs.push_back(entry.path());
  return logs.empty() ? fs::path() : *std::min_element(logs.begin(), logs.end());
}

bool is_wandb_run(const fs::path& folder) {
  std::error_code ignored;
  if (!log_in(folder).empty())
    return true;
  const std::string name = folder.filename().string();
  return (name.starts_with("run-") || name.starts_with("offline-run-")) &&
         (fs::exists(folder / "files" / "wandb-summary.json", ignored) ||
          fs::exists(folder / "files" / "config.yaml", ignored));
}

/// `DATE-ID` of a folder `run-DATE-ID` or `offline-run-DATE-ID`, another name as it is.
std::string dated_id(const fs::path& folder) {
  std::string name = folder.filename().string();
  for (const std::string_view beginning : {"offline-", "run-"})
    if (name.starts_with(beginning))
      name.erase(0, beginning.size());
  return name;
}

std::string id_of(const fs::path& folder) {
  const fs::path log = log_in(folder);
  if (!log.empty())
    return log.stem().string().substr(log.stem().string().starts_with("run-") ? 4 : 0);
  const std::string name = dated_id(folder);
  return name.substr(name.find('-') + 1);
}

/// The folder itself, or those of runs in it, in the order of their dates. `latest-run` is a link to one of them.
std::vector<fs::path> wandb_folders(const fs::path& path) {
  std::error_code ignored;
  const fs::path folder = fs::weakly_canonical(fs::absolute(path), ignored);
  if (!fs::is_directory(folder, ignored))
    return folder.extension() == ".wandb" ? std::vector{folder.parent_path()} : std::vector<fs::path>{};
  if (is_wandb_run(folder))
    return {folder};
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (!entry.is_symlink(ignored) && entry.is_directory(ignored) && is_wandb_run(entry.path()))
      folders.push_back(entry.path());
  std::erase_if(folders, [&](const fs::path& copy) { // of the link: copied with what it leads to
    return copy.filename() == "latest-run" && std::any_of(folders.begin(), folders.end(), [&](const fs::path& other) {
             return other != copy && id_of(other) == id_of(copy);
           });
  });
  std::sort(folders.begin(), folders.end(),
            [](const fs::path& a, const fs::path& b) { return dated_id(a) < dated_id(b); });
  return folders;
}

std::string project_in(std::string_view record) {
  Fields fields(record);
  while (const auto field = fields.next()) {
    Fields run(field->is(17, Wire::bytes) ? field->bytes : std::string_view());
    while (const auto member = run.next())
      if (member->is(3, Wire::bytes))
        return std::string(member->bytes);
  }
  return {};
}

/// The project of a run, which its log names in one of the first records.
std::string project_of(const fs::path& folder) {
  constexpr int most_records = 20;
  const fs::path file = log_in(folder);
  if (file.empty())
    return {};
  try {
    detail::WandbLog log(file);
    for (int i = 0; i < most_records; ++i)
      if (std::string project = project_in(log.next().value_or(std::string())); !project.empty())
        return project;
  } catch (const Error&) {
    return {}; // said when it is read
  }
  return {};
}

/// Runs that went on after an end have a folder for each part, with the same id.
std::vector<std::vector<fs::path>> parts_of_runs(const std::vector<fs::path>& folders) {
  std::vector<std::vector<fs::path>> runs;
  std::map<std::pair<std::string, std::string>, std::size_t> known;
  for (const fs::path& folder : folders) {
    const auto [found, added] = known.try_emplace({id_of(folder), project_of(folder)}, runs.size());
    if (added)
      runs.emplace_back();
    runs[found->second].push_back(folder);
  }
  return runs;
}

/// A JSON or YAML file of `files`; null where it is missing or damaged.
Json file_in(const fs::path& folder, const char* name, std::vector<std::string>& remarks) {
  const fs::path file = folder / "files" / name;
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored))
    return nullptr;
  try {
    const std::string text = detail::text_of(file);
    Json json = file.extension() == ".json" ? detail::read_python_json(text) : detail::parse_yaml(text);
    if (json.is_object())
      return json;
    if (!text.empty())
      remarks.push_back(fmt::format("{}: damaged; it was left out", file.string()));
  } catch (const Error& error) {
    remarks.push_back(error.what());
  }
  return nullptr;
}

void add_config(detail::ImportedRun& run, const Json& config_yaml, const detail::WandbFacts& facts) {
  const auto is_own = [](const std::string& key) { return key == "_wandb" || key == "wandb_version"; };
  if (config_yaml.is_object())
    for (const auto& [key, member] : config_yaml.items())
      if (!is_own(key) && member.is_object() && member.contains("value"))
        run.add_settings({{key, member["value"]}});
  for (const auto& [key, value] : facts.config)
    if (!is_own(key) && !key.starts_with("_wandb.") && !value.is_discarded())
      run.add_settings({{key, value}});
  const std::pair<const char*, const std::string&> more[] = {
      {"project", facts.project}, {"group", facts.group}, {"job_type", facts.job_type}, {"sweep", facts.sweep}};
  for (const auto& [key, text] : more)
    if (!text.empty())
      run.set_setting(key, text);
}

/// W&B's step at which a summary was written; nothing if it does not say it.
std::optional<std::int64_t> step_in(const Json& summary) {
  const auto found = summary.find("_step");
  const auto step = found == summary.end() ? std::nullopt : optional_number_from_json(*found);
  return step ? detail::whole_number(*step) : std::nullopt;
}

/// Numbers that the history has not, such as a score that the program computed at its end.
void add_summary(detail::ImportedRun& run, const Json& summary, const detail::StepMetrics& step_metrics,
                 const ImportOptions& options) {
  const std::int64_t last = run.last_step();
  const std::int64_t at = step_metrics.empty() ? std::max(last, step_in(summary).value_or(last)) : last;
  for (const auto& [key, value] : summary.items())
    if (const auto number = optional_number_from_json(value);
        number && !key.starts_with('_') && !step_metrics.is_one(key))
      if (const std::string series = detail::series_name(key, options); !run.has(series))
        run.add(series, at, *number);
}

Json environment_of(const Json& metadata) {
  Json environment = Json::object();
  const auto take = [&](const char* ours, const char* theirs) {
    if (const auto found = metadata.find(theirs); found != metadata.end() && found->is_primitive() && !found->is_null())
      environment[ours] = *found;
  };
  take("device", "gpu");
  take("gpus", "gpu_count");
  take("cpus", "cpu_count_logical");
  take("python", "python");
  take("os", "os");
  take("host", "host");
  take("script", "codePath");
  if (const auto git = metadata.find("git"); git != metadata.end() && git->is_object())
    if (const std::string commit = text_member(*git, "commit"); !commit.empty())
      environment["git_commit"] = commit;
  return environment;
}

void read_log(const fs::path& file, detail::WandbRecords& records, std::vector<std::string>& remarks) {
  try {
    detail::WandbLog log(file);
    while (const auto record = log.next())
      records.take(*record);
    if (log.damaged() > 0)
      remarks.push_back(detail::damage_remark(file, log.damaged(), log.first_damage()));
  } catch (const Error& error) {
    remarks.push_back(fmt::format("{}: {}; it was left out", file.string(), error.what()));
  }
}

void set_end(detail::ImportedRun& run, const detail::WandbFacts& facts, bool has_log) {
  using telemetry::RunStatus;
  if (facts.started)
    run.set_started(*facts.started);
  if (facts.started && facts.runtime)
    run.set_ended(*facts.started + *facts.runtime);
  if (facts.exit_code && *facts.exit_code != 0)
    run.set_status(RunStatus::failed, fmt::format("exit code {}, according to W&B", *facts.exit_code));
  else if (facts.exit_code)
    run.set_status(RunStatus::finished);
  else if (has_log)
    run.set_status(RunStatus::running);
}

void set_output(detail::ImportedRun& run, const fs::path& folder, const detail::WandbFacts& facts) {
  const fs::path file = folder / "files" / "output.log";
  std::error_code ignored;
  const bool exists = fs::is_regular_file(file, ignored);
  std::string tail = exists ? detail::last_lines(file, detail::WandbRecords::most_output) : std::string();
  if (tail.empty())
    tail = facts.output.substr(facts.output.size() - std::min(facts.output.size(), detail::WandbRecords::most_output));
  if (!tail.empty())
    run.set_output(tail, exists ? file : fs::path());
}

/// A run from its folders, those of its later parts last.
detail::ImportedRun read_parts(const std::vector<fs::path>& folders, const ImportOptions& options,
                               std::vector<std::string>& remarks) {
  // A part that goes on at an earlier step writes those after it again.
  detail::ImportedRun run("wandb", folders.front(), dated_id(folders.front()), store::CompleteRun::Update::replace);
  detail::WandbRecords records(run, options);
  bool has_log = false;
  for (const fs::path& folder : folders)
    if (const fs::path file = log_in(folder); !file.empty()) {
      read_log(file, records, remarks);
      has_log = true;
    }
  const detail::WandbFacts& facts = records.facts();
  const fs::path& last = folders.back();
  run.set_name(facts.name.empty() ? id_of(last) : facts.name);
  run.set_note(facts.note);
  for (const std::string& tag : facts.tags)
    run.add_tag(tag);
  add_config(run, file_in(last, "config.yaml", remarks), facts);
  Json summary = file_in(last, "wandb-summary.json", remarks);
  if (!summary.is_object())
    summary = Json(facts.summary);
  if (const auto step = step_in(summary); records.last_step() >= 0 && step > records.last_step())
    remarks.push_back(fmt::format("{}: the log ends at step {}; the run has reached step {}", last.string(),
                                  records.last_step(), *step));
  add_summary(run, summary, records.step_metrics(), options);
  if (const Json metadata = file_in(last, "wandb-metadata.json", remarks); metadata.is_object())
    run.set_environment(environment_of(metadata));
  set_end(run, facts, has_log);
  set_output(run, last, facts);
  return run;
}

class WandbImporter final : public Importer {
public:
  std::string name() const override { return "wandb"; }
  std::string title() const override { return "W&B's folder wandb, or one of its runs (run-…, offline-run-…)"; }

  bool accepts(const fs::path& path) const override { return !wandb_folders(path).empty(); }

  ImportedRuns read(const fs::path& path, const ImportOptions& options) const override {
    ImportedRuns read;
    for (const auto& folders : parts_of_runs(wandb_folders(path))) {
      detail::ImportedRun run = read_parts(folders, options, read.remarks);
      if (!run.empty())
        read.runs.push_back(run.finish(options));
    }
    return read;
  }
};

} // namespace

std::unique_ptr<Importer> wandb_importer();
/// Histories become series, configurations settings; the last that was printed is an event.
std::unique_ptr<Importer> wandb_importer() {
  return std::make_unique<WandbImporter>();
}

} // namespace batchscope::exchange
