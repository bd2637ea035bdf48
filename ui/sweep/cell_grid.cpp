#include "ui/sweep/cell_grid.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/compare/evidence.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

/// Below this share of filled places a grid is mostly holes.
constexpr double least_filled = 0.3;
/// Up to so many cells, a row of them needs no line breaks.
constexpr std::size_t one_row = 24;

/// The values of each field that its entries have, in the order of the spec; others behind.
std::vector<std::vector<std::string>> values_of(const SweepContent& content) {
  std::vector<std::vector<std::string>> values(content.fields.size());
  for (std::size_t i = 0; i < content.fields.size(); ++i)
    for (const sweep::Variation& variation : content.spec.vary)
      if (variation.field == content.fields[i])
        values[i] = variation.values;
  for (const SweepEntry& entry : content.entries)
    for (std::size_t i = 0; i < values.size(); ++i)
      if (std::find(values[i].begin(), values[i].end(), entry.values[i]) == values[i].end())
        values[i].push_back(entry.values[i]);
  return values;
}

struct Places {
  std::vector<std::size_t> panel_fields;
  std::optional<std::size_t> column_field, row_field;
};

/// Batch sizes are columns, with their memory below; without them, the field with most values is.
Places places_of(const SweepContent& content, const std::vector<std::vector<std::string>>& values) {
  Places places;
  for (std::size_t i = 0; i < content.fields.size(); ++i)
    if (!places.column_field || content.fields[i] == "batch" ||
        (content.fields[*places.column_field] != "batch" && values[i].size() > values[*places.column_field].size()))
      places.column_field = i;
  for (std::size_t i = 0; i < content.fields.size(); ++i)
    if (i != places.column_field && (!places.row_field || values[i].size() > values[*places.row_field].size()))
      places.row_field = i;
  for (std::size_t i = 0; i < content.fields.size(); ++i)
    if (i != places.column_field && i != places.row_field)
      places.panel_fields.push_back(i);
  return places;
}

int place_of(const std::vector<std::string>& values, const std::string& value) {
  return static_cast<int>(std::find(values.begin(), values.end(), value) - values.begin());
}

/// A share of the largest as the size that it is, once that is known.
std::optional<std::int64_t> batch_of(const ShownRun& run) {
  return run.outcome.batch ? run.outcome.batch : run.prediction.batch;
}

/// Title and note of a column of batch sizes: `206`, and below it `99.6 MB · 100 % of largest`.
void name_batch_columns(const SweepView& view, std::size_t field, CellGrid& grid,
                        const std::vector<std::string>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    double peak = 0;
    std::optional<std::int64_t> batch;
    for (std::size_t run = 0; run < view.runs.size(); ++run) {
      if (view.content->entries[run].values[field] != values[i])
        continue;
      const ShownRun& shown = view.runs[run];
      batch = batch ? batch : batch_of(shown);
      peak = std::max({peak, static_cast<double>(is_over(shown.stage) ? shown.outcome.peak_bytes : 0),
                       static_cast<double>(shown.prediction.peak_bytes.value_or(0))});
    }
    QStringList notes;
    if (peak > 0)
      notes << format_bytes(peak);
    const auto at = static_cast<qsizetype>(i);
    if (batch && std::to_string(*batch) != values[i]) {
      notes << grid.columns.values[at];
      grid.columns.values[at] = format_count(*batch);
    }
    grid.columns.notes[at] = notes.join(QStringLiteral(" · "));
  }
}

CellGrid::Axis axis_of(const SweepContent& content, std::optional<std::size_t> field,
                       const std::vector<std::vector<std::string>>& values) {
  CellGrid::Axis axis;
  if (!field)
    return axis;
  axis.field = content.fields[*field];
  for (const std::string& value : values[*field]) {
    axis.values << value_name(axis.field, value);
    axis.notes << QString();
  }
  return axis;
}

