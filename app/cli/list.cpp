#include <memory>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/describe.h"
#include "core/store/run_store.h"

namespace batchscope::cli {

namespace {

Json row_json(const store::RunRow& row) {
  Json json{{"id", row.id}, {"name", row.name}, {"note", row.note}};
  Json summary = summary_json(row.outcome);
  json["status"] = summary["status"];
  json["started"] = row.started;
  json["sweep"] = row.sweep ? Json(*row.sweep) : Json(nullptr);
  const auto flat = [](const std::optional<double>& value) { return value ? json_number(*value) : Json(nullptr); };
  summary.erase("validation");
  json.update(summary);
  json["validation_loss"] = flat(row.outcome.validation_loss);
  json["validation_accuracy"] = flat(row.outcome.validation_accuracy);
  json["uid"] = row.uid;
  return json;
}

int run_list(const std::string& where, const Context& context) {
  const auto runs = store::RunReader(context.database()).list(where);
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
  auto* app = program.add_subcommand("list", "List the stored runs");
  auto* where = add_value(*app, "--where", "FILTER", "Only runs such as 'batch >= 64 and status = finished'");
  return {app, [where](const Context& context) { return run_list(text_of(where).value_or(""), context); }};
}

} // namespace batchscope::cli
