#include "ui/new_run/form_fields.h"

#include <QCoreApplication>
#include <QLocale>

#include <algorithm>
#include <string_view>

#include "core/base/error.h"
#include "core/base/shell_words.h"
#include "core/base/text.h"
#include "ui/texts/field_edit.h"

namespace batchscope::ui {

namespace {

using Fields = std::vector<const run::SpecField*>;

const char* const attach_choice = "auto";
const char* const no_attach_choice = "none";
constexpr std::int64_t most_probe_steps = 1'000'000;

/// The fields of run::ProgramSpec. They have no member: form_text() and set_form_field() know them.
const std::vector<run::SpecField>& program_fields() {
  using Kind = run::SpecField::Kind;
  static const std::vector<run::SpecField> fields = {
      {.key = "command",
       .label = "Command",
       .placeholder = "python train.py --batch-size {batch}",
       .help = "The program and its arguments, as in a terminal but without a shell. {batch}, {accumulate}, {seed}, "
               "{run}, {out} (a fresh folder) and the names of your own placeholders are replaced; {{ is a brace",
       .option = "-- COMMAND"},
      {.key = "folder",
       .label = "Folder",
       .help = "Folder in which the program runs",
       .default_text = "BatchScope's current folder",
       .option = "--cwd"},
      {.key = "attach",
       .label = "Attach",
       .choices = {attach_choice, no_attach_choice},
       .help = "auto finds the program's transformers or Lightning Trainer, or else its PyTorch training loop, and "
               "steers it without changes to your code",
       .default_text = attach_choice,
       .option = "--attach",
       .kind = Kind::choice},
      {.key = "set",
       .label = "Placeholders",
       .placeholder = "lr=0.001",
       .help = "Placeholders of your own, NAME=VALUE, one in a line; {NAME} in the command becomes VALUE, and a sweep "
               "can vary it",
       .advanced = true,
       .option = "--set"},
      {.key = "metrics",
       .label = "Metrics",
       .placeholder = R"(loss=loss: ([-+.\deE]+))",
       .help = "Series read from the program's output, one NAME=REGEX per line. The value is the group named value, or "
               "else the first unnamed group. The step is the group named step; without it, matching lines are counted",
       .advanced = true,
       .option = "--metric"},
      {.key = "reads",
       .label = "Files to read",
       .placeholder = "csv:logs/metrics.csv",
       .help = "Series read from files while they grow: tensorboard:DIR, csv:FILE or trainer-state:DIR, one in a line",
       .advanced = true,
       .option = "--read"},
      {.key = "probe_steps",
       .label = "Steps per trial",
       .unit = "steps",
       .help = "In a search, a batch size fits once the program has reported this many steps",
       .default_text = "3",
       .advanced = true,
       .option = "--probe-steps",
       .kind = Kind::integer},
      {.key = "probe_seconds",
       .label = "or seconds without an error",
       .unit = "seconds",
       .help = "A program that reports no steps: a batch size fits once it has run this long without an error",
       .default_text = "120",
       .advanced = true,
       .option = "--probe-seconds",
       .kind = Kind::real},
      {.key = "grace",
       .label = "Time to stop",
       .unit = "seconds",
       .help = "How long the program may take to stop cleanly before it is killed",
       .default_text = "30",
       .advanced = true,
       .option = "--grace",
       .kind = Kind::real},
  };
  return fields;
}

/// The fields of the table that programs have, with what differs for them.
const std::vector<run::SpecField>& common_fields() {
  static const std::vector<run::SpecField> fields = [] {
    std::vector<run::SpecField> found;
    for (const run::SpecField& field : run::spec_fields())
      if (field.for_programs)
        found.push_back(as_for_programs(field));
    for (run::SpecField& field : found) {
      const std::vector<std::string> main = {"batch", "accumulate", "schedule", "memory_budget", "on_oom"};
      field.advanced = std::find(main.begin(), main.end(), field.key) == main.end();
    }
    return found;
  }();
  return fields;
}

const run::SpecField* find_field(const std::vector<run::SpecField>& fields, std::string_view key) {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const auto& field) { return field.key == key; });
  return found == fields.end() ? nullptr : &*found;
}

Fields named(const std::vector<std::string_view>& keys) {
  Fields fields;
  for (const auto& key : keys) {
    const run::SpecField* common = find_field(common_fields(), key);
    fields.push_back(common ? common : find_field(program_fields(), key));
  }
  return fields;
}

Fields of_groups(const std::vector<std::string_view>& groups) {
  Fields fields;
  for (const run::SpecField& field : run::spec_fields())
    if (std::find(groups.begin(), groups.end(), field.group) != groups.end())
      fields.push_back(&field);
  return fields;
}

std::string lines_of(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values)
    text += (text.empty() ? "" : "\n") + value;
  return text;
}

std::vector<std::string> values_in(std::string_view text) {
  std::vector<std::string> values;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (const auto value = trimmed(text.substr(0, end)); !value.empty())
      values.emplace_back(value);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return values;
}

/// NAME and VALUE of NAME=VALUE.
std::pair<std::string, std::string> named_value(const std::string& text, const run::SpecField& field) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw input_error(field.option + ": " + in_quotes(text) +
                      " is not accepted; accepted: " + (field.key == "metrics" ? "NAME=REGEX" : "NAME=VALUE"));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::string shortest(double value) {
  return QLocale::c().toString(value, 'g', QLocale::FloatingPointShortest).toStdString();
}

