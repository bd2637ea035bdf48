#include <fmt/format.h>

#include "app/cli/context.h"
#include "app/cli/output.h"
#include "core/store/run_store.h"

namespace batchscope::cli {

namespace {

int run_check(const Context& context) {
  const auto file = context.database();
  const auto damage = store::RunReader(file).check();
  if (context.json)
    print_json({{"database", file.string()}, {"sound", damage.empty()}, {"damage", damage}});
  else if (damage.empty())
    print(fmt::format("{}: sound\n", file.string()));
  for (const auto& line : damage)
    if (!context.json)
      print(line + '\n');
  return damage.empty() ? exit_status::done : exit_status::job_failed;
}

} // namespace

Verb add_check(CLI::App& program) {
  auto* app = program.add_subcommand("check", "Check that the run database is sound");
  return {app, run_check};
}

} // namespace batchscope::cli
