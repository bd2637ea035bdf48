#include <cmath>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/describe.h"
#include "app/cli/run_document.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/program/run/program_source.h"
#include "core/run/made_with.h"
#include "core/run/spec_fields.h"
#include "core/store/run_reader.h"
#include "core/telemetry/record.h"

namespace batchscope::cli {

namespace {

struct ShowOptions {
  CLI::Option* run = nullptr;
  CLI::Option* series = nullptr;
  CLI::Option* search = nullptr;
};

/// Settings that a program has declared: `learning_rate=5e-05, optimizer=adamw_torch`.
std::string told_text(const run::ProgramStart& program) {
  std::vector<std::string> told;
  if (const Json settings = parse_json_or_discard(program.settings); settings.is_object())
    for (const auto& [name, value] : settings.items())
      told.push_back(fmt::format("{}={}", name, value.is_string() ? value.get<std::string>() : json_text(value)));
  return fmt::format("{}", fmt::join(told, ", "));
}

/// Settings of a run: for a training program of the user's own its command, with the values that its placeholders had;
/// for one of the built-in networks the options that differ from the defaults.
std::string settings_text(const store::RunRow& row, const run::RunSpec& spec, const run::RunStart& start,
                          const std::string& database) {
  if (!spec.program)
    return facts({{"settings", run::to_command_line(spec)}});
  const run::ProgramSpec& program = *spec.program;
  std::vector<std::pair<std::string, std::string>> rows{
      {"command", command_shown(spec, start, row.id, program::out_of_program(database, row.uid))}};
  if (!program.folder.empty())
    rows.emplace_back("folder", program.folder);
  std::vector<std::string> set;
  for (const auto& [name, text] : program.set)
    set.push_back(fmt::format("{}={}", name, text));
  if (!set.empty())
    rows.emplace_back("set", fmt::format("{}", fmt::join(set, ", ")));
  rows.emplace_back("schedule", spec.schedule);
  if (const std::string told = start.program ? told_text(*start.program) : std::string(); !told.empty())
    rows.emplace_back("its settings", told);
  if (spec.memory_budget)
    rows.emplace_back("memory budget", format_bytes(*spec.memory_budget));
  return facts(rows);
}

void show_text(const store::RunReader& reader, const store::RunRow& row, const std::string& database) {
  const Palette palette = Palette::for_stdout();
  print(palette.paint(Colour::accent, fmt::format("run {}{}{}, started {}", row.id, row.name.empty() ? "" : ": ",
                                                  row.name, row.started)) +
        '\n');
  if (!row.note.empty())
    print(row.note + '\n');
  if (!row.tags.empty())
    print(fmt::format("tags: {}\n", fmt::join(row.tags, ", ")));
  const run::RunStart start = run::stored_start(reader.start_json(row.id));
  if (const auto spec = run::stored_spec(reader.spec_json(row.id)))
    print('\n' + settings_text(row, *spec, start, database));
  print('\n' + summary_text(row.outcome, start.batch_reason));
  if (const auto environment = run::made_with(reader.environment_json(row.id), start); !environment.empty())
    print("made with " + environment + '\n');
  const auto events = reader.events(row.id);
  if (!events.empty())
    print("\n");
  for (const auto& event : events)
    print(event_line(event, palette) + '\n');
}

using Series = std::vector<std::pair<std::string, std::vector<store::Point>>>;

bool is_unknown(const std::string& series, double value) {
  return std::isnan(value) && telemetry::nan_is_unknown(series);
}

/// Written point by point: a series may have millions.
void series_json(const Series& series) {
  print("{\"series\": {");
  const char* separator = "\n";
  for (const auto& [name, points] : series) {
    print(fmt::format("{}{}: [", separator, json_text(Json(name))));
    separator = ",\n";
    const char* gap = "";
    for (const auto& [step, value] : points) {
      print(fmt::format("{}[{}, {}]", gap, step, is_unknown(name, value) ? "null" : json_text(json_number(value))));
      gap = ", ";
    }
    print("]");
  }
  print("\n}}\n");
}

void series_text(const Series& series) {
  std::vector<Table::Column> columns{{"step"}};
  std::map<std::int64_t, std::vector<std::string>> rows;
  for (const auto& [name, points] : series) {
    columns.push_back({name});
    for (const auto& [step, value] : points) {
      auto& row = rows[step];
      row.resize(series.size() + 1);
      row[columns.size() - 1] = is_unknown(name, value) ? "-" : figure(value, 7);
    }
  }
  Table table(columns);
  for (auto& [step, row] : rows) {
    row[0] = format_count(step);
    table.add(row);
  }
  print(table.text(Palette::for_stdout()));
}

void show_series(const store::RunReader& reader, std::int64_t run, const CLI::Option* names, const Context& context) {
  Series series;
  // Read all series from one snapshot: during a run, series read later would have more steps.
  reader.at_one_moment([&] {
    for (const auto& name : list_of(names))
      series.emplace_back(name, reader.series(run, name));
  });
  context.json ? series_json(series) : series_text(series);
}

void show_search(const store::RunReader& reader, std::int64_t id, const Context& context) {
  Json json = parse_json_or_discard(reader.search_json(id));
  if (json.is_object())
    json["search"] = id;
  if (context.json)
    print_json(json);
  else
    print(search_text(json, Palette::for_stdout()));
}

void show_document(const store::RunReader& reader, const store::RunRow& row) {
  Json document;
  reader.at_one_moment([&] { document = run_document(reader, reader.run(row.id)); });
  print_json(document);
}

int run_show(const ShowOptions& options, const Context& context) {
  exclude(options.run, options.search);
  if (options.search->count() == 0)
    require(options.run, "the number of a run, or --search ID");
  const auto search = integer_of(options.search);
  const auto run = integer_of(options.run);
  const store::RunReader reader(context.database());
  if (search) {
    exclude(options.search, options.series);
    show_search(reader, *search, context);
    return exit_status::done;
  }
  const store::RunRow row = reader.run(*run);
  if (options.series->count() > 0)
    show_series(reader, row.id, options.series, context);
  else if (context.json)
    show_document(reader, row);
  else
    show_text(reader, row, context.database());
  return exit_status::done;
}

} // namespace

Verb add_show(CLI::App& program) {
  auto* app = program.add_subcommand("show", "Show the summary and events of a stored run");
  auto options = std::make_shared<ShowOptions>();
  options->run = add_argument(*app, "RUN", "Number of the run");
  options->series = add_value(*app, "--series", "NAME,...", "Show series by step: loss,batch,peak_bytes,...");
  options->search = add_value(*app, "--search", "ID", "Show a stored search instead");
  return {app, [options](const Context& context) { return run_show(*options, context); }};
}

} // namespace batchscope::cli
