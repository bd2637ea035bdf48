#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/output.h"
#include "app/cli/run_options.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/run/run_plan.h"
#include "core/schedule/progression.h"
#include "core/telemetry/english.h"
#include "core/telemetry/event_codec.h"

namespace batchscope::cli {

namespace {

using schedule::PlannedStep;
using schedule::Progression;
using schedule::ProgressionOptions;

struct PlanOptions {
  RunOptions run;
  CLI::Option* examples = nullptr;
  CLI::Option* world = nullptr;
  CLI::Option* tensor = nullptr;
  CLI::Option* context = nullptr;
  CLI::Option* sequence = nullptr;
};

/// Longer plans are written only if --steps is given.
constexpr double max_steps = 10'000'000;
/// Limit of each stream, so that sums over all stay in range.
constexpr std::int64_t max_stream_examples = 1'000'000'000'000;

std::string steps_text(double steps) {
  constexpr double exact = 1e15; // a double represents every integer up to here
  return steps < exact ? format_count(std::llround(steps)) : fmt::format("{:.3g}", steps);
}

/// Reads `--examples 1000`, or the examples of several streams: `--examples a=1000,b=200`.
data::ExampleCounts examples_of(const PlanOptions& options) {
  const std::string text = *text_of(options.examples);
  if (text.find('=') == std::string::npos)
    return *integer_of(options.examples);
  std::vector<data::Stream> streams;
  for (const auto& [name, count] : parse_named("streams:" + text, "--examples").parameters)
    streams.push_back({name, parse_integer(count, "--examples: " + name, 1, max_stream_examples)});
  return streams;
}

/// The size that the schedule asked for, and the one that was taken; the same for one that gave none.
std::pair<std::int64_t, std::int64_t> sizes_of(const schedule::ScheduleEvent& event) {
  if (const auto* clamp = std::get_if<telemetry::Clamp>(&event.what))
    return {clamp->asked, clamp->taken};
  const std::int64_t kept = std::get<telemetry::ScheduleProblem>(event.what).batch.value_or(0);
  return {kept, kept};
}

/// Data with streams of these names, against which the other options are checked.
std::string data_of(const data::ExampleCounts& examples) {
  std::string text;
  for (const data::Stream& stream : examples.streams)
    text += fmt::format("{}{}=synthetic:examples={},shape=1,classes=2", text.empty() ? "" : ",", stream.name,
                        stream.examples);
  return text;
}

/// Returns the options that the training loop would use for this run. Throws Error (input) if the plan is too long.
ProgressionOptions progression_options(const PlanOptions& options, const run::RunSpec& spec) {
  const std::int64_t ranks =
      data::data_parallel_size(integer_of(options.world).value_or(1), integer_of(options.tensor).value_or(1),
                               integer_of(options.context).value_or(1), integer_of(options.sequence).value_or(1));
  const run::RunPlan plan = run::plan_run(spec, examples_of(options), spec.batch.number, ranks);
  if (plan.estimated_steps > max_steps)
    throw input_error(fmt::format("the plan has about {} steps; accepted: up to {}, or any number given with "
                                  "--steps",
                                  steps_text(plan.estimated_steps), format_count(std::llround(max_steps))));
  return plan.options;
}

/// A number with a point or an exponent, as JSON readers expect of one that is not a count.
void append_number(fmt::memory_buffer& buffer, double value) {
  if (!std::isfinite(value)) {
    fmt::format_to(std::back_inserter(buffer), "{}", json_text(json_number(value)));
    return;
  }
  const std::size_t before = buffer.size();
  fmt::format_to(std::back_inserter(buffer), "{}", value);
  const std::string_view written(buffer.data() + before, buffer.size() - before);
  if (written.find_first_of(".e") == std::string_view::npos)
    fmt::format_to(std::back_inserter(buffer), ".0");
}

void append_takes(fmt::memory_buffer& buffer, const data::StepTakes& takes) {
  const auto out = std::back_inserter(buffer);
  const auto ranks = static_cast<std::size_t>(takes.ranks);
  for (std::size_t i = 0; i < takes.takes.size(); ++i)
    fmt::format_to(out, "{}{}", i == 0 ? "[[" : i % ranks == 0 ? "], [" : ", ", takes.takes[i]);
  fmt::format_to(out, "]]");
}

void append_streams(fmt::memory_buffer& buffer, const std::vector<data::StreamTake>& takes,
                    const std::vector<data::Stream>& streams) {
  const auto out = std::back_inserter(buffer);
  for (std::size_t i = 0; i < takes.size(); ++i) {
    const double size = static_cast<double>(streams[i].examples);
    fmt::format_to(out, "{}\"{}\": {{\"examples\": {}, \"epoch_index\": {}, \"train_coverage\": ", i == 0 ? "{" : ", ",
                   streams[i].name, takes[i].count, takes[i].epoch_index);
    append_number(buffer, five_decimals(static_cast<double>(takes[i].seen_in_epoch) / size));
    fmt::format_to(out, ", \"epoch\": ");
    append_number(buffer, five_decimals(static_cast<double>(takes[i].seen_in_total) / size));
    fmt::format_to(out, "}}");
  }
  fmt::format_to(out, "}}");
}

/// Writes the steps one by one: a plan of a million steps never is one document in memory.
class JsonPlan {
public:
  /// Prints nothing yet: the plan may still turn out to be refused.
  JsonPlan(bool with_rate, std::vector<data::Stream> streams) : with_rate_(with_rate), streams_(std::move(streams)) {
    fmt::format_to(std::back_inserter(buffer_), "{{\"steps\": [");
  }

