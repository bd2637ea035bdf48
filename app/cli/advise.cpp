#include "core/advice/advice.h"

#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/output.h"
#include "core/advice/lint.h"
#include "core/advice/sources.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/data_pool.h"
#include "core/estimate/cards.h"
#include "core/store/run_reader.h"

namespace batchscope::cli {

namespace {

using advice::Advice;
using advice::Finding;
using advice::Range;
using advice::SizeRow;

constexpr const char* table_names[] = {"sizes",   "rules", "accuracies", "costs",  "red-flags",
                                       "excuses", "tasks", "shapes",     "sources"};

struct AdviseOptions {
  CLI::Option *run = nullptr, *table = nullptr;
  CLI::Option *task = nullptr, *size = nullptr, *quantization = nullptr, *memory = nullptr;
  CLI::Option *examples = nullptr, *model = nullptr, *data = nullptr;

  std::vector<CLI::Option*> questions() const { return {task, size, quantization, memory, examples, model, data}; }
};

Json range_json(const std::optional<Range>& range) {
  return range ? Json{range->low, range->high} : Json(nullptr);
}

Json row_json(const SizeRow& row) {
  return {{"micro_batch", range_json(row.micro_batch)},
          {"accumulate", range_json(row.accumulate)},
          {"effective_batch", range_json(row.effective_batch)},
          {"ranks", json_or_null(row.ranks)},
          {"least", json_or_null(row.least)},
          {"most", json_or_null(row.most)},
          {"quantization", row.quantization.empty() ? Json(nullptr) : Json(row.quantization)},
          {"why", row.why},
          {"source", row.source},
          {"command", row.command.empty() ? Json(nullptr) : Json(row.command)}};
}

Json advice_json(const Advice& advice) {
  Json json{{"rows", Json::array()}};
  for (const SizeRow& row : advice.rows)
    json["rows"].push_back(row_json(row));
  json["start"] = nullptr;
  if (advice.start)
    json["start"] = {{"batch", advice.start->batch},
                     {"accumulate", advice.start->accumulate},
                     {"ranks", advice.start->ranks},
                     {"effective_batch", advice.start->effective()}};
  json["train"] = advice.train_command;
  json["find"] = advice.find_command;
  json["disagreements"] = advice.disagreements;
  json["remarks"] = advice.remarks;
  return json;
}

std::string range_text(const std::optional<Range>& range) {
  return range ? range->text() : "-";
}

std::string useful_text(const SizeRow& row) {
  return row.least && row.most ? fmt::format("{}-{}", *row.least, *row.most)
         : row.least           ? fmt::format("from {}", *row.least)
                               : "-";
}

void print_advice(const Advice& advice) {
  const Palette palette = Palette::for_stdout();
  Table table({{"micro batch"},
               {"accumulation"},
               {"ranks"},
               {"effective"},
               {"useful"},
               {"weights", Table::Align::left},
               {"why", Table::Align::left},
               {"source", Table::Align::left}});
  for (const SizeRow& row : advice.rows)
    table.add({range_text(row.micro_batch), range_text(row.accumulate), count_or_dash(row.ranks),
               range_text(row.effective_batch), useful_text(row), row.quantization.empty() ? "-" : row.quantization,
               row.why, row.source});
  print(table.text(palette) + '\n');
  for (const auto* lines : {&advice.disagreements, &advice.remarks})
    for (const std::string& line : *lines)
      print(line + "\n\n");
  if (advice.start)
    print(fmt::format("Start with {} x {}{} = {} examples per step:\n", advice.start->batch, advice.start->accumulate,
                      advice.start->ranks > 1 ? fmt::format(" x {}", advice.start->ranks) : "",
                      advice.start->effective()) +
          palette.paint(Colour::accent, advice.train_command) + '\n');
  print("See which sizes fit:\n" + palette.paint(Colour::accent, advice.find_command) + '\n');
}

int print_table(const std::string& name, const Context& context) {
  if (std::find(std::begin(table_names), std::end(table_names), name) == std::end(table_names))
    throw input_error(
        fmt::format("--table: {} is not accepted; accepted: {}", in_quotes(name), fmt::join(table_names, ", ")));
  const advice::Table table = advice::read_table(name);
  const auto shown = [&](const advice::TableRow& row, const std::string& title) {
    const bool cited = title == "source" && !row.at(title).empty();
    return cited ? advice::cite(row.at(title), row.at("section")) : row.at(title);
  };
  std::vector<std::string> titles;
  for (const std::string& title : table.titles)
    if (title != "section") // a part of the source
      titles.push_back(title);
  if (context.json) {
    Json json{{"table", name}, {"rows", Json::array()}};
    for (const advice::TableRow& row : table.rows) {
      Json& cells = json["rows"].emplace_back(Json::object());
      for (const std::string& title : titles)
        cells[title] = shown(row, title);
    }
    print_json(json);
    return exit_status::done;
  }
  std::vector<Table::Column> columns;
  columns.reserve(titles.size());
  for (const std::string& title : titles)
    columns.push_back({title, Table::Align::left});
  Table text(columns);
  for (const advice::TableRow& row : table.rows) {
    std::vector<std::string> cells;
    cells.reserve(titles.size());
    for (const std::string& title : titles)
      cells.push_back(shown(row, title));
    text.add(std::move(cells));
  }
  print(text.text(Palette::for_stdout()));
  return exit_status::done;
}

advice::Question question_of(const AdviseOptions& options) {
  advice::Question question;
  question.task = text_of(options.task).value_or(question.task);
  if (const auto size = text_of(options.size))
    question.parameters = advice::parse_parameters(*size, "--model-size");
  question.quantization = text_of(options.quantization).value_or("");
  if (const auto memory = text_of(options.memory)) {
    constexpr std::uint64_t least = 1'000'000; // as of a memory budget
    const std::uint64_t bytes = estimate::parse_target(*memory, "--vram").memory_bytes;
    if (bytes < least)
      throw input_error(
          fmt::format("--vram: {} is {} bytes; accepted: at least 1MB, such as 16GB", in_quotes(*memory), bytes));
    question.memory_bytes = static_cast<double>(bytes);
  }
  question.model = text_of(options.model).value_or("");
  question.data = text_of(options.data).value_or("");
  constexpr std::int64_t most = 1'000'000'000'000;
  question.examples = integer_of(options.examples, 1, most);
  if (!question.examples) {
    data::DataPool pool;
    const run::RunSpec standard;
    question.examples = pool.train_examples(question.data.empty() ? standard.data : question.data);
  }
  return question;
}

Json finding_json(const Finding& finding) {
  Json json{{"rule", finding.rule},
            {"severity", advice::to_string(finding.severity)},
            {"title", finding.title},
            {"message", finding.message},
            {"value", json_number(finding.value)},
            {"mend", finding.mend},
            {"source", finding.source}};
  json["changes"] = Json::object();
  for (const auto& [key, value] : finding.changes)
    json["changes"][key] = value;
  return json;
}

Colour colour_of(advice::Severity severity) {
  return severity == advice::Severity::critical      ? Colour::bad
         : severity == advice::Severity::information ? Colour::dim
                                                     : Colour::accent;
}

int judge_run(std::int64_t run, const Context& context) {
  const store::RunReader reader(context.database());
  const std::vector<Finding> findings = advice::judge(reader, run);
  if (context.json) {
    Json json{{"run", run}, {"rules", advice::lints().size()}, {"findings", Json::array()}};
    for (const Finding& finding : findings)
      json["findings"].push_back(finding_json(finding));
    print_json(json);
    return exit_status::done;
  }
  const Palette palette = Palette::for_stdout();
  for (const Finding& finding : findings)
    print(fmt::format("{}: {}\n  {}\n  fix: {}\n  source: {}\n\n", advice::to_string(finding.severity),
                      palette.paint(colour_of(finding.severity), finding.title), finding.message, finding.mend,
                      finding.source));
  print(fmt::format("{} rules, {}\n", advice::lints().size(),
                    findings.empty() ? "nothing found" : fmt::format("{} found", findings.size())));
  return exit_status::done;
}

int run_advise(const AdviseOptions& options, const Context& context) {
  exclude(options.run, options.table);
  for (const CLI::Option* question : options.questions()) {
    exclude(options.run, question);
    exclude(options.table, question);
  }
  if (const auto run = integer_of(options.run))
    return judge_run(*run, context);
  if (const auto table = text_of(options.table))
    return print_table(*table, context);
  const Advice advice = advice::advise(question_of(options));
  if (context.json)
    print_json(advice_json(advice));
  else
    print_advice(advice);
  return exit_status::done;
}

} // namespace

Verb add_advise(CLI::App& program) {
  auto* app = program.add_subcommand(
      "advise", "Say which sizes the sources advise; with RUN, what is wrong with a stored run and what mends it");
  auto options = std::make_shared<AdviseOptions>();
  options->run = add_argument(*app, "RUN", "Number of a stored run to judge, beside the other runs of its sweep");
  options->task = add_value(*app, "--task", "TASK",
                            "What for: scratch (default), instruction-tuning or another one of --table tasks");
  options->size = add_value(*app, "--model-size", "P", "Number of parameters of the model, such as 7B or 110M");
  options->quantization = add_value(*app, "--quantization", "Q", "4bit or 16bit weights (default: rows of both)");
  options->memory = add_value(*app, "--vram", "SIZE|CARD", "Memory of the device: 16GB, or a GPU such as rtx-4090");
  options->examples =
      add_value(*app, "--examples", "N", "Training examples, which limit the batch (default: those of --data)");
  options->model = add_value(*app, "--model", "MODEL", "Model of the commands, as for train (default cnn)");
  options->data = add_value(*app, "--data", "DATA", "Data of the commands, as for train (default demo)");
  options->table =
      add_value(*app, "--table", "NAME", fmt::format("Print a whole table: {}", fmt::join(table_names, ", ")));
  return {app, [options](const Context& context) { return run_advise(*options, context); }};
}

} // namespace batchscope::cli
