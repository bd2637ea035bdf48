#include <algorithm>
#include <cmath>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/compare/cells.h"
#include "core/exchange/detail/html_style.h"
#include "core/exchange/detail/svg_plot.h"
#include "core/exchange/export.h"
#include "core/run/environment.h"

namespace batchscope::exchange {

namespace {

using compare::ComparedRun;
using detail::html_escaped;
using detail::SvgPlot;

std::string run_title(const store::RunRow& run) {
  return "run " + std::to_string(run.id) + (run.name.empty() ? "" : ": " + run.name);
}

void write_table(const compare::Cells& cells, const std::vector<ComparedRun>& runs, const compare::Answer& answer,
                 std::ostream& out) {
  out << R"(<div class="scroll"><table class="sortable"><thead><tr>)";
  for (const auto& column : cells.header)
    out << fmt::format(R"(<th scope="col"{}><button type="button">{}</button></th>)",
                       column.numeric ? " class=\"number\"" : "", html_escaped(column.title));
  out << "<th scope=\"col\"><button type=\"button\">name</button></th></tr></thead><tbody>";
  for (std::size_t row = 0; row < cells.rows.size(); ++row) {
    const store::RunRow& run = runs[row].row;
    const bool chosen = std::find(answer.runs.begin(), answer.runs.end(), run.id) != answer.runs.end();
    out << (chosen ? "<tr class=\"chosen\">" : "<tr>");
    for (std::size_t i = 0; i < cells.rows[row].size(); ++i) {
      const auto number = cells.numbers[row][i];
      out << fmt::format("<td{}{}>{}</td>", cells.header[i].numeric ? " class=\"number\"" : "",
                         number ? fmt::format(" data-sort=\"{}\"", *number) : "", html_escaped(cells.rows[row][i]));
    }
    out << "<td>" << html_escaped(run.name) << "</td></tr>";
  }
  out << "</tbody></table></div>";
}

/// Group of each run: runs with the same settings have one colour.
std::vector<std::size_t> colours_of(const std::vector<compare::Group>& groups, std::size_t runs) {
  std::vector<std::size_t> colours(runs);
  for (std::size_t group = 0; group < groups.size(); ++group)
    for (const std::size_t run : groups[group].runs)
      colours[run] = group;
  return colours;
}

using Points = std::vector<std::pair<double, double>>;

/// Means over parts of equally many points.
Points means(const std::vector<store::Point>& points, std::size_t parts) {
  Points means;
  for (std::size_t part = 0; part < std::min(parts, points.size()); ++part) {
    const std::size_t first = points.size() * part / std::min(parts, points.size());
    const std::size_t end = points.size() * (part + 1) / std::min(parts, points.size());
    double sum = 0;
    for (std::size_t i = first; i < end; ++i)
      sum += points[i].value;
    means.emplace_back(static_cast<double>(points[end - 1].step), sum / static_cast<double>(end - first));
  }
  return means;
}

std::string loss_plot(const store::RunReader& reader, const std::vector<ComparedRun>& runs,
                      const std::vector<std::size_t>& colours) {
  constexpr std::size_t parts = 100;
  SvgPlot plot("Training loss", "step", "mean of each hundredth of the run");
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const store::RunRow& run = runs[i].row;
    const auto names = reader.series_names(run.id);
    if (std::find(names.begin(), names.end(), "loss") != names.end())
      plot.add({.label = run_title(run), .points = means(reader.series(run.id, "loss"), parts), .colour = colours[i]});
  }
  return plot.svg();
}

/// A result of each run against its first batch.
template <typename Get>
std::string batch_plot(const std::string& title, const std::string& unit, const std::vector<ComparedRun>& runs,
                       const std::vector<std::size_t>& colours, Get get) {
  SvgPlot plot(title, "first batch", unit);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const telemetry::RunOutcome& outcome = runs[i].row.outcome;
    const std::optional<double> value = get(outcome);
    if (value && outcome.batch)
      plot.add({.label = run_title(runs[i].row),
                .points = {{static_cast<double>(*outcome.batch), *value}},
                .line = false,
                .colour = colours[i]});
  }
  return plot.svg();
}

/// The colours of the settings.
void write_legend(const std::vector<compare::Group>& groups, std::ostream& out) {
  out << "<ul class=\"legend\">";
  for (std::size_t i = 0; i < groups.size(); ++i)
    out << fmt::format(
        "<li><svg viewBox=\"0 0 10 10\"><circle class=\"dot c{}\" cx=\"5\" cy=\"5\" r=\"5\"/></svg>{}</li>",
        i % SvgPlot::colours, html_escaped(groups[i].label()));
  out << "</ul>";
}

