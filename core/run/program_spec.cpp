#include "core/run/program_spec.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/run/detail/later_fields.h"

namespace batchscope::run {

namespace {

bool is_placeholder_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(),
                                      [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
}

void check_placeholder(const std::string& name) {
  const auto& reserved = reserved_placeholders();
  if (!is_placeholder_name(name))
    throw input_error(
        fmt::format("--set: {} is not accepted as a name; accepted: letters, digits, _ and -", in_quotes(name)));
  if (std::find(reserved.begin(), reserved.end(), name) != reserved.end())
    throw input_error(fmt::format("--set: {{{}}} stands for the run's own; accepted: a name other than {}", name,
                                  fmt::join(reserved, ", ")));
}

void check_metric(const Metric& metric) {
  if (metric.name.empty() || metric.pattern.empty())
    throw input_error(fmt::format("--metric: {} is not accepted; accepted: NAME=REGEX",
                                  in_quotes(fmt::format("{}={}", metric.name, metric.pattern))));
}

Error wrong_program_field(const std::string& name, const Json& given, const char* accepted) {
  return input_error(fmt::format("field \"program.{}\": {} is not accepted; accepted: {}", name,
                                 shortened(json_text(given)), accepted));
}

std::vector<std::string> texts_from(const std::string& name, const Json& json) {
  const bool valid =
      json.is_array() && std::all_of(json.begin(), json.end(), [](const Json& item) { return item.is_string(); });
  if (!valid)
    throw wrong_program_field(name, json, "a list of strings");
  return json.get<std::vector<std::string>>();
}

std::map<std::string, std::string> named_texts_from(const std::string& name, const Json& json) {
  const bool valid =
      json.is_object() && std::all_of(json.begin(), json.end(), [](const Json& item) { return item.is_string(); });
  if (!valid)
    throw wrong_program_field(name, json, "an object of strings");
  std::map<std::string, std::string> texts;
  for (const auto& [key, value] : json.items())
    texts[key] = value.get<std::string>();
  return texts;
}

double number_from(const std::string& name, const Json& json) {
  if (!json.is_number())
    throw wrong_program_field(name, json, "a number");
  return json.get<double>();
}

/// False for a field that is not known.
bool set_program_field(ProgramSpec& program, const std::string& name, const Json& json) {
  if (name == "command") {
    program.command = texts_from(name, json);
  } else if (name == "folder") {
    if (!json.is_string())
      throw wrong_program_field(name, json, "a string");
    program.folder = json.get<std::string>();
  } else if (name == "set") {
    program.set = named_texts_from(name, json);
  } else if (name == "attach") {
    if (!json.is_boolean())
      throw wrong_program_field(name, json, "true or false");
    program.attach = json.get<bool>();
  } else if (name == "seeded") {
    if (!json.is_boolean())
      throw wrong_program_field(name, json, "true or false");
    program.seeded = json.get<bool>();
  } else if (name == "metrics") {
    for (const auto& [series, pattern] : named_texts_from(name, json))
      program.metrics.push_back({series, pattern});
  } else if (name == "reads") {
    program.reads = texts_from(name, json);
  } else if (name == "probe_steps") {
    if (!json.is_number_integer())
      throw wrong_program_field(name, json, "a whole number");
    program.probe_steps = json.get<std::int64_t>();
  } else if (name == "probe_seconds") {
    program.probe_seconds = number_from(name, json);
  } else if (name == "grace") {
    program.grace = number_from(name, json);
  } else {
    return false;
  }
  return true;
}

ProgramSpec program_from(const Json& json, const std::function<void(const std::string&, const Json&)>& unknown) {
  if (!json.is_object())
    throw input_error(
        fmt::format("field \"program\": {} is not accepted; accepted: an object", shortened(json_text(json))));
  ProgramSpec program;
  for (const auto& [name, value] : json.items())
    if (!set_program_field(program, name, value))
      unknown(name, value);
  return program;
}

} // namespace

const std::vector<std::string>& reserved_placeholders() {
  static const std::vector<std::string> names{"batch", "accumulate", "seed", "run", "out"};
  return names;
}

void check(const ProgramSpec& program) {
  refuse_later(program.later_json);
  if (program.command.empty() || program.command.front().empty())
    throw input_error("no command; accepted: -- and then the program with its arguments");
  for (const auto& [name, text] : program.set)
    check_placeholder(name);
  for (const Metric& metric : program.metrics)
    check_metric(metric);
  if (program.probe_steps < 1)
    throw input_error(
        fmt::format("--probe-steps: {} is not accepted; accepted: a whole number, at least 1", program.probe_steps));
  if (!std::isfinite(program.probe_seconds) || program.probe_seconds <= 0)
    throw input_error(
        fmt::format("--probe-seconds: {} is not accepted; accepted: a number, above 0", program.probe_seconds));
  if (!std::isfinite(program.grace) || program.grace < 0)
    throw input_error(fmt::format("--grace: {} is not accepted; accepted: a number, at least 0", program.grace));
}

Json to_json(const ProgramSpec& program) {
  Json set = Json::object();
  for (const auto& [name, text] : program.set)
    set[name] = text;
  Json metrics = Json::object();
  for (const Metric& metric : program.metrics)
    metrics[metric.name] = metric.pattern;
  Json json{{"command", program.command},
            {"folder", program.folder},
            {"set", set},
            {"attach", program.attach},
            {"metrics", metrics},
            {"reads", program.reads},
            {"probe_steps", program.probe_steps},
            {"probe_seconds", program.probe_seconds},
            {"grace", program.grace}};
  if (program.seeded)
    json["seeded"] = true;
  add_later(program.later_json, json);
  return json;
}

ProgramSpec program_spec_from_json(const Json& json) {
  return program_from(json, [](const std::string& name, const Json& /*value*/) {
    throw input_error(
        fmt::format("unknown field {} of a program; accepted: command, folder, set, attach, seeded, metrics, "
                    "reads, probe_steps, probe_seconds, grace",
                    in_quotes(name)));
  });
}

ProgramSpec stored_program_from_json(const Json& json) {
  Json later = Json::object();
  ProgramSpec program =
      program_from(json, [&later](const std::string& name, const Json& value) { later[name] = value; });
  if (!later.empty())
    program.later_json = json_text(later);
  return program;
}

std::string program_name(const ProgramSpec& program) {
  const auto& command = program.command;
  if (command.empty())
    return {};
  const auto file_name = [](const std::string& path) { return path.substr(path.find_last_of('/') + 1); };
  for (std::size_t i = 1; i < command.size(); ++i) {
    if (command[i] == "-m" && i + 1 < command.size() && !command[i + 1].starts_with("torch.")) // that starts a script
      return command[i + 1];
    if (command[i].ends_with(".py"))
      return file_name(command[i]);
  }
  return file_name(command.front());
}

std::string command_text(const ProgramSpec& program) {
  std::string text;
  for (const std::string& argument : program.command)
    text += fmt::format("{}{}", text.empty() ? "" : " ", shell_quoted(argument));
  return text;
}

std::string options_text(const ProgramSpec& program) {
  const ProgramSpec standard;
  std::string text;
  const auto add = [&](const char* option, const std::string& value) {
    text += fmt::format("{} {} ", option, shell_quoted(value));
  };
  if (!program.folder.empty())
    add("--cwd", program.folder);
  if (program.attach)
    add("--attach", "auto");
  for (const auto& [name, value] : program.set)
    add("--set", fmt::format("{}={}", name, value));
  for (const Metric& metric : program.metrics)
    add("--metric", fmt::format("{}={}", metric.name, metric.pattern));
  for (const std::string& read : program.reads)
    add("--read", read);
  if (program.probe_steps != standard.probe_steps)
    add("--probe-steps", std::to_string(program.probe_steps));
  if (program.probe_seconds != standard.probe_seconds)
    add("--probe-seconds", fmt::format("{}", program.probe_seconds));
  if (program.grace != standard.grace)
    add("--grace", fmt::format("{}", program.grace));
  return fmt::format("{}-- {}", text, command_text(program));
}

} // namespace batchscope::run