  void step(const PlannedStep& step) {
    const auto out = std::back_inserter(buffer_);
    fmt::format_to(out, "{}\n{{\"step\": {}, \"epoch_index\": {}, \"takes\": ", step.step == 1 ? "" : ",", step.step,
                   step.takes.epoch_index);
    append_takes(buffer_, step.takes);
    fmt::format_to(out,
                   ", \"batch\": {}, \"accumulate\": {}, \"effective_batch\": {}, \"train_coverage\": ", step.batch,
                   step.takes.accumulate, step.takes.examples);
    append_number(buffer_, five_decimals(step.train_coverage));
    fmt::format_to(out, ", \"epoch\": ");
    append_number(buffer_, five_decimals(step.epoch));
    if (with_rate_) {
      fmt::format_to(out, ", \"learning_rate\": ");
      append_number(buffer_, step.learning_rate);
    }
    if (!streams_.empty()) {
      fmt::format_to(out, ", \"streams\": ");
      append_streams(buffer_, step.takes.streams, streams_);
    }
    fmt::format_to(out, "}}");
    if (buffer_.size() > flush_at)
      flush();
  }

  void event(const schedule::ScheduleEvent& event) {
    const auto [asked, given] = sizes_of(event);
    const telemetry::Event reported{.step = event.step, .body = body_of(event)};
    const Json json{{"step", event.step},
                    {"kind", telemetry::kind_of(reported.body)},
                    {"asked", asked},
                    {"given", given},
                    {"message", telemetry::english(reported)}};
    events_ += events_.empty() ? "" : ",";
    events_ += '\n' + json_text(json);
  }

  void end(std::int64_t steps, std::int64_t seen) {
    fmt::format_to(std::back_inserter(buffer_), "\n], \"total_steps\": {}, \"examples_seen\": {}, \"events\": [{}]}}\n",
                   steps, seen, events_);
    flush();
  }

private:
  static constexpr std::size_t flush_at = 1 << 16;

  void flush() {
    print({buffer_.data(), buffer_.size()});
    buffer_.clear();
  }

  bool with_rate_;
  std::vector<data::Stream> streams_;
  fmt::memory_buffer buffer_;
  std::string events_;
};

/// The first and the last rows, for people.
class TextPlan {
public:
  TextPlan(bool with_rate, std::vector<data::Stream> streams) : with_rate_(with_rate), streams_(std::move(streams)) {}

  void step(const PlannedStep& step) {
    auto& rows = first_.size() < shown ? first_ : last_;
    if (last_.size() == shown)
      last_.pop_front();
    rows.push_back(cells(step));
  }

  void event(const schedule::ScheduleEvent& event) {
    ++events_;
    if (events_ <= shown)
      notes_ += fmt::format("from step {}: {}\n", format_count(event.step + 1),
                            telemetry::english(telemetry::Event{.body = body_of(event)}));
  }

  void end(std::int64_t steps, std::int64_t seen) const {
    std::vector<Table::Column> columns{
        {"step"}, {"epoch"}, {"coverage"}, {"batch"}, {"accumulate"}, {"effective"}, {"takes", Table::Align::left}};
    if (with_rate_)
      columns.insert(columns.end() - 1, {"learning rate"});
    for (const data::Stream& stream : streams_)
      columns.insert(columns.end() - 1, {stream.name});
    Table table(columns);
    for (const auto& row : first_)
      table.add(row);
    if (steps > static_cast<std::int64_t>(first_.size() + last_.size()))
      table.add(std::vector<std::string>(columns.size(), "..."), Colour::dim);
    for (const auto& row : last_)
      table.add(row);
    print(table.text(Palette::for_stdout()));
    print(fmt::format("\n{} steps, {} examples\n", format_count(steps), format_count(seen)));
    print(notes_);
    if (events_ > shown)
      print(fmt::format("... and {} more\n", format_count(static_cast<std::int64_t>(events_ - shown))));
  }

private:
  static constexpr std::size_t shown = 12; ///< rows at each end