/// One cell for each combination of values.
std::vector<Cell> cells_of(const SweepView& view, const std::vector<std::vector<std::string>>& values,
                           const Places& places, QStringList& panels) {
  const SweepContent& content = *view.content;
  std::vector<Cell> cells;
  std::map<std::vector<std::string>, std::size_t> known;
  std::map<QString, int> panel_of;
  for (std::size_t i = 0; i < content.entries.size(); ++i) {
    const auto& own = content.entries[i].values;
    const auto [found, is_new] = known.emplace(own, cells.size());
    if (is_new) {
      QStringList title;
      for (const std::size_t field : places.panel_fields)
        title << QStringLiteral("%1 %2").arg(field_name(content.fields[field]),
                                             value_name(content.fields[field], own[field]));
      const auto [panel, new_panel] =
          panel_of.emplace(title.join(QStringLiteral(", ")), static_cast<int>(panels.size()));
      if (new_panel)
        panels << panel->first;
      Cell cell;
      cell.panel = panel->second;
      cell.column = places.column_field ? place_of(values[*places.column_field], own[*places.column_field]) : 0;
      cell.row = places.row_field ? place_of(values[*places.row_field], own[*places.row_field]) : 0;
      cells.push_back(std::move(cell));
    }
    cells[found->second].runs.push_back(i);
  }
  return cells;
}

std::vector<double> values_of(const SweepView& view, const Cell& cell, Metric metric) {
  std::vector<std::size_t> runs;
  for (const std::size_t run : cell.runs)
    if (view.runs[run].stage == RunStage::finished && metric_value(metric, view.runs[run].outcome))
      runs.push_back(run);
  if (metric == Metric::time || metric == Metric::throughput)
    compare::leave_out_disturbed(
        runs, [&](std::size_t run) -> const telemetry::RunOutcome& { return view.runs[run].outcome; });
  std::vector<double> values;
  for (const std::size_t run : runs)
    values.push_back(*metric_value(metric, view.runs[run].outcome));
  return values;
}

void summarize(const SweepView& view, Metric metric, CellGrid& grid) {
  for (Cell& cell : grid.cells) {
    cell.summary = compare::summarize(values_of(view, cell, metric));
    if (cell.summary.n == 0)
      continue;
    grid.least = grid.any ? std::min(grid.least, cell.summary.mean) : cell.summary.mean;
    grid.most = grid.any ? std::max(grid.most, cell.summary.mean) : cell.summary.mean;
    grid.any = true;
  }
}

} // namespace

CellGrid grid_of(const SweepView& view, Metric metric) {
  CellGrid grid;
  if (!view.content)
    return grid;
  const SweepContent& content = *view.content;
  const auto values = values_of(content);
  const Places places = places_of(content, values);
  grid.cells = cells_of(view, values, places, grid.panels);
  grid.columns = axis_of(content, places.column_field, values);
  grid.rows = axis_of(content, places.row_field, values);
  const auto room = static_cast<double>(grid.panels.size() * std::max<qsizetype>(grid.columns.values.size(), 1) *
                                        std::max<qsizetype>(grid.rows.values.size(), 1));
  const bool drawn = std::any_of(content.spec.vary.begin(), content.spec.vary.end(),
                                 [](const sweep::Variation& variation) { return variation.interval.has_value(); });
  grid.flows = drawn || (grid.cells.size() > 1 && static_cast<double>(grid.cells.size()) < least_filled * room) ||
               (!places.row_field && grid.cells.size() > one_row);
  if (grid.flows) {
    grid.columns = grid.rows = {};
    grid.panels = {QString()};
    for (Cell& cell : grid.cells)
      cell.panel = cell.row = cell.column = 0;
  } else if (grid.columns.field == "batch") {
    name_batch_columns(view, *places.column_field, grid, values[*places.column_field]);
  }
  summarize(view, metric, grid);
  return grid;
}

double goodness(const CellGrid& grid, Metric metric, double value) {
  if (grid.most <= grid.least)
    return 1;
  const double place = std::clamp((value - grid.least) / (grid.most - grid.least), 0.0, 1.0);
  return larger_is_better(metric) ? place : 1 - place;
}

} // namespace batchscope::ui
