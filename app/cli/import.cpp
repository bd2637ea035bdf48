#include "core/exchange/import.h"

#include <memory>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/output.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace batchscope::cli {

namespace {

struct ImportVerb {
  CLI::Option* files = nullptr;
  CLI::Option* map = nullptr;
};

exchange::ImportOptions options_of(const ImportVerb& verb) {
  exchange::ImportOptions options;
  for (const std::string& text : verb.map->results()) {
    const std::size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      throw input_error(
          fmt::format("--map: {} is not accepted; accepted: COLUMN=SERIES, such as val/f1=f1", in_quotes(text)));
    options.names[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return options;
}

int run_import(const ImportVerb& verb, const Context& context) {
  require(verb.files, "give one or more files or folders");
  const auto options = options_of(verb);
  // All of them are read before anything is stored.
  exchange::ImportedRuns read;
  for (const std::string& file : verb.files->results())
    read.add(exchange::read_runs_of(file, options));
  refuse_unusable(context.database());
  exchange::ImportResult result;
  {
    store::RunStore store(context.database());
    result = exchange::store_runs(read, store);
  }
  if (context.json)
    print_json({{"imported", result.imported}, {"known", result.known}});
  else
    print(fmt::format("{} imported, {} there before\n", result.imported.size(), result.known.size()));
  return exit_status::done;
}

} // namespace

Verb add_import(CLI::App& program) {
  auto* app = program.add_subcommand("import", "Add runs that were made elsewhere");
  auto verb = std::make_shared<ImportVerb>();
  std::string help = "Files or folders:";
  for (const auto& importer : exchange::importers())
    help += "\n  " + importer->title();
  verb->files = add_argument(*app, "FILE", "Files or folders", true);
  verb->map = add_repeatable(*app, "--map", "COLUMN=SERIES",
                             "Name of a series for a column or tag; step is the column that counts steps. Repeatable");
  app->footer(help + "\nA run that is there already is left as it is.");
  return {app, [verb](const Context& context) { return run_import(*verb, context); }};
}

} // namespace batchscope::cli
