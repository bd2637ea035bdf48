#include <memory>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/output.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/store/care/care.h"
#include "core/store/run_reader.h"

namespace batchscope::cli {

namespace {

struct CheckOptions {
  CLI::Option* accept = nullptr;
  CLI::Option* repair = nullptr;
};

/// A file that cannot even be opened is damaged, too, if it is there.
std::vector<std::string> damage_of(const std::filesystem::path& file) {
  try {
    return store::RunReader(file).check();
  } catch (const Error& error) {
    if (!std::filesystem::is_regular_file(file) || std::filesystem::is_empty(file))
      throw;
    return {error.what()};
  }
}

void print_repair(const std::filesystem::path& file, const store::RepairReport& report) {
  print(fmt::format("{}: repaired, {} {}; the damaged file is kept as {}\n", file.string(), format_count(report.runs),
                    report.runs == 1 ? "run" : "runs", report.backup.string()));
  print(report.lost.empty() ? "nothing was lost\n" : "lost:\n");
  for (const auto& line : report.lost)
    print("  " + line + '\n');
}

int run_repair(const Context& context) {
  const auto file = context.database();
  const auto damage = damage_of(file);
  Json json{{"database", file.string()}, {"sound", true}, {"damage", damage}};
  if (damage.empty()) {
    if (context.json)
      print_json(json);
    else
      print(fmt::format("{}: ok, nothing to repair\n", file.string()));
    return exit_status::done;
  }
  const auto report = store::repair(file);
  json["backup"] = report.backup.string();
  json["runs"] = report.runs;
  json["lost"] = report.lost;
  if (context.json)
    print_json(json);
  else
    print_repair(file, report);
  return exit_status::done;
}

int run_check(const CheckOptions& options, const Context& context) {
  exclude(options.accept, options.repair);
  if (options.repair->count() > 0)
    return run_repair(context);
  const auto file = context.database();
  if (options.accept->count() > 0)
    stored_runs(context).accept_missing();
  const auto damage = store::RunReader(file).check();
  if (context.json)
    print_json({{"database", file.string()}, {"sound", damage.empty()}, {"damage", damage}});
  else if (damage.empty())
    print(fmt::format("{}: ok\n", file.string()));
  for (const auto& line : damage)
    if (!context.json)
      print(line + '\n');
  return damage.empty() ? exit_status::done : exit_status::job_failed;
}

} // namespace

Verb add_check(CLI::App& program) {
  auto* app = program.add_subcommand("check", "Check the run database for damage and missing runs");
  auto options = std::make_shared<CheckOptions>();
  options->accept = add_switch(
      *app, "--accept", "Before checking, accept the current runs as complete (for example, after restoring a backup)");
  options->repair =
      add_switch(*app, "--repair",
                 "If it is damaged, keep a copy of the file, save everything that is intact into a new database "
                 "in its place, and list what is lost");
  return {app, [options](const Context& context) { return run_check(*options, context); }};
}

} // namespace batchscope::cli