  std::vector<std::string> cells(const PlannedStep& step) const {
    fmt::memory_buffer takes;
    append_takes(takes, step.takes);
    std::string text(takes.data(), std::min<std::size_t>(takes.size(), 60));
    std::vector<std::string> row{
        format_count(step.step),  fmt::format("{:.5f}", step.epoch),   fmt::format("{:.5f}", step.train_coverage),
        format_count(step.batch), format_count(step.takes.accumulate), format_count(step.takes.examples)};
    if (with_rate_)
      row.push_back(figure(step.learning_rate, 6));
    for (const data::StreamTake& take : step.takes.streams)
      row.push_back(format_count(take.count));
    row.push_back(text + (takes.size() > 60 ? "..." : ""));
    return row;
  }

  bool with_rate_;
  std::vector<data::Stream> streams_; ///< a column each: examples in the step
  std::deque<std::vector<std::string>> first_;
  std::deque<std::vector<std::string>> last_;
  std::size_t events_ = 0;
  std::string notes_;
};

template <typename Output> void walk(const ProgressionOptions& options, Output output) {
  Progression progression(options, [&](const schedule::ScheduleEvent& event) { output.event(event); });
  std::int64_t seen = 0;
  while (const auto step = progression.next()) {
    output.step(*step);
    seen = step->takes.seen_in_total;
    progression.done();
  }
  output.end(progression.steps_done(), seen);
}

int run_plan(const PlanOptions& options, const Context& context) {
  require(options.examples, "give the number of training examples in an epoch");
  require(options.run.find("--batch"), "give the first batch size");
  run::RunSpec spec;
  spec.data = data_of(examples_of(options));
  if (spec.data.empty())
    spec.data = run::RunSpec{}.data;
  options.run.apply(spec);
  if (spec.batch.kind != run::BatchChoice::Kind::number)
    throw input_error(fmt::format("--batch: \"{}\" is not accepted by plan, which does not search; accepted: a number",
                                  run::to_string(spec.batch)));
  if (!spec.learning_rate)
    for (const char* option : {"--lr-rule", "--lr-reference-batch", "--lr-decay", "--warmup"})
      if (options.run.find(option)->count() > 0)
        throw input_error(fmt::format("{} has no effect without --lr; give --lr too", option));
  check(spec);
  const ProgressionOptions plan = progression_options(options, spec);
  if (plan.learning_rate.rule == schedule::LearningRateRule::adascale)
    throw input_error("--lr-rule: \"adascale\" sets the learning rate by what is measured during training; accepted by "
                      "plan: none, linear, sqrt");
  if (spec.shares.starts_with("loss:"))
    throw input_error("--shares: loss follows the losses measured during training; accepted by plan: constant, "
                      "piecewise and linear shares");
  if (Progression(plan).needs_feedback())
    throw input_error(fmt::format("--schedule: {} depends on values measured during training; accepted by plan: "
                                  "schedules without loss, noise_scale, vram_fraction and tokens",
                                  in_quotes(spec.schedule)));
  if (context.json)
    walk(plan, JsonPlan(spec.learning_rate.has_value(), plan.sampler.streams));
  else
    walk(plan, TextPlan(spec.learning_rate.has_value(), plan.sampler.streams));
  return exit_status::done;
}

} // namespace

Verb add_plan(CLI::App& program) {
  auto* app = program.add_subcommand("plan", "Print what a schedule does at each step, without training");
  auto options = std::make_shared<PlanOptions>();
  options->examples = add_value(*app, "--examples", "N",
                                "Training examples in an epoch, or those of several data streams: "
                                "a=1000,b=200 (required)");
  options->world = add_value(*app, "--world", "W", "World size: number of processes (default 1)");
  options->tensor = add_value(*app, "--tp", "N", "Tensor-parallel size; data-parallel ranks = W / (tp * cp * sp)");
  options->context = add_value(*app, "--cp", "N", "Context-parallel size");
  options->sequence = add_value(*app, "--sp", "N", "Sequence-parallel size (Ulysses-style: with ranks of its own)");
  options->run.add_to(*app, {"--name",
                             "--init",
                             "--save",
                             "--model",
                             "--data",
                             "--group-by-length",
                             "--device",
                             "--memory-budget",
                             "--optimizer",
                             "--momentum",
                             "--weight-decay",
                             "--dropout",
                             "--label-smoothing",
                             "--regularization-rule",
                             "--task",
                             "--clip",
                             "--examples",
                             "--evaluate-every",
                             "--noise-every",
                             "--checkpoint-every",
                             "--checkpoint-minutes",
                             "--seed",
                             "--on-oom",
                             "--margin"});
  app->get_option("--batch")->description("First batch size (required)");
  app->get_option("--lr")->description("Learning rate at the reference batch size; without it none is printed");
  app->footer(schedule_help());
  return {app, [options](const Context& context) { return run_plan(*options, context); }};
}

} // namespace batchscope::cli
