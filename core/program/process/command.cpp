#include "core/program/process/command.h"

#include <algorithm>
#include <cctype>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/program/run/read_files.h"
#include "core/program/run/text_metrics.h"
#include "core/telemetry/message.h"

namespace batchscope::program {

namespace {

bool is_name_character(unsigned char c) {
  return std::isalnum(c) != 0 || c == '_' || c == '-';
}

/// The argument with `value` called for each name in braces.
std::string replaced(const std::string& argument, const std::function<std::string(const std::string&)>& value) {
  std::string result;
  for (std::size_t at = 0; at < argument.size(); ++at) {
    if (argument[at] != '{') {
      result += argument[at];
      continue;
    }
    if (argument.compare(at, 2, "{{") == 0) {
      result += argument[at++];
      continue;
    }
    const auto begin = argument.begin() + static_cast<std::ptrdiff_t>(at) + 1;
    const auto end = std::find_if_not(begin, argument.end(), is_name_character);
    if (begin == end || end == argument.end() || *end != '}') {
      result += '{';
      continue;
    }
    result += value(std::string(begin, end));
    at = static_cast<std::size_t>(end - argument.begin());
  }
  return result;
}

Error unknown_name(const run::ProgramSpec& program, const std::string& name) {
  std::vector<std::string> known;
  for (const std::string& reserved : run::reserved_placeholders())
    known.push_back(fmt::format("{{{}}}", reserved));
  for (const auto& [own, text] : program.set)
    known.push_back(fmt::format("{{{}}}", own));
  return input_error(fmt::format("{{{}}} in the command is not known; accepted: {}, names given by --set (in the "
                                 "window: Placeholders), and {{{{ for a brace",
                                 shortened(name), fmt::join(known, ", ")),
                     "program");
}

std::string value_of(const run::ProgramSpec& program, const Filling& filling, const std::string& name) {
  if (name == "batch" && !filling.batch)
    throw input_error("{batch} is in the command, but no batch size is set; accepted: --batch with a number", "batch");
  if (name == "batch")
    return std::to_string(*filling.batch);
  if (name == "accumulate")
    return std::to_string(filling.accumulate);
  if (name == "seed")
    return std::to_string(filling.seed);
  if (name == "run")
    return std::to_string(filling.run);
  if (name == "out")
    return filling.out.string();
  const auto own = program.set.find(name);
  if (own == program.set.end())
    throw unknown_name(program, name);
  return own->second;
}

} // namespace

Filling filling_of(const run::RunSpec& spec, const run::RunPlace& place, const std::filesystem::path& out) {
  Filling filling{.accumulate = spec.accumulate, .seed = spec.seed, .run = place.run, .out = out};
  if (spec.batch.kind == run::BatchChoice::Kind::number)
    filling.batch = spec.batch.number;
  return filling;
}

std::vector<std::string> filled_command(const run::ProgramSpec& program, const Filling& filling) {
  std::vector<std::string> arguments;
  for (const std::string& argument : program.command)
    arguments.push_back(replaced(argument, [&](const std::string& name) { return value_of(program, filling, name); }));
  return arguments;
}

std::set<std::string> placeholders_of(const run::ProgramSpec& program) {
  std::set<std::string> names;
  for (const std::string& argument : program.command)
    replaced(argument, [&](const std::string& name) {
      names.insert(name);
      return std::string();
    });
  return names;
}

bool sends_batch(const run::RunSpec& spec) {
  return spec.batch.kind == run::BatchChoice::Kind::number && !placeholders_of(*spec.program).contains("batch");
}

std::optional<std::uint64_t> sent_seed(const run::RunSpec& spec) {
  const bool given = spec.program->seeded || spec.seed != run::RunSpec{}.seed;
  return spec.program->attach && given ? std::optional(spec.seed) : std::nullopt;
}

namespace {

bool sends_accumulation(const run::RunSpec& spec) {
  return spec.accumulate > 1 && !placeholders_of(*spec.program).contains("accumulate");
}

telemetry::Words words_of_level(int level) {
  return level == 0 ? telemetry::Words::not_connected : telemetry::Words::only_reports;
}

} // namespace

bool follows_settings(const run::RunSpec& spec, int level, bool first_batch) {
  const bool changes = spec.schedule != "constant" || sends_accumulation(spec);
  return level >= 2 || (!changes && (first_batch || !sends_batch(spec)));
}

telemetry::Reason why_not_steered(int level) {
  return telemetry::because(words_of_level(level));
}

telemetry::Reason not_followed(const run::RunSpec& spec, int level) {
  using telemetry::Words;
  std::map<std::string, telemetry::Value> args{{"why", telemetry::id_of(words_of_level(level))}};
  if (!spec.program->attach)
    args["option"] = std::string("--attach auto"); // that makes it follow
  if (spec.schedule != "constant") {
    args["schedule"] = spec.schedule;
    return telemetry::because(Words::schedule_not_followed, std::move(args));
  }
  if (sends_batch(spec)) {
    args["batch"] = spec.batch.number;
    return telemetry::because(Words::batch_not_followed, std::move(args));
  }
  args["accumulate"] = spec.accumulate;
  return telemetry::because(Words::accumulation_not_followed, std::move(args));
}

void check_command(const run::RunSpec& spec) {
  const run::ProgramSpec& program = *spec.program;
  const std::set<std::string> names = placeholders_of(program);
  const Filling filling = filling_of(spec, {}, {});
  filled_command(program, filling);
  for (const auto& [name, text] : program.set)
    if (!names.contains(name))
      throw input_error(fmt::format("--set {}: {{{}}} is not in the command; accepted: names that are", name, name),
                        "program");
  if (filling.batch || spec.on_oom == run::OnOom::restart)
    check_takes_batch(program);
  static_cast<void>(TextMetrics(program.metrics)); // throws for a pattern that is not valid
  ReadFiles{program.reads, program.folder};
}

bool takes_batch(const run::ProgramSpec& program) {
  return program.attach || placeholders_of(program).contains("batch");
}

void check_takes_batch(const run::ProgramSpec& program) {
  if (!takes_batch(program))
    throw input_error("the program takes no batch size: put {batch} into its command, or add --attach auto, "
                      "which sends the size to a Trainer or to run.loader(...) of batchscope",
                      "program");
}

Error takes_no_batch(int level) {
  return input_error(fmt::format("the program takes no batch size: it {}; put {{batch}} into its command, or use "
                                 "batchscope's loader",
                                 level == 0 ? "does not connect to BatchScope" : "only reports its steps"),
                     "program");
}

} // namespace batchscope::program
