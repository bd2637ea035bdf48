#include "core/advice/advice.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/advice/detail/computed_memory.h"
#include "core/advice/sources.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/run/automatic_batch.h"
#include "core/run/spec_fields.h"

namespace batchscope::advice {

namespace {

constexpr double billion = 1e9;

std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> count_of(const std::string& text) {
  const auto value = number_of(text);
  return value ? std::optional<std::int64_t>(std::llround(*value)) : std::nullopt;
}

std::optional<Range> range_of(const std::string& text) {
  if (text.empty())
    return std::nullopt;
  const std::size_t dash = text.find('-');
  const auto low = count_of(text.substr(0, dash));
  const auto high = dash == std::string::npos ? low : count_of(text.substr(dash + 1));
  if (!low || !high || *low < 1 || *high < *low)
    throw Error(Error::Kind::failed, fmt::format("the table of sizes is damaged: {}", in_quotes(text)));
  return Range{*low, *high};
}

bool has_word(const std::string& words, const std::string& word) {
  return (' ' + words + ' ').find(' ' + word + ' ') != std::string::npos;
}

/// Whether the row is about this model and this memory; what the question leaves open excludes only rows that are
/// about a certain model.
bool applies(const TableRow& row, const Question& question) {
  const auto within = [&](const std::optional<double>& value, const char* least, const char* below, double unit) {
    const auto low = number_of(row.at(least)), high = number_of(row.at(below));
    if (!value)
      return true;
    return !(low && *value < *low * unit) && !(high && *value >= *high * unit);
  };
  if (!row.at("tasks").empty() && !has_word(row.at("tasks"), question.task))
    return false;
  if (!question.quantization.empty() && !row.at("quantization").empty() &&
      row.at("quantization") != question.quantization)
    return false;
  return within(question.parameters, "model_min", "model_max", billion) &&
         within(question.memory_bytes, "memory_min", "memory_max", billion);
}

bool is_certain(const TableRow& row, const Question& question) {
  const auto open = [&](bool known, std::initializer_list<const char*> conditions) {
    return !known && std::any_of(conditions.begin(), conditions.end(),
                                 [&](const char* condition) { return !row.at(condition).empty(); });
  };
  return !open(question.memory_bytes.has_value(), {"memory_min", "memory_max"}) &&
         !open(question.parameters.has_value(), {"model_min", "model_max"}) &&
         !open(!question.quantization.empty(), {"quantization"});
}

SizeRow size_row(const TableRow& row, const Question& question) {
  SizeRow size;
  size.certain = is_certain(row, question);
  size.micro_batch = range_of(row.at("micro_batch"));
  size.accumulate = range_of(row.at("accumulate"));
  size.effective_batch = range_of(row.at("effective_batch"));
  size.ranks = count_of(row.at("ranks"));
  size.least = count_of(row.at("least"));
  size.most = count_of(row.at("most"));
  size.quantization = row.at("quantization");
  size.why = row.at("why");
  size.source = cite(row.at("source"), row.at("section"));
  return size;
}

const Task& task_of(const std::string& key) {
  for (const Task& task : tasks())
    if (task.key == key)
      return task;
  std::vector<std::string> keys;
  for (const Task& task : tasks())
    keys.push_back(task.key);
  throw input_error(fmt::format("--task: {} is not accepted; accepted: {}", in_quotes(key), fmt::join(keys, ", ")));
}

std::int64_t divided_up(std::int64_t whole, std::int64_t part) {
  return (whole + part - 1) / part;
}

/// The most examples of a step that leave enough steps in an epoch; nothing if the data are not known.
std::optional<std::int64_t> most_by_data(const Question& question) {
  if (!question.examples)
    return std::nullopt;
  return std::max<std::int64_t>(1, *question.examples / run::min_steps_in_epoch);
}

/// Sizes to start with: micro batches that the memory allows, accumulated to `effective`. Without `accumulate`, the
/// fewest of them.
StepSizes start_with(const std::optional<Range>& micro, const std::optional<Range>& accumulate,
                     const std::optional<std::int64_t>& effective, std::int64_t ranks) {
  StepSizes start;
  start.ranks = ranks;
  if (!micro) {
    start.batch = divided_up(effective.value_or(1), ranks);
    return start;
  }
  if (!effective) {
    start.batch = micro->low;
    start.accumulate = accumulate ? accumulate->low : 1;
    return start;
  }
  const std::int64_t on_rank = divided_up(*effective, ranks);
  // With accumulation: a small micro batch, unless the accumulation would be longer than the row says.
  start.batch = accumulate ? std::clamp(divided_up(on_rank, accumulate->high), micro->low, micro->high) : micro->high;
  start.batch = std::min(start.batch, on_rank);
  start.accumulate = divided_up(on_rank, start.batch);
  if (!accumulate)
    start.batch = divided_up(on_rank, start.accumulate);
  return start;
}

run::RunSpec base_spec(const Question& question, const Task& task) {
  run::RunSpec spec;
  if (!question.model.empty())
    spec.model = question.model;
  if (!question.data.empty())
    spec.data = question.data;
  std::string options = task.options;
  while (!options.empty()) { // `--key value --key value`
    const std::size_t key_end = options.find(' ');
    const std::size_t value_end = std::min(options.find(' ', key_end + 1), options.size());
    std::string key = options.substr(2, key_end - 2);
    std::replace(key.begin(), key.end(), '-', '_');
    run::set_field(spec, key, options.substr(key_end + 1, value_end - key_end - 1));
    options.erase(0, std::min(value_end + 1, options.size()));
  }
  return spec;
}

/// Fills in what follows from the start: the run, or for several ranks its plan, and the command.
void finish(const run::RunSpec& base, const Question& question, const StepSizes& start,
            std::optional<run::RunSpec>& spec, std::string& command) {
  constexpr std::int64_t usual_examples = 50'000;
  if (start.ranks > 1) {
    command = fmt::format("batchscope-cli plan --examples {} --world {} --batch {} --accumulate {} --epochs 1",
                          question.examples.value_or(usual_examples), start.ranks, start.batch, start.accumulate);
    return;
  }
  spec = base;
  spec->batch = {.kind = run::BatchChoice::Kind::number, .number = start.batch};
  spec->accumulate = start.accumulate;
  run::check(*spec);
  command = "batchscope-cli train " + run::to_command_line(*spec);
}

void limit(StepSizes& start, const Question& question) {
  const auto most = most_by_data(question);
  if (!most || start.effective() <= *most || start.ranks > 1)
    return;
  start.batch = std::min(start.batch, *most);
  start.accumulate = std::max<std::int64_t>(1, *most / start.batch);
}

/// Whether two ranges have no more than an end in common.
bool disagree(const Range& a, const Range& b) {
  if (a.low == a.high || b.low == b.high)
    return a.high < b.low || b.high < a.low;
  return a.high <= b.low || b.high <= a.low;
}

void add_disagreement(Advice& advice, const char* what, std::optional<Range> SizeRow::*member) {
  std::vector<std::pair<Range, std::string>> said;
  for (const SizeRow& row : advice.rows)
    if (const auto& range = row.*member; range && row.certain)
      said.emplace_back(*range, row.source);
  const bool any = std::any_of(said.begin(), said.end(), [&](const auto& a) {
    return std::any_of(said.begin(), said.end(), [&](const auto& b) { return disagree(a.first, b.first); });
  });
  if (!any)
    return;
  std::vector<std::string> parts;
  for (const auto& [range, source] : said)
    if (std::string part = fmt::format("{} ({})", range.text(), source);
        std::find(parts.begin(), parts.end(), part) == parts.end())
      parts.push_back(std::move(part));
  advice.disagreements.push_back(
      fmt::format("The sources disagree on the {}: {}. All rows are kept.", what, fmt::join(parts, "; ")));
}

void add_memory_left(Advice& advice, const Question& question) {
  constexpr double kept_free = 2 * billion;
  if (!question.parameters || !question.memory_bytes || question.quantization.empty())
    return;
  const double weights = *question.parameters * (question.quantization == "4bit" ? 0.5 : 2);
  const double left = *question.memory_bytes - weights - kept_free;
  const auto bytes = [](double value) { return format_bytes(static_cast<std::uint64_t>(std::llround(value))); };
  advice.remarks.push_back(
      fmt::format("{} parameters in {} take {}; of {}, {} ({}).", parameters_text(*question.parameters),
                  question.quantization == "4bit" ? "4 bit" : "16 bit", bytes(weights), bytes(*question.memory_bytes),
                  left > 0 ? bytes(left) + " are left for batches, with 2 GB kept free"
                           : "nothing is left for batches: use a smaller model, fewer bits, or several GPUs",
                  cite("unsloth", "decision tree")));
}

void add_data_limit(Advice& advice, const Question& question, std::int64_t asked) {
  if (const auto most = most_by_data(question); most && asked > *most)
    advice.remarks.push_back(fmt::format(
        "{} training examples: the effective batch is limited to {}, so that an epoch has at least {} steps.",
        format_count(*question.examples), format_count(*most), run::min_steps_in_epoch));
}

/// Combines the rows: the first row that has a size decides on it.
void combine(Advice& advice, const run::RunSpec& base, const Question& question) {
  const SizeRow *by_memory = nullptr, *by_task = nullptr;
  for (const SizeRow& row : advice.rows) {
    if (row.micro_batch && row.certain && by_memory == nullptr)
      by_memory = &row;
    if (row.effective_batch && row.certain && by_task == nullptr)
      by_task = &row;
  }
  if (by_memory == nullptr && by_task == nullptr)
    return;
  const std::int64_t ranks = by_task != nullptr ? by_task->ranks.value_or(1) : 1;
  StepSizes start = start_with(by_memory != nullptr ? by_memory->micro_batch : std::nullopt,
                               by_memory != nullptr ? by_memory->accumulate : std::nullopt,
                               by_task != nullptr ? std::optional(by_task->effective_batch->low) : std::nullopt, ranks);
  if (ranks == 1)
    add_data_limit(advice, question, start.effective());
  limit(start, question);
  advice.start = start;
  finish(base, question, start, advice.spec, advice.train_command);
}

std::vector<Task> read_tasks() {
  std::vector<Task> all;
  for (const TableRow& row : read_table("tasks").rows)
    all.push_back({.key = row.at("key"), .title = row.at("title"), .options = row.at("options")});
  return all;
}

const std::vector<TableRow>& size_table() {
  static const std::vector<TableRow> rows = read_table("sizes").rows;
  return rows;
}

} // namespace

const std::vector<Task>& tasks() {
  static const std::vector<Task> all = read_tasks();
  return all;
}

double parse_parameters(const std::string& text, const std::string& option) {
  std::string number = text;
  double unit = 1;
  if (!number.empty() && (number.back() == 'B' || number.back() == 'b'))
    unit = billion;
  else if (!number.empty() && (number.back() == 'M' || number.back() == 'm'))
    unit = 1e6;
  if (unit > 1)
    number.pop_back();
  const auto value = number_of(number);
  constexpr double least = 1, most = 1e14;
  if (!value || !(*value * unit >= least && *value * unit <= most))
    throw input_error(fmt::format("{}: {} is not accepted; accepted: a number of parameters such as 7B, 110M or 7e9",
                                  option, in_quotes(text)));
  return *value * unit;
}

std::string parameters_text(double parameters) {
  return parameters >= billion ? fmt::format("{:g}B", parameters / billion)
                               : fmt::format("{:g}M", std::max(parameters / 1e6, 0.1));
}

std::string Range::text() const {
  return low == high ? std::to_string(low) : fmt::format("{}-{}", low, high);
}

Advice advise(const Question& question) {
  const Task& task = task_of(question.task);
  if (!question.quantization.empty() && question.quantization != "4bit" && question.quantization != "16bit")
    throw input_error(
        fmt::format("--quantization: {} is not accepted; accepted: 4bit, 16bit", in_quotes(question.quantization)));
  const run::RunSpec base = base_spec(question, task);
  run::check(base);
  Advice advice;
  for (const TableRow& row : size_table()) {
    if (!applies(row, question))
      continue;
    SizeRow size = size_row(row, question);
    if (size.micro_batch || size.effective_batch) {
      size.start = start_with(size.micro_batch, size.accumulate,
                              size.effective_batch ? std::optional(size.effective_batch->low) : std::nullopt,
                              size.ranks.value_or(1));
      limit(*size.start, question);
      finish(base, question, *size.start, size.spec, size.command);
    }
    advice.rows.push_back(std::move(size));
  }
  combine(advice, base, question);
  advice.find_command =
      "batchscope-cli find " + run::to_command_line(run::RunSpec{.model = base.model, .data = base.data});
  if (question.memory_bytes)
    advice.find_command += fmt::format(" --for {:g}GB", *question.memory_bytes / billion);
  add_disagreement(advice, "micro batch", &SizeRow::micro_batch);
  add_disagreement(advice, "effective batch", &SizeRow::effective_batch);
  add_memory_left(advice, question);
  if (std::string computed = detail::computed_memory(question); !computed.empty())
    advice.remarks.push_back(std::move(computed));
  return advice;
}

} // namespace batchscope::advice
