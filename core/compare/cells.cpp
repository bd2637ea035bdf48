#include "core/compare/cells.h"

namespace batchscope::compare {

namespace {

void add(Cells& cells, const Column& column) {
  cells.header.push_back({title(column), column.numeric});
  for (std::size_t i = 0; i < cells.rows.size(); ++i) {
    const Json& value = column.values[i];
    cells.rows[i].push_back(text(column, i));
    cells.numbers[i].push_back(value.is_number() ? std::optional(value.get<double>()) : std::nullopt);
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

/// So that nothing in a name becomes markup, or ends the cell.
std::string escaped(std::string text) {
  for (std::size_t at = 0; (at = text.find_first_of("|\\<>*_`[]", at)) != std::string::npos; at += 2)
    text.insert(at, 1, '\\');
  return text;
}

} // namespace

Cells cells_of(const Comparison& comparison, const std::optional<std::size_t>& baseline, bool all_columns) {
  const auto& runs = comparison.runs;
  Cells cells{{{"run", true}}, {}, {}};
  for (const ComparedRun& run : runs) {
    cells.rows.push_back({std::to_string(run.row.id)});
    cells.numbers.push_back({static_cast<double>(run.row.id)});
  }
  for (const Column& column : setting_columns(runs, comparison.settings.differing))
    add(cells, column);
  if (all_columns)
    for (const Column& column : setting_columns(runs, comparison.settings.same))
      add(cells, column);
  for (const Column& column : metric_columns(comparison)) {
    if (!all_columns && !column.differs)
      continue;
    add(cells, column);
    if (baseline && column.numeric)
      add_differences(cells, column, *baseline, runs[*baseline].row.id);
  }
  return cells;
}

std::string markdown(const Cells& cells, const Answer& answer) {
  std::string text = "**" + escaped(answer.text) + "**\n\n|";
  for (const Cells::Column& column : cells.header)
    text += ' ' + escaped(column.title) + " |";
  text += "\n|";
  for (const Cells::Column& column : cells.header)
    text += column.numeric ? "---:|" : "---|";
  for (const auto& row : cells.rows) {
    text += "\n|";
    for (const std::string& cell : row)
      text += ' ' + escaped(cell) + " |";
  }
  return text + '\n';
}

} // namespace batchscope::compare
