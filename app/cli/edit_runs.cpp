#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/output.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/store/run_reader.h"

namespace batchscope::cli {

namespace {

constexpr const char* one_run = "the number of a run";
constexpr const char* some_runs = "the numbers of one or more runs";

struct TextOptions {
  CLI::Option* run = nullptr;
  CLI::Option* text = nullptr;
};

std::vector<std::int64_t> sorted_runs(const CLI::Option* option) {
  require(option, some_runs);
  auto runs = integers_of(option);
  std::sort(runs.begin(), runs.end());
  return runs;
}

int run_rename(const TextOptions& options, const Context& context) {
  require(options.run, one_run);
  require(options.text, "a name; an empty one removes it");
  const std::int64_t run = *integer_of(options.run);
  const std::string name = one_line(*text_of(options.text));
  stored_runs(context).rename(run, name);
  if (context.json)
    print_json({{"run", run}, {"name", name}});
  else
    print(name.empty() ? fmt::format("removed the name of run {}\n", run)
                       : fmt::format("renamed run {} to {}\n", run, name));
  return exit_status::done;
}

int run_note(const TextOptions& options, const Context& context) {
  require(options.run, one_run);
  require(options.text, "a note; an empty one removes it");
  const std::int64_t run = *integer_of(options.run);
  const std::string note = one_line(*text_of(options.text));
  stored_runs(context).set_note(run, note);
  if (context.json)
    print_json({{"run", run}, {"note", note}});
  else
    print(fmt::format("{} the note of run {}\n", note.empty() ? "removed" : "saved", run));
  return exit_status::done;
}

struct TagOptions {
  CLI::Option* items = nullptr;
  CLI::Option* remove = nullptr;
};

/// The numbers of runs come first, then tags.
int run_tag(const TagOptions& options, const Context& context) {
  require(options.items, "the numbers of one or more runs, then one or more tags");
  std::vector<std::int64_t> runs;
  std::vector<std::string> tags;
  for (const std::string& item : options.items->results()) {
    const std::string tag = one_line(item);
    if (store::is_tag(tag))
      tags.push_back(tag);
    else if (tags.empty())
      runs.push_back(parse_integer(tag, "RUN", 1, std::numeric_limits<std::int64_t>::max()));
    else
      throw input_error(fmt::format("TAG: {} is not accepted; accepted: a text that is not a number; the numbers of "
                                    "the runs come first",
                                    in_quotes(item)));
  }
  if (runs.empty() || tags.empty())
    throw input_error(fmt::format("{} is missing; accepted: the numbers of one or more runs, then one or more tags",
                                  runs.empty() ? "RUN" : "TAG"));
  const bool removes = options.remove->count() > 0;
  if (removes)
    stored_runs(context).remove_tags(runs, tags);
  else
    stored_runs(context).add_tags(runs, tags);
  if (context.json)
    print_json({{"runs", runs}, {removes ? "removed" : "added", tags}});
  else
    print(fmt::format("{} {} {} {}\n", removes ? "removed" : "added", fmt::join(tags, ", "), removes ? "from" : "to",
                      runs_text(runs.size())));
  return exit_status::done;
}

int run_delete(const CLI::Option* option, const Context& context) {
  const auto runs = sorted_runs(option);
  stored_runs(context).set_deleted(runs, true);
  if (context.json)
    print_json({{"deleted", runs}});
  else
    print(
        fmt::format("{} deleted; to undo: batchscope-cli restore {}\n", runs_text(runs.size()), fmt::join(runs, " ")));
  return exit_status::done;
}

int run_restore(const CLI::Option* option, const Context& context) {
  const auto runs = sorted_runs(option);
  stored_runs(context).set_deleted(runs, false);
  if (context.json)
    print_json({{"restored", runs}});
  else
    print(fmt::format("{} restored\n", runs_text(runs.size())));
  return exit_status::done;
}

int run_purge(const CLI::Option* yes, const Context& context) {
  const bool removes = yes->count() > 0;
  const std::size_t marked = removes ? 0 : store::RunReader(context.database()).deleted().size();
  const std::int64_t purged = removes ? stored_runs(context).purge_deleted() : 0;
  if (context.json)
    print_json({{"marked", marked}, {"purged", purged}});
  else if (removes)
    print(fmt::format("{} permanently removed\n", runs_text(static_cast<std::size_t>(purged))));
  else if (marked == 0)
    print("no deleted runs\n");
  else
    print(fmt::format("purge --yes would permanently remove {}; list --deleted shows them\n", runs_text(marked)));
  return exit_status::done;
}

} // namespace

Verb add_rename(CLI::App& program) {
  auto* app = program.add_subcommand("rename", "Rename a run");
  auto options = std::make_shared<TextOptions>();
  options->run = add_argument(*app, "RUN", "Number of the run");
  options->text = add_argument(*app, "NAME", "New name; an empty one removes it");
  return {app, [options](const Context& context) { return run_rename(*options, context); }};
}

Verb add_note(CLI::App& program) {
  auto* app = program.add_subcommand("note", "Set the note of a run");
  auto options = std::make_shared<TextOptions>();
  options->run = add_argument(*app, "RUN", "Number of the run");
  options->text = add_argument(*app, "TEXT", "New note, one line; an empty one removes it");
  return {app, [options](const Context& context) { return run_note(*options, context); }};
}

Verb add_tag(CLI::App& program) {
  auto* app = program.add_subcommand(
      "tag", "Add tags to runs, or remove them (if one of the runs does not exist, nothing is changed)");
  auto options = std::make_shared<TagOptions>();
  options->items =
      add_argument(*app, "RUN... TAG", "Numbers of the runs, then tags, such as 3 4 best \"to publish\"", true);
  options->remove = add_switch(*app, "--remove", "Remove the tags");
  app->footer("list --where 'tag = best' lists the runs with a tag.");
  return {app, [options](const Context& context) { return run_tag(*options, context); }};
}

Verb add_delete(CLI::App& program) {
  auto* app = program.add_subcommand("delete", "Delete runs (all of them or none); restore undoes it");
  auto* runs = add_argument(*app, "RUN", "Numbers of the runs", true);
  return {app, [runs](const Context& context) { return run_delete(runs, context); }};
}

Verb add_restore(CLI::App& program) {
  auto* app = program.add_subcommand("restore", "Restore deleted runs (all of them or none)");
  auto* runs = add_argument(*app, "RUN", "Numbers of the runs", true);
  return {app, [runs](const Context& context) { return run_restore(runs, context); }};
}

Verb add_purge(CLI::App& program) {
  auto* app = program.add_subcommand("purge", "Permanently remove the deleted runs; this cannot be undone");
  auto* yes = add_switch(*app, "--yes", "Remove them; without this, only print how many runs would be removed");
  return {app, [yes](const Context& context) { return run_purge(yes, context); }};
}

} // namespace batchscope::cli
