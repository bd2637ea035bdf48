#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/context.h"
#include "app/cli/output.h"
#include "core/advice/snippet.h"
#include "core/base/text.h"
#include "core/data/dataset.h"
#include "core/exchange/export.h"
#include "core/exchange/import.h"
#include "core/run/model_spec.h"
#include "core/run/spec_fields.h"
#include "core/schedule/schedule_kind.h"
#include "core/search/strategy.h"
#include "core/store/run_fields.h"
#include "core/telemetry/event_codec.h"
#include "core/telemetry/series_info.h"

// docs/reference.md: everything that scripts and files can name, from the tables that the program itself works with.
namespace batchscope::cli {

namespace {

/// The text as a cell of a Markdown table.
std::string cell(std::string_view text) {
  return markdown_escaped(one_line(text));
}

/// In a table, where a bar would end the cell.
std::string code(std::string_view text) {
  std::string escaped;
  for (const char c : text)
    escaped += c == '|' ? "\\|" : std::string(1, c);
  return text.empty() ? std::string() : fmt::format("`{}`", escaped);
}

/// A table whose first column is code.
class MarkdownTable {
public:
  explicit MarkdownTable(const std::vector<std::string>& titles) {
    text_ = fmt::format("| {} |\n|", fmt::join(titles, " | "));
    for (std::size_t i = 0; i < titles.size(); ++i)
      text_ += "---|";
    text_ += '\n';
  }

  void add(std::string_view name, const std::vector<std::string>& cells) {
    text_ += fmt::format("| {} |", code(name));
    for (const std::string& text : cells)
      text_ += fmt::format(" {} |", text);
    text_ += '\n';
  }
  const std::string& text() const { return text_; }

private:
  std::string text_;
};

/// Whether an option sets a field of a run, and takes what that takes: a sweep has lists.
bool is_field(const CLI::Option& option) {
  const auto& fields = run::spec_fields();
  return std::any_of(fields.begin(), fields.end(), [&](const run::SpecField& field) {
    return field.option == option.get_name() && field.placeholder == option.get_type_name();
  });
}

/// The options of a verb, those that are fields of a run by their names only.
std::string options_of(const CLI::App& app, const CLI::App& program) {
  MarkdownTable table({"option", "what it does"});
  std::vector<std::string> fields;
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name(option->get_positional());
    if (is_field(*option))
      fields.push_back(code(name));
    else if (program.get_option_no_throw(name) == nullptr || &app == &program)
      table.add(option->get_type_name().empty() ? name : name + ' ' + option->get_type_name(),
                {cell(option->get_description())});
  }
  std::string text = table.text();
  if (!fields.empty())
    text += fmt::format("\nFields of the run: {}.\n", fmt::join(fields, ", "));
  return text;
}

std::string verbs_text(const CLI::App& program) {
  std::string text = "## Options of all verbs\n\n" + options_of(program, program);
  for (const CLI::App* app : program.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); }))
    text += fmt::format("\n## batchscope-cli {}\n\n{}.\n\n{}", app->get_name(), cell(app->get_description()),
                        options_of(*app, program));
  return text;
}

std::string accepted(const run::SpecField& field) {
  if (field.kind == run::SpecField::Kind::choice)
    return fmt::format("{}", fmt::join(field.choices, ", "));
  const bool ends_with_number = !field.range.empty() && field.range.back() >= '0' && field.range.back() <= '9';
  return field.range + (ends_with_number && !field.unit.empty() ? ' ' + field.unit : "");
}

std::string fields_text() {
  std::string text =
      "\n## Fields of a run\n\nThe keys of specifications in JSON, of filters (`list --where`), of `--vary` "
      "and of `compare`.\n";
  for (const std::string& group : run::spec_groups()) {
    MarkdownTable table({"field", "option", "what it is", "accepted", "default"});
    for (const run::SpecField& field : run::spec_fields())
      if (field.group == group)
        table.add(field.key, {code(field.option), cell(field.help), cell(accepted(field)), cell(field.default_text)});
    text += fmt::format("\n### {}\n\n{}", group, table.text());
  }
  return text;
}

