#include "core/program/trial/program_search.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "core/base/device_name.h"
#include "core/base/error.h"
#include "core/base/host.h"
#include "core/base/seconds_since.h"
#include "core/base/text.h"
#include "core/program/process/command.h"
#include "core/program/trial/command_trial.h"
#include "core/program/trial/live_trial.h"
#include "core/program/trial/process_trial.h"
#include "core/search/run_search.h"

namespace batchscope::program {

namespace {

/// Without --max-batch, as BatchScope does not know how many examples the program has.
constexpr std::int64_t largest_tried = 1 << 20;
/// The first size of a program that has it in its command: kernels behave alike from here on.
constexpr std::int64_t first_in_command = 8;
constexpr double share_of_free_memory = 0.8;
/// Fraction of a program's memory by which its tensors may tell it wrongly: pages, and blocks of other libraries.
constexpr double besides_tensors = 0.0005;
constexpr double least_besides_tensors = 48e3; ///< bytes

/// FinderOptions::doubt for a program with the size in its command. An error ends a process that would end anyway, so
/// the search goes up to the prediction, and checks sizes near it. Small blocks find places in the heap that the budget
/// does not count.
constexpr double doubt_in_command = 0.001;

/// FinderOptions::slack within a budget.
double slack_of(const std::optional<std::uint64_t>& budget) {
  const double bytes = static_cast<double>(budget.value_or(0));
  return bytes > 0 ? std::clamp(least_besides_tensors / bytes, besides_tensors, 0.5) : besides_tensors;
}

/// A trial of sizes, of one of three kinds.
struct OpenTrial {
  std::unique_ptr<search::Trial> trial;
  std::int64_t largest = largest_tried;
  std::optional<std::uint64_t> budget; ///< for what it measures
  std::optional<std::int64_t> first;   ///< that it has begun with
  LiveTrial* live = nullptr;           ///< one process for all sizes
  CommandTrial* command = nullptr;     ///< one for each, which knows its memory and times itself
  ProcessTrial* processes = nullptr;   ///< one for each, measured from outside
};

OpenTrial open_live(const run::RunSpec& spec, const Surroundings& surroundings, const std::function<bool()>& stop) {
  auto [trial, examples] = open_live_trial(spec, surroundings, stop);
  OpenTrial open;
  open.largest = examples.value_or(largest_tried);
  open.live = trial.get();
  open.budget = trial ? trial->budget_bytes() : std::nullopt;
  open.trial = std::move(trial);
  return open;
}

OpenTrial open_command(const run::RunSpec& spec, const Surroundings& surroundings,
                       const run::Session::SearchOptions& options) {
  const std::int64_t first = std::min(options.start.value_or(first_in_command), spec.max_batch.value_or(largest_tried));
  auto trial = open_command_trial(spec, surroundings, options.stop, first, options.timings);
  OpenTrial open;
  if (!trial)
    return open;
  open.largest = trial->examples().value_or(largest_tried);
  open.first = first;
  open.command = trial.get();
  open.budget = trial->budget_bytes() ? trial->budget_bytes() : spec.memory_budget;
  open.trial = std::move(trial);
  return open;
}

OpenTrial open_trial(const run::RunSpec& spec, const Surroundings& surroundings,
                     const run::Session::SearchOptions& options) {
  // A size in the command line cannot change while the program lives.
  OpenTrial open;
  if (sends_batch(spec) && !surroundings.on_pretended_gpu)
    open = open_live(spec, surroundings, options.stop);
  else if (spec.program->attach)
    open = open_command(spec, surroundings, options);
  if (open.trial)
    return open;
  auto trial = std::make_unique<ProcessTrial>(spec, surroundings, options.stop);
  open.processes = trial.get();
  open.budget = spec.memory_budget;
  open.trial = std::move(trial);
  return open;
}

/// Measures throughput to find the recommended size.
void time_sizes(const OpenTrial& open, const run::Session::SearchOptions& options, search::SearchResult& result) {
  if (open.command) {
    result.timings = open.command->timings();
    search::recommend(result);
  } else {
    const auto time = [&](std::int64_t batch) {
      return open.live ? open.live->time(batch) : open.processes->time(batch);
    };
    search::time_sizes(result, time, options.on_timing, options.stop);
  }
  result.automatic = search::recommended_or_fastest(result);
  if (result.interrupted || !result.timings.empty())
    return;
  if (open.processes && open.processes->too_short())
    search::add_reason(result,
                       "the throughput is not known, because all steps were printed in too short a time; let the "
                       "program make more steps, or use batchscope's client");
  else
    search::add_reason(result,
                       "the throughput is not known, because the program reported no steps; name a number in its "
                       "output with --metric, or use batchscope's client");
}

/// Tries batches of the evaluation after steps of one size.
class EvaluationTrial final : public search::Trial {
public:
  EvaluationTrial(LiveTrial& program, std::int64_t batch) : program_(program), batch_(batch) {}
  search::Probe run(const search::Proposal& proposal) override { return program_.evaluate(proposal, batch_); }

private:
  LiveTrial& program_;
  const std::int64_t batch_;
};

void refuse_without_evaluation(const OpenTrial& open) {
  if (!open.live || !open.live->can_evaluate())
    throw input_error("the program has no evaluation whose batch size can be tried (--evaluation); accepted: attached "
                      "Trainers, of transformers with an eval_dataset, of Lightning with validation data",
                      "program");
}

/// The size of the evaluation's batches, between steps of `batch` examples.
search::SearchResult find_evaluation(LiveTrial& program, std::int64_t batch, const run::Session::SearchOptions& options,
                                     const run::Session::ProbeSink& on_probe) {
  const search::Probe first = program.begin_evaluations(batch);
  if (first.outcome == search::Outcome::error)
    throw Error(Error::Kind::failed, "the evaluation failed: " + first.message);
  const auto [examples, unseen] = program.evaluation_examples();
  const search::FinderOptions finder_options{.max_batch = std::max<std::int64_t>(examples, 1),
                                             .margin = options.margin,
                                             .budget_bytes = program.evaluation_budget_bytes(),
                                             .slack = slack_of(program.evaluation_budget_bytes())};
  const auto finder = search::make_finder(options.strategy, finder_options);
  EvaluationTrial trial(program, batch);
  search::SearchResult result = search::run_search(*finder, trial, finder_options, on_probe, options.stop);
  search::add_reason(result, fmt::format("its batches were run after steps of {} examples", format_count(batch)));
  if (unseen > 0)
    search::add_reason(
        result, fmt::format("{} of its examples were not inspected; a longer example among them needs more memory",
                            format_count(unseen)));
  return result;
}

/// Adds it, beside steps of the size that is recommended. What was found before stays, whatever happens.
void add_evaluation(LiveTrial& program, const run::Session::SearchOptions& options,
                    const run::Session::ProbeSink& on_probe, search::SearchResult& result) {
  const auto began = std::chrono::steady_clock::now();
  const std::int64_t batch = result.recommended ? *result.recommended : result.safe.value_or(*result.largest);
  search::SearchResult evaluation;
  try {
    evaluation = find_evaluation(program, batch, options, on_probe);
  } catch (const Error& error) {
    evaluation.interrupted = options.stop && options.stop();
    evaluation.reason = error.what();
  }
  evaluation.budget_bytes = result.budget_bytes;
  evaluation.seconds = seconds_since(began);
  result.interrupted = evaluation.interrupted;
  result.evaluation = std::make_shared<const search::SearchResult>(std::move(evaluation));
}

/// A program that ignores its batch size fits with any.
void check_depends_on_batch(search::SearchResult& result) {
  constexpr std::int64_t many_times = 8;
  constexpr double same_peak = 1.02, same_time = 1.1;
  constexpr double inexact = 4e6; // bytes: the system counts pages for each processor, and sums them up now and then
  const search::Probe *small = nullptr, *large = nullptr;
  for (const search::Probe& probe : result.probes) {
    if (probe.outcome != search::Outcome::fits || !probe.peak_bytes)
      continue;
    small = !small || probe.batch < small->batch ? &probe : small;
    large = !large || probe.batch > large->batch ? &probe : large;
  }
  if (!small || large->batch / small->batch < many_times ||
      static_cast<double>(*large->peak_bytes) > same_peak * static_cast<double>(*small->peak_bytes) + inexact)
    return;
  const bool timed = result.timings.size() >= 2;
  if (timed && result.timings.back().seconds > same_time * result.timings.front().seconds)
    return;
  search::add_reason(result,
                     fmt::format("{} on the batch size: does the program use {{batch}}?",
                                 timed ? "neither memory nor the time of a step depends" : "memory does not depend"));
}

} // namespace

std::uint64_t host_budget() {
  return static_cast<std::uint64_t>(share_of_free_memory * static_cast<double>(free_host_memory()));
}

run::RunSpec search_spec(const run::RunSpec& spec) {
  run::RunSpec searched = spec;
  run::check(searched);
  check_takes_batch(*searched.program);
  searched.batch = {.kind = run::BatchChoice::Kind::number, .number = 1};
  check_command(searched);
  if (!searched.memory_budget && !parse_device(searched.device))
    searched.memory_budget = host_budget();
  return searched;
}

search::SearchResult find_batch(const run::RunSpec& spec, const Surroundings& surroundings,
                                const run::Session::SearchOptions& options, const run::Session::ProbeSink& on_probe) {
  const auto began = std::chrono::steady_clock::now();
  const OpenTrial open = open_trial(spec, surroundings, options);
  if (options.evaluation)
    refuse_without_evaluation(open);
  const search::FinderOptions finder_options{.start = open.first ? open.first : options.start,
                                             .factor = options.factor,
                                             .max_batch = std::min(spec.max_batch.value_or(open.largest), open.largest),
                                             .margin = options.margin,
                                             .budget_bytes = open.budget,
                                             .slack = open.command ? 0 : slack_of(open.budget),
                                             .doubt = open.command ? doubt_in_command : 0};
  const auto finder = search::make_finder(options.strategy, finder_options);
  search::SearchResult result = search::run_search(*finder, *open.trial, finder_options, on_probe, options.stop);
  result.budget_bytes = spec.memory_budget;
  if (result.found && !result.interrupted && options.timings)
    time_sizes(open, options, result);
  if (!open.live && !result.interrupted)
    check_depends_on_batch(result);
  if (open.live && result.found && open.live->accumulate() > 1)
    search::add_reason(result, fmt::format("each step accumulated {} batches of that size", open.live->accumulate()));
  if (options.evaluation && result.found && !result.interrupted)
    add_evaluation(*open.live, options, on_probe, result);
  result.seconds = seconds_since(began);
  return result;
}

} // namespace batchscope::program