std::string program_text(const run::ProgramSpec& program, const std::string& key) {
  std::vector<std::string> values;
  if (key == "command")
    return shell_line(program.command);
  if (key == "folder")
    return program.folder;
  if (key == "attach")
    return program.attach ? attach_choice : no_attach_choice;
  if (key == "probe_steps")
    return std::to_string(program.probe_steps);
  if (key == "probe_seconds")
    return shortest(program.probe_seconds);
  if (key == "grace")
    return shortest(program.grace);
  if (key == "set")
    for (const auto& [name, value] : program.set)
      values.push_back(name + '=' + value);
  if (key == "metrics")
    for (const run::Metric& metric : program.metrics)
      values.push_back(metric.name + '=' + metric.pattern);
  return lines_of(key == "reads" ? program.reads : values);
}

void set_numbers(run::ProgramSpec& program, const run::SpecField& field, const std::string& text) {
  const run::ProgramSpec standard;
  if (field.key == "probe_steps")
    program.probe_steps = text.empty() ? standard.probe_steps : parse_integer(text, field.option, 1, most_probe_steps);
  if (field.key == "probe_seconds")
    program.probe_seconds = text.empty() ? standard.probe_seconds : parse_number(text, field.option);
  if (field.key == "grace")
    program.grace = text.empty() ? standard.grace : parse_number(text, field.option);
}

void set_program_text(run::ProgramSpec& program, const run::SpecField& field, const std::string& text) {
  if (field.key == "command")
    program.command = shell_words(text, "--");
  if (field.key == "folder")
    program.folder = text;
  if (field.key == "attach")
    program.attach = text == attach_choice;
  if (field.key == "reads")
    program.reads = values_in(text);
  if (field.key == "set") {
    program.set.clear();
    for (const std::string& line : values_in(text))
      program.set.insert(named_value(line, field));
  }
  if (field.key == "metrics") {
    program.metrics.clear();
    for (const std::string& line : values_in(text)) {
      const auto [name, pattern] = named_value(line, field);
      program.metrics.push_back({name, pattern});
    }
  }
  set_numbers(program, field, text);
}

} // namespace

const std::vector<FormCard>& form_cards(FormKind kind) {
  static const std::vector<FormCard> network = {
      {QT_TRANSLATE_NOOP("batchscope::ui::SpecForm", "Model and data"), of_groups({"Model and data"}), 0},
      {QT_TRANSLATE_NOOP("batchscope::ui::SpecForm", "Batch size and length"), of_groups({"Batch size", "Length"}), 0},
      {QT_TRANSLATE_NOOP("batchscope::ui::SpecForm", "Optimizer and learning rate"), of_groups({"Optimizer"}), 1},
      {QT_TRANSLATE_NOOP("batchscope::ui::SpecForm", "Regularization"), of_groups({"Regularization"}), 1},
      {QT_TRANSLATE_NOOP("batchscope::ui::SpecForm", "Device"), of_groups({"Device"}), 1},
  };
  static const std::vector<FormCard> program = {
      {QT_TRANSLATE_NOOP("batchscope::ui::SpecForm", "Your program"),
       named({"command", "folder", "attach", "name", "metrics", "reads", "set", "seed", "grace"}), 0},
      {QT_TRANSLATE_NOOP("batchscope::ui::SpecForm", "Batch size"),
       named({"batch", "accumulate", "schedule", "memory_budget", "on_oom", "max_batch", "lr_rule",
              "lr_reference_batch", "device", "margin", "max_seconds", "probe_steps", "probe_seconds"}),
       0},
  };
  return kind == FormKind::network ? network : program;
}

std::vector<const run::SpecField*> form_fields(FormKind kind) {
  Fields fields;
  for (const FormCard& card : form_cards(kind))
    fields.insert(fields.end(), card.fields.begin(), card.fields.end());
  return fields;
}

run::RunSpec empty_spec(FormKind kind) {
  run::RunSpec spec;
  if (kind == FormKind::program)
    spec.program.emplace().attach = true;
  return spec;
}

std::string form_text(const run::RunSpec& spec, const run::SpecField& field) {
  return field.member ? run::field_text(spec, field.key) : program_text(*spec.program, field.key);
}

void set_form_field(run::RunSpec& spec, const run::SpecField& field, const std::string& text) {
  if (field.member)
    run::set_field(spec, field.key, text);
  else
    set_program_text(*spec.program, field, std::string(trimmed(text)));
}

std::string form_key(const std::string& key, const std::string& message) {
  if (key != "program")
    return key;
  for (const run::SpecField& field : program_fields())
    if (message.starts_with(field.option + ':'))
      return field.key;
  return "command";
}

std::vector<std::pair<std::string, std::string>> check_form(const run::RunSpec& spec) {
  auto wrong = run::check_fields(spec);
  for (auto& [key, message] : wrong)
    key = form_key(key, message);
  return wrong;
}

FieldInput input_of(const run::SpecField& field) {
  if (field.member)
    return FieldInput::usual;
  if (field.key == "command")
    return FieldInput::command;
  return field.key == "set" || field.key == "metrics" || field.key == "reads" ? FieldInput::lines : FieldInput::usual;
}

} // namespace batchscope::ui
