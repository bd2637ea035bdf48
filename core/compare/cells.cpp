#include "core/compare/cells.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/compare/evidence.h"

namespace batchscope::compare {

namespace {

void add_cell(Cells& cells, std::size_t row, std::string text, std::optional<double> number = {}) {
  cells.rows[row].push_back(std::move(text));
  cells.numbers[row].push_back(number);
}

/// `run_of`: the run of each row.
void add(Cells& cells, const Column& column, const std::vector<std::size_t>& run_of) {
  cells.header.push_back({title(column), column.numeric});
  for (std::size_t row = 0; row < cells.rows.size(); ++row) {
    const Json& value = column.values[run_of[row]];
    add_cell(cells, row, text(column, run_of[row]),
             value.is_number() ? std::optional(value.get<double>()) : std::nullopt);
  }
}

void add_differences(Cells& cells, const Column& column, std::size_t baseline, std::int64_t run) {
  cells.header.push_back({"vs " + std::to_string(run), true});
  const auto values = differences(column, baseline);
  for (std::size_t i = 0; i < cells.rows.size(); ++i) {
    cells.rows[i].push_back(i == baseline ? "" : difference_text(column, i, baseline));
    cells.numbers[i].push_back(values[i]);
  }
}

/// By run; NaN for none.
std::vector<double> numbers_of(const Column& column) {
  std::vector<double> numbers;
  for (const Json& value : column.values)
    numbers.push_back(value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN());
  return numbers;
}

void add_mean(Cells& cells, std::size_t row, const Comparison& comparison, const Column& column,
              const std::vector<double>& numbers, const std::vector<std::size_t>& runs) {
  const Summary summary = summary_of(comparison, runs, numbers, telemetry::quantity_of(column.key).of);
  if (summary.n == 0)
    add_cell(cells, row, "-");
  else
    add_cell(cells, row, mean_text(column, summary).whole(), summary.mean);
}

void add_highest(Cells& cells, std::size_t row, const Comparison& comparison, const Column& column,
                 const std::vector<double>& numbers, const std::vector<std::size_t>& runs) {
  std::optional<double> highest;
  for (const std::size_t run : runs)
    if (counts(comparison.runs[run]) && !std::isnan(numbers[run]))
      highest = std::max(highest.value_or(numbers[run]), numbers[run]);
  add_cell(cells, row, highest ? text_of(column, *highest) : "-", highest);
}

/// `3`, or `2 of 3` if one of them does not count.
void add_count(Cells& cells, std::size_t row, const Comparison& comparison, const std::vector<std::size_t>& runs) {
  const std::int64_t of = counted(comparison, runs);
  add_cell(cells, row, of == std::ssize(runs) ? std::to_string(of) : fmt::format("{} of {}", of, runs.size()),
           static_cast<double>(of));
}

} // namespace

Cells cells_of(const Comparison& comparison, const std::optional<std::size_t>& baseline, bool all_columns) {
  const auto& runs = comparison.runs;
  Cells cells{{{"run", true}}, {}, {}};
  for (const ComparedRun& run : runs) {
    cells.rows.push_back({std::to_string(run.row.id)});
    cells.numbers.push_back({static_cast<double>(run.row.id)});
  }
  std::vector<std::size_t> all(runs.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (const Column& column : setting_columns(runs, comparison.settings.differing))
    add(cells, column, all);
  if (all_columns)
    for (const Column& column : setting_columns(runs, comparison.settings.same))
      add(cells, column, all);
  for (const Column& column : metric_columns(comparison)) {
    if (!all_columns && !column.differs)
      continue;
    add(cells, column, all);
    if (baseline && column.numeric)
      add_differences(cells, column, *baseline, runs[*baseline].row.id);
  }
  return cells;
}

Cells cells_of(const Comparison& comparison, const Answer& answer) {
  const auto& standings = answer.standings;
  Cells cells;
  cells.rows.resize(standings.size());
  cells.numbers.resize(standings.size());
  std::vector<std::size_t> first_runs;
  first_runs.reserve(standings.size());
  for (const Standing& standing : standings)
    first_runs.push_back(standing.group.runs.front());
  std::vector<std::string> keys;
  for (const auto& [key, value] : comparison.groups.front().values)
    keys.push_back(key);
  for (const Column& column : setting_columns(comparison.runs, keys))
    add(cells, column, first_runs);
  cells.header.push_back({"runs", true});
  cells.header.push_back({answer.result, true});
  for (std::size_t row = 0; row < standings.size(); ++row) {
    add_count(cells, row, comparison, standings[row].group.runs);
    const bool known = !standings[row].results.empty();
    add_cell(cells, row, known ? standings[row].text : "-",
             known ? std::optional(summarize(standings[row].results).mean) : std::nullopt);
  }
  for (const Column& column : metric_columns(comparison)) {
    if (column.key != "examples_per_second" && column.key != "peak_bytes")
      continue;
    cells.header.push_back({title(column), true});
    const auto add = column.key == "peak_bytes" ? add_highest : add_mean;
    const std::vector<double> numbers = numbers_of(column);
    for (std::size_t row = 0; row < standings.size(); ++row)
      add(cells, row, comparison, column, numbers, standings[row].group.runs);
  }
  return cells;
}

std::string markdown(const Cells& cells, const Answer& answer) {
  std::string text = "**" + markdown_escaped(answer.text) + "**\n\n|";
  for (const Cells::Column& column : cells.header)
    text += ' ' + markdown_escaped(column.title) + " |";
  text += "\n|";
  for (const Cells::Column& column : cells.header)
    text += column.numeric ? "---:|" : "---|";
  for (const auto& row : cells.rows) {
    text += "\n|";
    for (const std::string& cell : row)
      text += ' ' + markdown_escaped(cell) + " |";
  }
  return text + '\n';
}

} // namespace batchscope::compare
