#include <fmt/format.h>

#include "app/cli/context.h"
#include "app/cli/output.h"
#include "core/store/run_store.h"

namespace batchscope::cli {

namespace {

int run_check(const Context& context, bool accept) {
  const auto file = context.database();
  if (accept) {
    store::RunReader{file}; // makes no database where there is none
    store::RunStore(file).accept_missing();
  }
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
  auto accept = std::make_shared<bool>(false);
  app->add_flag("--accept", *accept,
                "Before checking, accept the current runs as complete (for example, after restoring a backup)");
  return {app, [accept](const Context& context) { return run_check(context, *accept); }};
}

} // namespace batchscope::cli
