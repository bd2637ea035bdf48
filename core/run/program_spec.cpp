#include "core/run/program_spec.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/json_fields.h"
#include "core/base/text.h"
#include "core/run/detail/later_fields.h"

namespace batchscope::run {

template <typename Io> void fields(Io& io, typename Io::template Of<ProgramSpec>& program) {
  io("command", program.command);
  io("folder", program.folder);
  io("set", program.set);
  io("attach", program.attach);
  io.object("metrics", program.metrics, &Metric::name, &Metric::pattern);
  io("reads", program.reads);
  io("probe_steps", program.probe_steps);
  io("probe_seconds", program.probe_seconds);
  io("grace", program.grace);
  io.sparse("seeded", program.seeded);
}

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

/// The spec, and what only a later version knows of it.
std::pair<ProgramSpec, Json> program_from(const Json& json) {
  if (!json.is_object())
    throw input_error(
        fmt::format("field \"program\": {} is not accepted; accepted: an object", shortened(json_text(json))));
  for (const auto& [name, value] : json.items())
    if (value.is_null())
      throw input_error(fmt::format("field \"program.{}\": null is not accepted; accepted: a value", name));
  ProgramSpec program;
  JsonReader reader(json, JsonReader::Mistyped::refused, "program");
  fields(reader, program);
  return {std::move(program), reader.rest()};
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
  Json json = json_of_fields(program);
  add_later(program.later_json, json);
  return json;
}

ProgramSpec program_spec_from_json(const Json& json) {
  auto [program, unknown] = program_from(json);
  if (!unknown.empty())
    throw input_error(
        fmt::format("unknown field {} of a program; accepted: command, folder, set, attach, seeded, metrics, "
                    "reads, probe_steps, probe_seconds, grace",
                    in_quotes(unknown.items().begin().key())));
  return std::move(program);
}

ProgramSpec stored_program_from_json(const Json& json) {
  auto [program, later] = program_from(json);
  if (!later.empty())
    program.later_json = json_text(later);
  return std::move(program);
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