const char* kind_name(telemetry::ValueKind kind) {
  switch (kind) {
  case telemetry::ValueKind::text:
    return "text";
  case telemetry::ValueKind::number:
    return "number";
  case telemetry::ValueKind::count:
    return "whole number";
  case telemetry::ValueKind::amount:
    return "number, 0 or more";
  case telemetry::ValueKind::fraction:
    return "0 to 1";
  case telemetry::ValueKind::bytes:
    return "bytes";
  case telemetry::ValueKind::seconds:
    return "seconds";
  }
  return "";
}

std::string results_text() {
  MarkdownTable table({"name", "short name", "values", "what it is"});
  for (const store::RunField& field : store::run_fields())
    table.add(field.name, {code(field.short_name), kind_name(field.kind), cell(field.help)});
  return "\n## Columns of the list of runs\n\nNames for `list --where`, `list --columns` and `--json`.\n\n" +
         table.text();
}

std::string series_text() {
  MarkdownTable table({"series", "what it is", "in `export --format csv`"});
  for (const telemetry::SeriesInfo& series : telemetry::known_series())
    table.add(series.name, {cell(series.help), series.in_csv ? "yes" : ""});
  return "\n## Series\n\nA value for each step, or for some of them. Of a data stream `a`, `loss/a`, "
         "`train_coverage/a`, "
         "`epoch/a` and `examples/a`; a program adds its own.\n\n" +
         table.text();
}

std::string events_text() {
  MarkdownTable table({"event", "what has happened", "fields"});
  for (const telemetry::EventKind& kind : telemetry::event_kinds()) {
    std::vector<std::string> fields;
    for (const std::string& field : kind.fields)
      fields.push_back(code(field));
    table.add(kind.name, {cell(kind.help), fmt::format("{}", fmt::join(fields, ", "))});
  }
  return "\n## Events\n\nOf a reason `x`, `x` is a sentence in English, `x_code` what it says, and `x_args` its "
         "values.\n\n" +
         table.text();
}

std::string texts_text() {
  MarkdownTable models({"`--model`", "sizes"});
  for (const run::ModelKind& kind : run::model_kinds()) {
    std::vector<std::string> sizes;
    for (const run::ModelKind::Size& size : kind.sizes)
      sizes.push_back(size.standard > 0 ? fmt::format("`{}` ({})", size.name, size.standard) : code(size.name));
    if (kind.has_norm)
      sizes.emplace_back("`norm` (group)");
    models.add(kind.example, {fmt::format("{}", fmt::join(sizes, ", "))});
  }
  std::string text =
      "\n## Models\n\nWith the size that is taken if none is given.\n\n" + models.text() + "\n## Data\n\n";
  for (const std::string& form : data::data_forms())
    text += fmt::format("- {}\n", cell(form));
  MarkdownTable schedules({"`--schedule`", "what it is"});
  for (const schedule::ScheduleKind* kind : schedule::schedule_kinds())
    schedules.add(kind->form, {kind->help ? kind->help : kind->title});
  MarkdownTable strategies({"`--strategy`", "how it searches"});
  for (const search::Strategy* strategy : search::strategies())
    strategies.add(strategy->name, {cell(strategy->help)});
  return text + "\n## Schedules\n\n" + schedules.text() + "\n## Search strategies\n\n" + strategies.text();
}

std::string formats_text() {
  MarkdownTable exports({"`export --format`", "what it writes"});
  for (const auto& exporter : exchange::exporters())
    exports.add(exporter->name(), {cell(exporter->title())});
  MarkdownTable imports({"import", "what it reads"});
  for (const auto& importer : exchange::importers())
    imports.add(importer->name(), {cell(importer->title())});
  return fmt::format("\n## Formats\n\n{}\n{}\n`snippet --for`: {}.\n", exports.text(), imports.text(),
                     fmt::join(advice::snippet_names(), ", "));
}

} // namespace

Verb add_reference(CLI::App& program) {
  auto* app = program.add_subcommand("reference", "Print docs/reference.md");
  app->group(""); // not in the help
  return {
      app, [&program](const Context&) {
        print("# Reference\n\nOptions, fields, series, events and formats. `make reference` writes this page from the "
              "program's own tables.\n\n" +
              verbs_text(program) + fields_text() + results_text() + series_text() + events_text() + texts_text() +
              formats_text());
        return exit_status::done;
      }};
}

} // namespace batchscope::cli