void write_plots(const store::RunReader& reader, const compare::Comparison& comparison, std::ostream& out) {
  using telemetry::RunOutcome;
  constexpr double megabyte = 1e6;
  const auto& [runs, settings, groups] = comparison;
  const auto colours = colours_of(groups, runs.size());
  const auto if_positive = [](double value) { return value > 0 ? std::optional(value) : std::nullopt; };
  const std::vector<std::string> plots = {
      batch_plot("Validation accuracy", "%", runs, colours,
                 [](const RunOutcome& outcome) -> std::optional<double> {
                   return outcome.validation_accuracy ? std::optional(100 * *outcome.validation_accuracy)
                                                      : std::nullopt;
                 }),
      batch_plot("Throughput", "examples/s", runs, colours,
                 [&](const RunOutcome& outcome) { return if_positive(outcome.examples_per_second); }),
      batch_plot(
          "Peak memory", "MB", runs, colours,
          [&](const RunOutcome& outcome) { return if_positive(static_cast<double>(outcome.peak_bytes) / megabyte); }),
      loss_plot(reader, runs, colours)};
  constexpr std::size_t most_in_legend = 24;
  if (groups.size() > 1 && groups.size() <= most_in_legend)
    write_legend(groups, out);
  out << "<div class=\"plots\">";
  for (const std::string& plot : plots)
    if (!plot.empty())
      out << "<figure>" << plot << "</figure>";
  out << "</div>";
}

void write_same(const compare::Comparison& comparison, std::ostream& out) {
  out << "<h2>The same in all runs</h2><dl>";
  for (const compare::Column& column : compare::setting_columns(comparison.runs, comparison.settings.same)) {
    const std::string value = compare::text(column, 0);
    if (value != "-")
      out << "<div><dt>" << html_escaped(compare::title(column)) << "</dt><dd>" << html_escaped(value) << "</dd></div>";
  }
  out << "</dl>";
}

void write_runs(const store::RunReader& reader, const std::vector<ComparedRun>& runs, std::ostream& out) {
  out << "<h2>Settings and environment of each run</h2>";
  for (const ComparedRun& run : runs) {
    const std::string environment = run::environment_text(reader.environment_json(run.row.id));
    out << "<details><summary>" << html_escaped(run_title(run.row)) << " <small>" << html_escaped(run.row.started)
        << "</small></summary>" << (run.row.note.empty() ? "" : "<p>" + html_escaped(run.row.note) + "</p>")
        << (run.row.tags.empty()
                ? std::string()
                : fmt::format("<p>Tags: {}</p>", html_escaped(fmt::format("{}", fmt::join(run.row.tags, ", ")))))
        << (environment.empty() ? "" : "<p>Made with " + html_escaped(environment) + "</p>") << "<pre>"
        << html_escaped(json_text(run.spec, 2)) << "</pre></details>";
  }
}

class HtmlExporter final : public Exporter {
public:
  std::string name() const override { return "html"; }
  std::string title() const override { return "HTML, a report in one file"; }
  std::string extension() const override { return "html"; }

  void write(const store::RunReader& reader, const std::vector<std::int64_t>& ids, std::ostream& out) const override {
    const compare::Comparison comparison(compare::read_runs(reader, ids));
    const auto& runs = comparison.runs;
    const compare::Answer answer = compare::answer(comparison, {});
    const std::string title = fmt::format("{} {}", runs.size(), runs.size() == 1 ? "run" : "runs");
    out << detail::html_head << "<title>BatchScope: " << title << "</title><main><h1>" << title << "</h1>";
    out << "<p class=\"answer\">" << html_escaped(answer.text) << "</p>";
    write_table(compare::cells_of(comparison, std::nullopt, false), runs, answer, out);
    write_plots(reader, comparison, out);
    write_same(comparison, out);
    write_runs(reader, runs, out);
    out << "</main>" << detail::html_script << "\n";
  }
};

} // namespace

std::unique_ptr<Exporter> html_exporter();
/// One self-contained page: which settings have the best validation score, a table that sorts, plots, settings. It
/// loads nothing from elsewhere, and no text of a run becomes markup.
std::unique_ptr<Exporter> html_exporter() {
  return std::make_unique<HtmlExporter>();
}

} // namespace batchscope::exchange
