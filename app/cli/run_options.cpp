#include "app/cli/run_options.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/schedule/batch_schedule.h"

namespace batchscope::cli {

namespace {

using train::RunSpec;

struct RunOption {
  const char* name;
  const char* placeholder; ///< null for a switch
  const char* help;
  void (*apply)(RunSpec& spec, const std::string& value, const char* name);
};

std::int64_t positive(const std::string& value, const char* name) {
  return parse_integer(value, name, 1, std::numeric_limits<std::int64_t>::max());
}

/// For members that take a text, a positive whole number or a number as it is.
template <auto member> void set_text(RunSpec& spec, const std::string& value, const char*) {
  spec.*member = value;
}
template <auto member> void set_positive(RunSpec& spec, const std::string& value, const char* name) {
  spec.*member = positive(value, name);
}
template <auto member> void set_number(RunSpec& spec, const std::string& value, const char* name) {
  spec.*member = parse_number(value, name);
}

void set_accumulate(RunSpec& spec, const std::string& value, const char* name) {
  spec.accumulate = positive(value, name);
  spec.effective_batch.reset();
}

void set_effective_batch(RunSpec& spec, const std::string& value, const char* name) {
  spec.effective_batch = positive(value, name);
  spec.accumulate = 1;
}

template <auto member> void set_length(RunSpec& spec, const std::string& value, const char* name) {
  spec.length = {};
  spec.length.*member = positive(value, name);
}

using schedule::RunLength;

const RunOption run_options[] = {
    {"--name", "TEXT", "Name of the run", set_text<&RunSpec::name>},
    {"--model", "MODEL", "cnn:width=32,norm=group | mlp:hidden=256 | resnet:width=16 | gpt:layers=4,...",
     set_text<&RunSpec::model>},
    {"--data", "DATA",
     "demo | idx:IMAGES,LABELS | text:FILE | lines:FILE | csv:FILE,target=COLUMN | synthetic:examples=1000,...",
     set_text<&RunSpec::data>},
    {"--device", "DEVICE", "cpu or cuda:N", set_text<&RunSpec::device>},
    {"--memory-budget", "SIZE", "400MB, 400MiB; default 80 % of the memory that is free",
     [](RunSpec& spec, const std::string& value, const char* name) { spec.memory_budget = parse_size(value, name); }},
    {"--batch", "N", "A number, auto, auto:largest, auto:safe or auto:recommended",
     [](RunSpec& spec, const std::string& value, const char* name) { spec.batch = train::parse_batch(value, name); }},
    {"--accumulate", "K", "Micro batches summed before an optimizer step", set_accumulate},
    {"--effective-batch", "B", "Examples in an optimizer step, instead of --accumulate", set_effective_batch},
    {"--schedule", "S", "Batch-size schedule, see below", set_text<&RunSpec::schedule>},
    {"--max-batch", "M", "Largest batch that a search or a schedule may take", set_positive<&RunSpec::max_batch>},
    {"--drop-last", nullptr, "Leave out the tail of an epoch that makes no whole batch",
     [](RunSpec& spec, const std::string&, const char*) { spec.drop_last = true; }},
    {"--lr", "X", "Learning rate (default 0.001, sgd 0.1)", set_number<&RunSpec::learning_rate>},
    {"--lr-rule", "RULE", "How the rate follows the batch: none, linear or sqrt", set_text<&RunSpec::lr_rule>},
    {"--lr-reference-batch", "B", "Effective batch that --lr is meant for", set_positive<&RunSpec::lr_reference_batch>},
    {"--lr-decay", "DECAY", "constant, cosine, linear or step", set_text<&RunSpec::lr_decay>},
    {"--warmup", "STEPS", "Steps of warm-up, or auto", set_text<&RunSpec::warmup>},
    {"--optimizer", "NAME", "sgd, adam or adamw", set_text<&RunSpec::optimizer>},
    {"--momentum", "X", "Of sgd (default 0.9)", set_number<&RunSpec::momentum>},
    {"--weight-decay", "X", "Default 0.01 for adamw, else 0", set_number<&RunSpec::weight_decay>},
    {"--dropout", "P", "0 up to, not including, 1", set_number<&RunSpec::dropout>},
    {"--label-smoothing", "X", "0 up to, not including, 1", set_number<&RunSpec::label_smoothing>},
    {"--regularization-rule", "RULE", "How weight decay and dropout follow the batch: none or sqrt",
     set_text<&RunSpec::regularization_rule>},
    {"--task", "TASK", "scratch or fine-tuning", set_text<&RunSpec::task>},
    {"--clip", "X", "Largest gradient norm", set_number<&RunSpec::clip>},
    {"--epochs", "E", "Length of the run (default: one epoch)", set_length<&RunLength::epochs>},
    {"--examples", "X", "Length of the run in examples", set_length<&RunLength::examples>},
    {"--steps", "S", "Length of the run in optimizer steps", set_length<&RunLength::steps>},
    {"--seed", "N", "Default 1",
     [](RunSpec& spec, const std::string& value, const char* name) {
       spec.seed = static_cast<std::uint64_t>(parse_integer(value, name, 0, std::numeric_limits<std::int64_t>::max()));
     }},
    {"--on-oom", "WHAT", "shrink: run the same examples again in smaller pieces; fail: end the run",
     [](RunSpec& spec, const std::string& value, const char* name) { spec.on_oom = train::parse_on_oom(value, name); }},
    {"--margin", "SHARE", "Share of the memory that the safe size leaves free (default 0.2)",
     set_number<&RunSpec::margin>},
};

} // namespace

void RunOptions::add_to(CLI::App& app, const std::vector<std::string>& without) {
  for (const RunOption& option : run_options) {
    if (std::find(without.begin(), without.end(), option.name) != without.end())
      continue;
    options_.emplace_back(option.name, option.placeholder ? add_value(app, option.name, option.placeholder, option.help)
                                                          : add_switch(app, option.name, option.help));
  }
}

const CLI::Option* RunOptions::find(const std::string& name) const {
  const auto found =
      std::find_if(options_.begin(), options_.end(), [&](const auto& each) { return each.first == name; });
  return found == options_.end() ? nullptr : found->second;
}

std::vector<std::string> RunOptions::given() const {
  std::vector<std::string> names;
  for (const auto& [name, option] : options_)
    if (option->count() > 0)
      names.push_back(name);
  return names;
}

void RunOptions::refuse_contradictions() const {
  const std::pair<const char*, const char*> contradictions[] = {{"--accumulate", "--effective-batch"},
                                                                {"--epochs", "--steps"},
                                                                {"--epochs", "--examples"},
                                                                {"--examples", "--steps"}};
  for (const auto& [one, other] : contradictions)
    if (find(one) && find(other))
      exclude(find(one), find(other));
}

void RunOptions::apply(train::RunSpec& spec) const {
  refuse_contradictions();
  for (const RunOption& option : run_options) {
    const CLI::Option* given = find(option.name);
    if (given && given->count() > 0)
      option.apply(spec, given->results().front(), option.name);
  }
}

std::string schedule_help() {
  std::string text = "Schedules:\n";
  for (const std::string& form : schedule::schedule_forms())
    text += "  " + form + '\n';
  return text;
}

std::string read_text_file(const std::string& file) {
  constexpr std::uintmax_t most_bytes = 16'000'000;
  std::error_code problem;
  const auto status = std::filesystem::status(file, problem);
  if (!std::filesystem::exists(status))
    throw input_error(fmt::format("{}: there is no such file", file));
  if (!std::filesystem::is_regular_file(status))
    throw input_error(fmt::format("{}: this is no file; accepted: a JSON file", file));
  if (std::filesystem::file_size(file, problem) > most_bytes)
    throw input_error(fmt::format("{}: too large for a description; accepted: up to 16 MB", file));
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream)
    throw input_error(fmt::format("{}: cannot be read: {}", file, std::strerror(errno)));
  return std::move(text).str();
}

} // namespace batchscope::cli
