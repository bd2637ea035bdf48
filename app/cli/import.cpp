#include "core/exchange/import.h"

#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/display.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/exchange/followed_files.h"
#include "core/store/run_store.h"

namespace batchscope::cli {

namespace {

struct ImportVerb {
  CLI::Option* files = nullptr;
  CLI::Option* map = nullptr;
  CLI::Option* follow = nullptr;
};

exchange::ImportOptions options_of(const ImportVerb& verb) {
  exchange::ImportOptions options;
  for (const std::string& text : verb.map->results()) {
    const std::size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0)
      throw input_error(fmt::format(
          "--map: {} is not accepted; accepted: COLUMN=SERIES, such as val/f1=f1, or COLUMN= to leave it out",
          in_quotes(text)));
    options.names[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return options;
}

/// Numbers of runs, each once although it was stored again and again.
class Followed {
public:
  void add(const exchange::ImportResult& result) {
    for (const std::int64_t run : result.imported)
      imported_.insert(run);
    for (const std::int64_t run : result.known)
      if (!imported_.contains(run))
        known_.insert(run);
    for (const std::int64_t run : result.extended)
      if (known_.contains(run))
        extended_.insert(run);
  }
  exchange::ImportResult result() const {
    return {{imported_.begin(), imported_.end()}, {known_.begin(), known_.end()}, {extended_.begin(), extended_.end()}};
  }

private:
  std::set<std::int64_t> imported_, known_, extended_;
};

int print_result(const exchange::ImportResult& result, const std::vector<std::string>& remarks,
                 const Context& context) {
  if (context.json) {
    print_json(
        {{"imported", result.imported}, {"known", result.known}, {"extended", result.extended}, {"remarks", remarks}});
  } else {
    for (const std::string& remark : remarks)
      print(remark + "\n");
    std::string text = fmt::format("{} imported, {} already there", result.imported.size(), result.known.size());
    if (!result.extended.empty())
      text += fmt::format(" ({} of them extended)", result.extended.size());
    print(text + "\n");
  }
  return exit_status::done;
}

int follow(const std::vector<std::filesystem::path>& files, const exchange::ImportOptions& options,
           const Context& context) {
  exchange::FollowedFiles followed(files, options);
  run::JobControl interrupt; // of the following
  const InterruptGuard guard(interrupt);
  // Before the database is made: what cannot be read at all is refused.
  const exchange::ImportedRuns read = followed.read_changed();
  refuse_unusable(context.database());
  Followed runs;
  std::vector<std::string> remarks;
  {
    Display display(context);
    store::RunStore store(context.database());
    bool told_how_to_stop = false;
    const exchange::FollowedFiles::Reports reports{.stored =
                                                       [&](const exchange::ImportResult& result) {
                                                         for (const std::int64_t run : result.imported)
                                                           display.say(fmt::format("following run {}", run));
                                                         runs.add(result);
                                                         if (!std::exchange(told_how_to_stop, true))
                                                           display.say("Ctrl-C stops following; what was read is kept");
                                                       },
                                                   .remark =
                                                       [&](const std::string& remark) {
                                                         display.say(remark);
                                                         remarks.push_back(remark);
                                                       },
                                                   .problem =
                                                       [&](const std::string& problem) {
                                                         if (!problem.empty())
                                                           display.say(fmt::format("not read yet: {}", problem));
                                                       }};
    followed.follow(
        read, store, [&] { return interrupt.stopping(); }, reports);
  }
  return print_result(runs.result(), context.json ? remarks : std::vector<std::string>(), context);
}

int run_import(const ImportVerb& verb, const Context& context) {
  require(verb.files, "give one or more files or folders");
  const auto options = options_of(verb);
  const std::vector<std::string> names = verb.files->results();
  if (verb.follow->count() > 0)
    return follow({names.begin(), names.end()}, options, context);
  // All of them are read before anything is stored.
  exchange::ImportedRuns read;
  for (const std::string& file : names)
    read.add(exchange::read_runs_of(file, options));
  refuse_unusable(context.database());
  exchange::ImportResult result;
  {
    store::RunStore store(context.database());
    result = exchange::store_runs(read, store);
  }
  return print_result(result, read.remarks, context);
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
                             "Name of a series for a column, tag or metric; step is the column that counts steps; "
                             "COLUMN= leaves it out. Repeatable");
  verb->follow = add_switch(*app, "--follow",
                            "Keep reading while other programs write the files, until Ctrl-C: the runs grow, and "
                            "watch and the window show them as running");
  app->footer(
      help +
      "\nA run that is there already is left as it is, or extended if its file has grown. Damaged lines, records "
      "and files are left out with a remark.");
  return {app, [verb](const Context& context) { return run_import(*verb, context); }};
}

} // namespace batchscope::cli
