#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/describe.h"
#include "core/base/text.h"
#include "core/store/list_filter.h"
#include "core/store/run_fields.h"
#include "core/store/run_reader.h"

namespace batchscope::cli {

namespace {

struct ListOptions {
  CLI::Option* where = nullptr;
  CLI::Option* columns = nullptr;
  CLI::Option* deleted = nullptr;
};

Json row_json(const store::RunRow& row) {
  Json json;
  for (const store::RunField& field : store::run_fields())
    json[field.name] = field.json(row);
  if (row.outcome.reason.empty())
    json.erase("reason");
  round_passes(json);
  json["uid"] = row.uid;
  return json;
}

std::string cell(const store::RunField& field, const store::RunRow& row) {
  using telemetry::ValueKind;
  if (field.texts)
    return fmt::format("{}", fmt::join(field.texts(row), ", "));
  if (const auto text = field.text ? field.text(row) : std::nullopt)
    return *text;
  const auto number = field.number ? field.number(row) : std::nullopt;
  if (!number)
    return "-";
  switch (field.kind) {
  case ValueKind::count:
    return format_count(static_cast<std::int64_t>(*number));
  case ValueKind::bytes:
    return format_bytes(static_cast<std::uint64_t>(*number));
  case ValueKind::fraction:
    return percent(*number);
  case ValueKind::seconds:
    return format_duration(*number);
  default:
    return figure(*number, 7);
  }
}

/// The number of each run and the chosen columns.
void print_columns(const store::RunList& list) {
  std::vector<Table::Column> columns{{"run"}};
  for (const store::RunField& field : list.columns)
    columns.push_back({field.name, field.number && !field.text ? Table::Align::right : Table::Align::left});
  Table table(columns);
  for (const store::RunRow& row : list.rows) {
    std::vector<std::string> cells{std::to_string(row.id)};
    for (const store::RunField& field : list.columns)
      cells.push_back(cell(field, row));
    table.add(std::move(cells));
  }
  print(table.text(Palette::for_stdout()));
}

Json columns_json(const store::RunList& list, const store::RunRow& row) {
  Json json{{"id", row.id}};
  for (const store::RunField& field : list.columns)
    json[field.name] = field.json(row);
  return json;
}

int run_list(const ListOptions& options, const Context& context) {
  const std::string where = text_of(options.where).value_or("");
  const auto list =
      store::RunReader(context.database()).table(where, list_of(options.columns), options.deleted->count() > 0);
  if (!context.json) {
    if (list.columns.empty())
      print(runs_table(list.rows, Palette::for_stdout()));
    else
      print_columns(list);
    return exit_status::done;
  }
  Json json{{"runs", Json::array()}};
  for (const auto& run : list.rows)
    json["runs"].push_back(list.columns.empty() ? row_json(run) : columns_json(list, run));
  print_json(json);
  return exit_status::done;
}

} // namespace

Verb add_list(CLI::App& program) {
  auto* app = program.add_subcommand("list", "List stored runs");
  auto options = std::make_shared<ListOptions>();
  options->where =
      add_value(*app, "--where", "FILTER", "Only runs that match, such as 'batch >= 64 and status = finished'");
  options->columns = add_value(*app, "--columns", "NAME,...", "Columns to list, such as lr,optimizer,loss.min");
  app->footer(fmt::format(
      "Fields and columns: {}\nShort names: {}\nAlso every setting of the runs (clip, or "
      "setting.batch where a field has that name; set.NAME of --set; program.NAME of what a program's Trainer or "
      "optimizer is), and SERIES.last, SERIES.min and "
      "SERIES.max of every series, such as grad_norm.max\nValues may have a unit: 'accuracy > 97% and peak < "
      "90MB and time < 2min'",
      fmt::join(store::list_filter_fields(), ", "), store::list_filter_short_names()));
  options->deleted = add_switch(*app, "--deleted", "List the deleted runs instead");
  return {app, [options](const Context& context) { return run_list(*options, context); }};
}

} // namespace batchscope::cli
