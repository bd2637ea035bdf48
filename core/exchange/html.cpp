#include <algorithm>
#include <cmath>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/compare/cells.h"
#include "core/compare/evidence.h"
#include "core/exchange/detail/html_style.h"
#include "core/exchange/detail/svg_plot.h"
#include "core/exchange/export.h"
#include "core/run/made_with.h"
#include "core/store/run_reader.h"

namespace batchscope::exchange {

namespace {

using compare::ComparedRun;
using detail::html_escaped;
using detail::SvgPlot;

std::string run_title(const store::RunRow& run) {
  return "run " + std::to_string(run.id) + (run.name.empty() ? "" : ": " + run.name);
}

/// `chosen`: rows that are marked. `names`: a last column; may be empty.
void write_table(const compare::Cells& cells, const std::vector<bool>& chosen, const std::vector<std::string>& names,
                 std::ostream& out) {
  out << R"(<div class="scroll"><table class="sortable"><thead><tr>)";
  for (const auto& column : cells.header)
    out << fmt::format(R"(<th scope="col"{}><button type="button">{}</button></th>)",
                       column.numeric ? " class=\"number\"" : "", html_escaped(column.title));
  out << (names.empty() ? "" : R"(<th scope="col"><button type="button">name</button></th>)") << "</tr></thead><tbody>";
  for (std::size_t row = 0; row < cells.rows.size(); ++row) {
    out << (chosen[row] ? "<tr class=\"chosen\">" : "<tr>");
    for (std::size_t i = 0; i < cells.rows[row].size(); ++i) {
      const auto number = cells.numbers[row][i];
      out << fmt::format("<td{}{}>{}</td>", cells.header[i].numeric ? " class=\"number\"" : "",
                         number ? fmt::format(" data-sort=\"{}\"", *number) : "", html_escaped(cells.rows[row][i]));
    }
    if (!names.empty())
      out << "<td>" << html_escaped(names[row]) << "</td>";
    out << "</tr>";
  }
  out << "</tbody></table></div>";
}

bool is_chosen(const store::RunRow& run, const compare::Answer& answer) {
  return std::find(answer.runs.begin(), answer.runs.end(), run.id) != answer.runs.end();
}

void write_runs_table(const compare::Comparison& comparison, const compare::Answer& answer, std::ostream& out) {
  std::vector<bool> chosen;
  std::vector<std::string> names;
  for (const ComparedRun& run : comparison.runs) {
    chosen.push_back(is_chosen(run.row, answer));
    names.push_back(run.row.name);
  }
  write_table(compare::cells_of(comparison, std::nullopt, false), chosen, names, out);
}

/// A row for each setting where there are repeats, with the single runs folded below it; else a row for each run.
void write_tables(const compare::Comparison& comparison, const compare::Answer& answer, std::ostream& out) {
  const std::size_t settings = answer.standings.size();
  if (settings < 2 || settings == comparison.runs.size())
    return write_runs_table(comparison, answer, out);
  std::vector<bool> chosen;
  for (const compare::Standing& standing : answer.standings)
    chosen.push_back(is_chosen(comparison.runs[standing.group.runs.front()].row, answer));
  write_table(compare::cells_of(comparison, answer), chosen, {}, out);
  out << "<details><summary>Each run</summary>";
  write_runs_table(comparison, answer, out);
  out << "</details>";
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

/// A result of each finished run against its first batch.
template <typename Get>
std::string batch_plot(const std::string& title, const std::string& unit, const std::vector<ComparedRun>& runs,
                       const std::vector<std::size_t>& colours, Get get) {
  SvgPlot plot(title, "first batch", unit);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const telemetry::RunOutcome& outcome = runs[i].row.outcome;
    const std::optional<double> value = get(outcome);
    if (compare::counts(runs[i]) && value && outcome.batch)
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
  const auto& runs = comparison.runs;
  const auto& groups = comparison.groups;
  const auto& colours = comparison.group_of; // runs with the same settings have one
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

void write_same(const compare::Comparison& comparison, const char* heading, std::ostream& out) {
  constexpr std::size_t most_beside_others = 24; // characters of a value
  out << fmt::format("<{0}>The same in all runs</{0}><dl>", heading);
  for (const compare::Column& column : compare::setting_columns(comparison.runs, comparison.settings.same)) {
    const std::string value = compare::text(column, 0);
    if (value != "-")
      out << fmt::format("<div{}><dt>{}</dt><dd>{}</dd></div>",
                         value.size() > most_beside_others ? " class=\"long\"" : "",
                         html_escaped(compare::title(column)), html_escaped(value));
  }
  out << "</dl>";
}

void write_runs(const store::RunReader& reader, const std::vector<ComparedRun>& runs, std::ostream& out) {
  out << "<h2>Settings and environment of each run</h2>";
  for (const ComparedRun& run : runs) {
    const std::string environment =
        run::made_with(reader.environment_json(run.row.id), run::stored_start(reader.start_json(run.row.id)));
    out << "<details><summary>" << html_escaped(run_title(run.row)) << " <small>" << html_escaped(run.row.started)
        << "</small></summary>" << (run.row.note.empty() ? "" : "<p>" + html_escaped(run.row.note) + "</p>")
        << (run.row.tags.empty()
                ? std::string()
                : fmt::format("<p>Tags: {}</p>", html_escaped(fmt::format("{}", fmt::join(run.row.tags, ", ")))))
        << (environment.empty() ? "" : "<p>Made with " + html_escaped(environment) + "</p>") << "<pre>"
        << html_escaped(json_text(run.spec, 2)) << "</pre></details>";
  }
}

/// Runs that are compared with each other: those of a sweep, or of none.
struct Part {
  std::optional<std::int64_t> sweep;
  std::string title;
  compare::Goal goal;
  std::vector<ComparedRun> runs;
};

/// Without runs. A sweep says for what its runs are compared.
Part part_of(const store::RunReader& reader, const std::optional<std::int64_t>& sweep) {
  Part part{.sweep = sweep, .title = "Runs of no sweep", .goal = {}, .runs = {}};
  if (!sweep)
    return part;
  const Json spec = parse_json(reader.sweep_json(*sweep));
  // Empty for a sweep of a file that was imported and has something else there.
  const std::string name = text_member(spec, "name");
  part.title = fmt::format("Sweep {}", *sweep) + (name.empty() ? "" : ": " + name);
  if (const std::string goal = text_member(spec, "goal"); !goal.empty())
    part.goal = compare::parse_goal(goal, "goal");
  return part;
}

/// In the order of their first runs.
std::vector<Part> parts_of(const store::RunReader& reader, const std::vector<ComparedRun>& runs) {
  std::vector<Part> parts;
  for (const ComparedRun& run : runs) {
    auto part = std::find_if(parts.begin(), parts.end(), [&](const Part& each) { return each.sweep == run.row.sweep; });
    if (part == parts.end())
      part = parts.insert(parts.end(), part_of(reader, run.row.sweep));
    part->runs.push_back(run);
  }
  return parts;
}

/// `heading`: the element of headings within the part.
void write_part(const store::RunReader& reader, const Part& part, const char* heading, std::ostream& out) {
  const compare::Comparison comparison(part.runs);
  const compare::Answer answer = compare::answer(comparison, part.goal);
  out << "<p class=\"answer\">" << html_escaped(answer.text) << "</p>";
  if (!answer.basis.empty())
    out << "<p>" << html_escaped(answer.basis) << "</p>";
  write_tables(comparison, answer, out);
  write_plots(reader, comparison, out);
  write_same(comparison, heading, out);
}

class HtmlExporter final : public Exporter {
public:
  std::string name() const override { return "html"; }
  std::string title() const override { return "HTML, a report in one file"; }
  std::string extension() const override { return "html"; }

  void write(const store::RunReader& reader, const std::vector<std::int64_t>& ids, std::ostream& out) const override {
    const std::vector<ComparedRun> runs = compare::read_runs(reader, ids);
    const std::vector<Part> parts = parts_of(reader, runs);
    std::string title = fmt::format("{} {}", runs.size(), runs.size() == 1 ? "run" : "runs");
    if (parts.size() > 1)
      title += " of different sweeps";
    out << detail::html_head << "<title>BatchScope: " << title << "</title><main><h1>" << title << "</h1>";
    for (const Part& part : parts) {
      if (parts.size() > 1)
        out << "<h2>" << html_escaped(part.title) << "</h2>";
      write_part(reader, part, parts.size() > 1 ? "h3" : "h2", out);
    }
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
