#include "app/cli/program_options.h"

#include <set>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/run/spec_fields.h"

namespace batchscope::cli {

namespace {

/// `NAME=VALUE`, of an option that may be given several times; throws Error (input).
std::pair<std::string, std::string> named_value(const std::string& text, const char* option, const char* form) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw input_error(fmt::format("{}: {} is not accepted; accepted: {}", option, in_quotes(text), form));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// The values of a placeholder: separated by commas, or by semicolons if there is one.
std::vector<std::string> values_in(const std::string& text) {
  const char separator = text.find(';') == std::string::npos ? ',' : ';';
  std::vector<std::string> values;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(separator, begin);
    values.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
  }
  if (values.size() > 1 && values.back().empty())
    values.pop_back(); // `a,b;` is one value with a comma
  return values;
}

constexpr const char* set_form = "NAME=VALUE";

} // namespace

void ProgramOptions::add_to(CLI::App& app, bool several) {
  several_ = several;
  set_ = add_repeatable(app, "--set", several ? "NAME=V,V,..." : "NAME=VALUE",
                        several ? "Values of {NAME} in the command; separated by semicolons if they have commas. "
                                  "Repeatable"
                                : "Text for {NAME} in the command. Repeatable");
  attach_ = add_value(app, "--attach", "auto|none",
                      "auto: follow and steer what the program trains with torch, be it a Trainer of transformers or "
                      "Lightning or a loop of its own, without a change of the program (default none)");
  metrics_ = add_repeatable(app, "--metric", "NAME=REGEX",
                            "A series from what the program prints: the group of the regular expression (PCRE2) named "
                            "value, or the first without a name, is the value; a group named step is the step (steps "
                            "from 0 are taken as from 1), without which lines are counted. train/loss, lr, val_acc, "
                            "eval_loss and the like become loss, learning_rate, validation_accuracy (a fraction), "
                            "validation_loss. Repeatable");
  reads_ = add_repeatable(app, "--read", "KIND:PATH",
                          "Series from files that the program writes, read while they grow: tensorboard:DIR, csv:FILE, "
                          "trainer-state:DIR. Repeatable");
  probe_steps_ = add_value(app, "--probe-steps", "N",
                           "In a search, a batch size fits when the program has reported N steps (default 3)");
  probe_seconds_ = add_value(app, "--probe-seconds", "S",
                             "Or when it ran for S seconds without an error (default 120), or came to a good end. A "
                             "program that makes no step, or does not answer, for so long is given up");
  folder_ = add_value(app, "--cwd", "DIR", "Folder in which the program runs (default: the present one)");
  environment_ =
      add_repeatable(app, "--env", "NAME=VALUE", "A variable of the program's environment; never stored. Repeatable");
  grace_ = add_value(app, "--grace", "S",
                     "Seconds that an orderly stop may take before SIGTERM; 10 s later follows SIGKILL (default 30)");
}

std::vector<const CLI::Option*> ProgramOptions::all() const {
  return {set_, attach_, metrics_, reads_, probe_steps_, probe_seconds_, folder_, environment_, grace_};
}

void ProgramOptions::apply(run::RunSpec& spec, const std::vector<std::string>& command, const RunOptions& run) const {
  run::ProgramSpec program = spec.program.value_or(run::ProgramSpec());
  program.command = command;
  std::set<std::string> given;
  for (const std::string& text : set_->results()) {
    const auto [name, value] = named_value(text, "--set", set_form);
    if (!given.insert(name).second)
      throw input_error(fmt::format("--set {}: given twice; accepted: each name once", name));
    program.set[name] = value;
  }
  if (const auto attach = text_of(attach_)) {
    if (*attach != "auto" && *attach != "none")
      throw input_error(fmt::format("--attach: {} is not accepted; accepted: auto, none", in_quotes(*attach)));
    program.attach = *attach == "auto";
  }
  for (const std::string& text : metrics_->results()) {
    auto [name, pattern] = named_value(text, "--metric", "NAME=REGEX");
    run::Metric metric{std::move(name), std::move(pattern)};
    std::erase_if(program.metrics, [&](const run::Metric& other) { return other.name == metric.name; });
    program.metrics.push_back(std::move(metric));
  }
  if (reads_->count() > 0)
    program.reads = reads_->results();
  program.probe_steps = integer_of(probe_steps_).value_or(program.probe_steps);
  program.probe_seconds = number_of(probe_seconds_).value_or(program.probe_seconds);
  program.folder = text_of(folder_).value_or(program.folder);
  program.grace = number_of(grace_).value_or(program.grace);
  if (const CLI::Option* seed = run.find("--seed"); seed && seed->count() > 0)
    program.seeded = true;
  for (const sweep::Variation& variation : variations())
    program.set[*run::placeholder_in(variation.field)] = variation.values.front();
  spec.program = std::move(program);
}

std::vector<sweep::Variation> ProgramOptions::variations() const {
  std::vector<sweep::Variation> variations;
  if (!several_)
    return variations;
  for (const std::string& text : set_->results()) {
    const auto [name, value] = named_value(text, "--set", set_form);
    variations.push_back({.field = fmt::format("set.{}", name), .values = values_in(value), .interval = {}});
  }
  return variations;
}

program::Surroundings ProgramOptions::surroundings() const {
  program::Surroundings surroundings;
  for (const std::string& text : environment_->results())
    surroundings.environment.push_back(named_value(text, "--env", "NAME=VALUE"));
  return surroundings;
}

void ProgramOptions::refuse_given() const {
  for (const CLI::Option* option : all())
    if (option->count() > 0)
      throw input_error(
          fmt::format("{} is of a program of your own; accepted: with -- and its command", option->get_name()));
}

void ProgramOptions::refuse_settings(const CLI::Option* beside) const {
  for (const CLI::Option* option : all())
    if (option != environment_)
      exclude(beside, option);
}

std::string placeholder_help() {
  return "The command is not given to a shell. In its arguments {batch}, {accumulate}, {seed}, {run} (number of the\n"
         "run), {out} (a fresh folder of the run) and {NAME} of --set are replaced; {{ is a brace. It is stored as it "
         "is\ngiven, so no argument should be a secret; the environment is not stored.\n";
}

} // namespace batchscope::cli
