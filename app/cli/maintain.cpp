// Verbs for whole databases: backup, merge, prune.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/output.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/checkpoint/folder.h"
#include "core/store/care/care.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"

namespace batchscope::cli {

namespace {

namespace fs = std::filesystem;

std::string series_text(std::int64_t count) {
  return format_count(count) + " series";
}

struct BackupOptions {
  CLI::Option* file = nullptr;
  CLI::Option* force = nullptr;
};

int run_backup(const BackupOptions& options, const Context& context) {
  require(options.file, "the file to write");
  const fs::path file = *text_of(options.file);
  store::back_up(context.database(), file, options.force->count() > 0);
  const auto bytes = fs::file_size(file);
  const std::size_t runs = store::RunReader(file).list().size();
  if (context.json)
    print_json(
        {{"database", context.database().string()}, {"backup", file.string()}, {"runs", runs}, {"bytes", bytes}});
  else
    print(fmt::format("{} written to {} ({})\n", runs_text(runs), file.string(), format_bytes(bytes)));
  return exit_status::done;
}

struct MergeVerb {
  CLI::Option* into = nullptr;
  CLI::Option* from = nullptr;
};

Json numbers_json(const std::vector<std::pair<std::int64_t, std::int64_t>>& runs) {
  Json json = Json::array();
  for (const auto& [before, now] : runs)
    json.push_back({{"before", before}, {"run", now}});
  return json;
}

int run_merge(const MergeVerb& verb, const Context& context) {
  require(verb.into, "the database to write to, then the one to read");
  require(verb.from, "the database to read");
  if (context.db)
    throw input_error("--db: not used by merge; give both databases: merge A.db B.db");
  const fs::path into = *text_of(verb.into);
  const fs::path from = *text_of(verb.from);
  const store::MergeReport report = store::merge(into, from);
  if (context.json) {
    print_json({{"database", into.string()},
                {"merged", from.string()},
                {"added", numbers_json(report.added)},
                {"completed", numbers_json(report.completed)},
                {"known", report.known}});
    return exit_status::done;
  }
  print(fmt::format("{} added to {}, {} completed, {} already there\n", runs_text(report.added.size()), into.string(),
                    report.completed.size(), report.known));
  const bool renumbered = std::any_of(report.added.begin(), report.added.end(),
                                      [](const auto& numbers) { return numbers.first != numbers.second; });
  for (const auto& [before, now] : report.added)
    if (renumbered)
      print(fmt::format("run {} is run {}\n", before, now));
  return exit_status::done;
}

struct PruneOptions {
  CLI::Option* runs = nullptr;
  CLI::Option* where = nullptr;
  CLI::Option* keep = nullptr;
  CLI::Option* yes = nullptr;
};

std::vector<std::int64_t> runs_to_prune(const PruneOptions& options, const store::RunReader& reader) {
  if (options.where->count() == 0) {
    auto runs = integers_of(options.runs);
    for (const std::int64_t run : runs)
      if (telemetry::is_open(reader.run(run).outcome.status)) // throws if it does not exist
        throw input_error(fmt::format("run {} is running; stop it, or wait until it ends", run));
    return runs;
  }
  std::vector<std::int64_t> runs;
  for (const store::RunRow& row : reader.list(*text_of(options.where)))
    runs.push_back(row.id);
  return runs;
}

/// Checkpoints of runs that were purged; those of deleted runs stay, because they can be restored.
checkpoint::Orphans orphaned_checkpoints(const fs::path& file, const store::RunReader& reader) {
  std::set<std::string> runs;
  for (const auto& rows : {reader.list(), reader.deleted()})
    for (const store::RunRow& row : rows)
      runs.insert(row.uid);
  return checkpoint::orphans(file, runs);
}

std::string checkpoints_text(const checkpoint::Orphans& orphans) {
  return fmt::format(
      "{} of {} that {} gone, {}", orphans.files == 1 ? "1 checkpoint" : format_count(orphans.files) + " checkpoints",
      runs_text(orphans.folders.size()), orphans.folders.size() == 1 ? "is" : "are", format_bytes(orphans.bytes));
}

void print_orphans(const checkpoint::Orphans& orphans) {
  if (orphans.folders.empty())
    return;
  print(fmt::format("would remove {}:\n", checkpoints_text(orphans)));
  for (const fs::path& folder : orphans.folders)
    print("  " + folder.string() + '\n');
}

void print_prunable(const store::RunReader::Prunable& prunable, std::uint64_t free_bytes, std::size_t deleted) {
  if (prunable.series > 0)
    print(fmt::format("would remove {} of {}, about {}; results and events stay\n", series_text(prunable.series),
                      runs_text(prunable.runs.size()), format_bytes(prunable.bytes)));
  print(fmt::format("{}{} of the file are unused and would be freed\n", prunable.series > 0 ? "in addition, " : "",
                    format_bytes(free_bytes)));
  if (deleted > 0)
    print(fmt::format("{} deleted and still in the file; purge --yes removes {}\n",
                      deleted == 1 ? std::string("1 run is") : fmt::format("{} runs are", deleted),
                      deleted == 1 ? "it" : "them"));
  print("to do it, add --yes; this cannot be undone\n");
}

int run_prune(const PruneOptions& options, const Context& context) {
  exclude(options.runs, options.where);
  const bool names_runs = options.runs->count() > 0 || options.where->count() > 0;
  if (options.keep->count() > 0 && !names_runs)
    throw input_error("--keep: no runs are named; accepted: numbers of runs, or --where");
  const auto file = context.database();
  const auto keep = list_of(options.keep);
  store::RunReader::Prunable prunable;
  std::uint64_t free_bytes = 0;
  std::size_t deleted = 0;
  checkpoint::Orphans orphans;
  {
    const store::RunReader reader(file);
    orphans = orphaned_checkpoints(file, reader);
    prunable = reader.prunable(runs_to_prune(options, reader), keep);
    free_bytes = reader.free_bytes();
    deleted = reader.deleted().size();
  }
  const auto before = fs::file_size(file);
  const bool removes = options.yes->count() > 0;
  if (removes) {
    store::RunStore store = stored_runs(context);
    store.prune(prunable.runs, keep);
    store.shrink();
    checkpoint::remove(orphans);
  }
  const auto after = fs::file_size(file);
  if (context.json)
    print_json({{"runs", prunable.runs},
                {"series", prunable.series},
                {"series_bytes", prunable.bytes},
                {"free_bytes", free_bytes},
                {"checkpoints", orphans.files},
                {"checkpoint_bytes", orphans.bytes},
                {"removed", removes},
                {"bytes_before", before},
                {"bytes", after}});
  else if (removes)
    print(fmt::format("removed {} of {}; the file had {} and has {}\n", series_text(prunable.series),
                      runs_text(prunable.runs.size()), format_bytes(before), format_bytes(after)) +
          (orphans.folders.empty() ? std::string() : fmt::format("removed {}\n", checkpoints_text(orphans))));
  else {
    print_orphans(orphans);
    print_prunable(prunable, free_bytes, deleted);
  }
  return exit_status::done;
}

} // namespace

Verb add_backup(CLI::App& program) {
  auto* app = program.add_subcommand("backup", "Write a copy of the run database, also while runs go on");
  auto options = std::make_shared<BackupOptions>();
  options->file = add_argument(*app, "FILE", "File to write");
  options->force = add_switch(*app, "--force", "Overwrite the file");
  return {app, [options](const Context& context) { return run_backup(*options, context); }};
}

Verb add_merge(CLI::App& program) {
  auto* app = program.add_subcommand("merge", "Write the runs of one run database into another");
  auto verb = std::make_shared<MergeVerb>();
  verb->into = add_argument(*app, "A", "Database that gets the runs");
  verb->from = add_argument(*app, "B", "Database whose runs are added; it is not changed");
  app->footer(
      "A run that is there already stays as it is, or is completed if B has more of it. Sweeps keep their runs.");
  return {app, [verb](const Context& context) { return run_merge(*verb, context); }};
}

Verb add_prune(CLI::App& program) {
  auto* app = program.add_subcommand("prune", "Remove series of runs and checkpoints of runs that are gone, and shrink "
                                              "the file");
  auto options = std::make_shared<PruneOptions>();
  options->runs = add_argument(*app, "RUN", "Numbers of runs whose series are removed", true);
  options->where = add_value(*app, "--where", "FILTER", "Remove the series of all ended runs that match, as in list");
  options->keep = add_value(*app, "--keep", "SERIES,...", "Series to keep, such as loss,batch");
  options->yes = add_switch(*app, "--yes", "Remove them; without this, only print what would be removed");
  app->footer(
      "Without runs, only unused space is returned, and checkpoints of purged runs are removed. Settings, results "
      "and events of the runs stay.");
  return {app, [options](const Context& context) { return run_prune(*options, context); }};
}

} // namespace batchscope::cli
