#include "core/compare/answer.h"

#include <memory>
#include <set>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/output.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/compare/cells.h"
#include "core/store/run_reader.h"
#include "core/sweep/sweep_spec.h"

namespace batchscope::cli {

namespace {

using compare::Column;
using compare::ComparedRun;

struct CompareOptions {
  CLI::Option* runs = nullptr;
  CLI::Option* sweep = nullptr;
  CLI::Option* baseline = nullptr;
  CLI::Option* goal = nullptr;
  CLI::Option* all_columns = nullptr;
  CLI::Option* markdown = nullptr;
};

std::vector<std::int64_t> chosen_runs(const CompareOptions& options, const store::RunReader& reader) {
  std::vector<std::int64_t> ids = integers_of(options.runs);
  if (const auto sweep = integer_of(options.sweep)) {
    const std::set<std::int64_t> given(ids.begin(), ids.end());
    for (const std::int64_t id : reader.runs_of_sweep(*sweep))
      if (given.count(id) == 0)
        ids.push_back(id);
  }
  if (ids.size() < 2)
    throw input_error("compare: give the numbers of at least two runs, or --sweep ID");
  return ids;
}

/// The one that was given, else the one with which the sweep was made.
std::string goal_of(const CompareOptions& options, const store::RunReader& reader) {
  if (const auto given = text_of(options.goal))
    return *given;
  const auto sweep = integer_of(options.sweep);
  const std::string goal = sweep ? sweep::stored_sweep_from_json(reader.sweep_json(*sweep)).goal : "";
  return goal.empty() ? "accuracy" : goal;
}

/// Index of the run that the others are compared with; nothing without --baseline.
std::optional<std::size_t> baseline_of(const CompareOptions& options, const std::vector<ComparedRun>& runs) {
  const auto id = integer_of(options.baseline);
  if (!id)
    return std::nullopt;
  const auto found = std::find_if(runs.begin(), runs.end(), [&](const ComparedRun& run) { return run.row.id == *id; });
  if (found == runs.end())
    throw input_error(fmt::format("--baseline: {} is not one of the compared runs", *id));
  return static_cast<std::size_t>(found - runs.begin());
}

Json columns_json(const std::vector<Column>& columns, bool first_only) {
  Json json = Json::object();
  for (const Column& column : columns)
    json[column.key] = first_only ? column.values.front() : Json(column.values);
  return json;
}

Json answer_json(const compare::Answer& answer) {
  return {{"text", answer.text}, {"basis", answer.basis}, {"runs", answer.runs}, {"certain", answer.certain()}};
}

Json document(const compare::Comparison& comparison, const compare::Answer& answer,
              const std::optional<std::size_t>& baseline) {
  const auto& runs = comparison.runs;
  const auto& settings = comparison.settings;
  Json json{{"answer", answer_json(answer)}, {"runs", Json::array()}};
  for (const ComparedRun& run : runs)
    json["runs"].push_back(run.row.id);
  json["differing"] = columns_json(compare::setting_columns(runs, settings.differing), false);
  json["same"] = columns_json(compare::setting_columns(runs, settings.same), true);
  const auto metrics = compare::metric_columns(comparison);
  json["metrics"] = columns_json(metrics, false);
  if (baseline) {
    json["baseline"] = runs[*baseline].row.id;
    json["deltas"] = Json::object();
    for (const Column& column : metrics) {
      if (!column.numeric)
        continue;
      Json& deltas = json["deltas"][column.key] = Json::array();
      for (const auto& difference : compare::differences(column, *baseline))
        deltas.push_back(difference ? json_number(*difference) : Json(nullptr));
    }
  }
  return json;
}

int run_compare(const CompareOptions& options, const Context& context) {
  const store::RunReader reader(context.database());
  const compare::Goal goal = compare::parse_goal(goal_of(options, reader), "--goal");
  const compare::Comparison comparison(compare::read_runs(reader, chosen_runs(options, reader)));
  const auto baseline = baseline_of(options, comparison.runs);
  const compare::Answer answer = compare::answer(comparison, goal);
  if (context.json) {
    print_json(document(comparison, answer, baseline));
    return exit_status::done;
  }
  const compare::Cells cells = compare::cells_of(comparison, baseline, options.all_columns->count() > 0);
  if (options.markdown->count() > 0) {
    print(compare::markdown(cells, answer));
    return exit_status::done;
  }
  print(answer.text + '\n' + answer.basis + (answer.basis.empty() ? "\n" : "\n\n"));
  std::vector<Table::Column> header;
  for (const compare::Cells::Column& column : cells.header)
    header.push_back({column.title, column.numeric ? Table::Align::right : Table::Align::left});
  Table table(header);
  for (const auto& row : cells.rows) {
    const bool chosen = std::find(answer.runs.begin(), answer.runs.end(), std::stoll(row.front())) != answer.runs.end();
    table.add(row, chosen ? Colour::good : Colour::plain);
  }
  print(table.text(Palette::for_stdout()));
  return exit_status::done;
}

} // namespace

Verb add_compare(CLI::App& program) {
  auto* app = program.add_subcommand("compare", "Say which settings are best for a goal, and how sure that is");
  auto options = std::make_shared<CompareOptions>();
  options->runs = add_argument(*app, "RUN", "Numbers of the runs", true);
  options->sweep = add_value(*app, "--sweep", "ID", "All runs of a sweep");
  options->baseline = add_value(*app, "--baseline", "RUN", "Also show the differences from this run");
  options->goal = add_value(*app, "--goal", "GOAL",
                            "accuracy: the best final validation score (default, unless the sweep has a goal); "
                            "throughput: the smallest batch size within "
                            "5 % of the most examples per second; target:97%: the shortest time to that score; "
                            "time:2min: the best score reached within that time");
  options->all_columns = add_switch(*app, "--all-columns", "Show the settings and results that are the same, too");
  options->markdown = add_switch(*app, "--markdown", "Print Markdown, to paste into an issue or a paper");
  return {app, [options](const Context& context) { return run_compare(*options, context); }};
}

} // namespace batchscope::cli
