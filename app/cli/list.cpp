#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/describe.h"
#include "core/store/list_filter.h"
#include "core/store/run_fields.h"
#include "core/store/run_store.h"

namespace batchscope::cli {

namespace {

struct ListOptions {
  CLI::Option* where = nullptr;
  CLI::Option* deleted = nullptr;
};

Json row_json(const store::RunRow& row) {
  Json json;
  for (const store::RunField& field : store::run_fields())
    json[field.name] = field.json(row);
  if (row.outcome.reason.empty())
    json.erase("reason");
  json["epoch"] = five_decimals(row.outcome.epoch);
  json["train_coverage"] = five_decimals(row.outcome.train_coverage);
  json["uid"] = row.uid;
  return json;
}

std::vector<store::RunRow> chosen(const store::RunReader& reader, const std::string& where, bool deleted) {
  if (!deleted)
    return reader.list(where);
  auto runs = reader.deleted();
  std::erase_if(runs, std::not_fn(store::parse_list_filter(where)));
  return runs;
}

int run_list(const ListOptions& options, const Context& context) {
  const std::string where = text_of(options.where).value_or("");
  const auto runs = chosen(store::RunReader(context.database()), where, options.deleted->count() > 0);
  if (!context.json) {
    print(runs_table(runs, Palette::for_stdout()));
    return exit_status::done;
  }
  Json json{{"runs", Json::array()}};
  for (const auto& run : runs)
    json["runs"].push_back(row_json(run));
  print_json(json);
  return exit_status::done;
}

} // namespace

Verb add_list(CLI::App& program) {
  auto* app = program.add_subcommand("list", "List stored runs");
  auto options = std::make_shared<ListOptions>();
  options->where =
      add_value(*app, "--where", "FILTER", "Only runs that match, such as 'batch >= 64 and status = finished'");
  app->footer(fmt::format("Fields of a filter: {}\nShort names: {}\nValues may have a unit: 'accuracy > 97% and peak < "
                          "90MB and time < 2min'",
                          fmt::join(store::list_filter_fields(), ", "), store::list_filter_short_names()));
  options->deleted = add_switch(*app, "--deleted", "List the deleted runs instead");
  return {app, [options](const Context& context) { return run_list(*options, context); }};
}

} // namespace batchscope::cli
