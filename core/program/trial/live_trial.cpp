#include "core/program/trial/live_trial.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/processor_time.h"
#include "core/program/process/command.h"
#include "core/program/trial/detail/live_program.h"

namespace batchscope::program {

namespace {

/// Steps of this size warm the program up. With fewer examples, tensors would be so small that they stay in the C
/// library's heap, which large ones cannot use.
constexpr std::int64_t warm_up_batch = 16;
/// Batch of the trace that is discarded.
constexpr std::int64_t small_batch = 4;
/// Steps of a size that is listed: the first has one-time allocations, the last is what a run repeats. Of sizes that
/// are tried later one step shows whether they fit, if an error in it can be survived. Else the first one has room for
/// what libraries come to keep, as in a run.
constexpr std::int64_t steps_of_a_trace = 2;
constexpr std::int64_t batches_of_a_timing = 3; ///< at least
constexpr double enough_seconds = 0.1;          ///< of a timing whose steps were not known to be so short
/// Traces for a memory model: two small sizes, and one that is about as large as the answer. Later sizes run as in a
/// run.
constexpr std::size_t traces_needed = 3;
/// A program that ends, or does not answer, so often for one size cannot be searched.
constexpr int most_starts = 20;

} // namespace

LiveTrial::LiveTrial(const run::RunSpec& spec, const Surroundings& surroundings, std::function<bool()> stop)
    : spec_(spec), surroundings_(surroundings), stop_(std::move(stop)) {}

LiveTrial::~LiveTrial() = default;

/// False if the program cannot be tried in one process: it is of level 2, lists no allocations, or does not fit with
/// the smallest size. Throws Error for one that takes no batch size, fails, or makes no step.
bool LiveTrial::start(Purpose purpose) {
  if (++starts_ > most_starts)
    throw Error(Error::Kind::failed, "the program ended before a size was tried; accepted: one that trains longer");
  Surroundings surroundings = surroundings_;
  surroundings.returns_freed_memory = purpose == Purpose::memory;
  if (own_passes_)
    surroundings.environment.emplace_back("BATCHSCOPE_PASSES", "own");
  Welcome welcome{.batch = warm_up_batch, .accumulate = {}, .rate_factor = {}, .limit_bytes = {}};
  if (spec_.accumulate > 1)
    welcome.accumulate = spec_.accumulate;
  if (purpose == Purpose::memory)
    welcome.limit_bytes = spec_.memory_budget; // with a limit, freed memory is returned at once, too
  program_.reset();                            // its socket first
  program_ = std::make_unique<LiveProgram>(spec_, surroundings, std::move(welcome), stop_);
  purpose_ = purpose;
  int steps = 0;
  while (const auto message = program_->next()) {
    if (!std::holds_alternative<StepMessage>(*message))
      continue;
    const Hello& hello = *program_->hello(); // comes first
    if (!takes_first_batch(hello))
      throw takes_no_batch(level_of(hello));
    examples_ = hello.examples.value_or(0);
    has_tails_ = hello.batch_norm && !hello.drop_last && hello.world <= 1;
    accumulate_ = spec_.accumulate > 1 ? spec_.accumulate : hello.accumulate.value_or(1);
    can_evaluate_ = hello.can.contains("evaluate");
    least_steps_ = hello.can.contains("split") ? 1 : 2;
    if (!hello.can.contains("trace") || examples_ == 0)
      return false;
    if (++steps == warm_up_steps)
      return true;
  }
  return ended_before_its_first_steps();
}

/// False for an end after which each size may have a process of its own; else throws.
bool LiveTrial::ended_before_its_first_steps() {
  if (!program_->ended())
    throw program_->hello()
        ? Error(Error::Kind::failed, fmt::format("the program {}", program_->why_given_up()))
        : input_error(fmt::format("the program takes no batch size: it has not connected in {:g} s (--probe-seconds); "
                                  "put {{batch}} into its command, or use batchscope's loader",
                                  spec_.program->probe_seconds),
                      "program");
  const Verdict verdict = program_->verdict();
  if (verdict.out_of_memory)
    return false;
  if (verdict.status == telemetry::RunStatus::failed)
    throw Error(Error::Kind::failed, fmt::format("the program failed: {}", verdict.reason_text()));
  const int level = program_->hello() ? level_of(*program_->hello()) : 0;
  if (!program_->hello() || !takes_first_batch(*program_->hello()))
    throw takes_no_batch(level);
  return false;
}

/// The first step that is listed differs from all later ones; it tells what is in use between steps.
void LiveTrial::discard_first_trace() {
  const Answer answer = probe({.batch = std::min(small_batch, examples_), .trace = true, .steps = steps_of_a_trace});
  steps_.limit(spec_.memory_budget, answer);
}

/// Runs what is asked for, in the program that there is.
Answer LiveTrial::probe(const ProbeSize& size) {
  if (auto answer = answer_of(*program_, size)) {
    if (answer->examples)
      evaluation_examples_ = {*answer->examples, answer->unseen};
    starts_ = 1; // of the next size
    return *std::move(answer);
  }
  Answer answer;
  if (!program_->ended()) {
    // One that trains on without an answer is asked once more, in another process.
    if (program_->stands_still() || starts_ > 1)
      answer.message = fmt::format("the program {}", program_->why_given_up());
    program_.reset();
    return answer;
  }
  const Verdict verdict = program_->verdict();
  program_.reset();
  if (verdict.status == telemetry::RunStatus::failed && !verdict.out_of_memory && !std::exchange(own_passes_, true))
    return answer; // to be asked once more
  if (verdict.out_of_memory)
    answer.outcome = search::Outcome::out_of_memory;
  answer.message = verdict.status == telemetry::RunStatus::finished ? std::string() : verdict.reason_text();
  return answer;
}

search::Probe LiveTrial::probe_for(const search::Proposal& proposal, const Answer& answer, Listed& listed) {
  search::Probe probe = probe_of(proposal, answer, listed);
  if (answer.outcome == search::Outcome::fits && answer.step_seconds) {
    step_seconds_[proposal.batch] = *answer.step_seconds;
    probe.seconds = answer.step_seconds;
    probe.examples_per_second = answer.examples_per_second;
  }
  return probe;
}

/// The answer of a program that may have to be started for it, and again if it is through before it has one.
Answer LiveTrial::answer_to(const ProbeSize& size) {
  Answer answer;
  do {
    if (!program_ || purpose_ != Purpose::memory) {
      if (!start(Purpose::memory))
        throw Error(Error::Kind::failed, "the program cannot be tried any more: it no longer reaches level 3");
      if (size.trace && !size.evaluation)
        discard_first_trace();
      if (!program_)
        continue;
    }
    const std::int64_t pid = program_->pid();
    answer = probe(size);
    answer.pid = pid;
  } while (!program_ && answer.outcome == search::Outcome::error && answer.message.empty());
  return answer;
}

search::Probe LiveTrial::run(const search::Proposal& proposal) {
  search::Probe probe;
  if (proposal.batch > 1 && ends_with_a_bad_tail(proposal.batch)) {
    probe.batch = proposal.batch;
    probe.predicted_bytes = proposal.predicted_bytes;
    probe.outcome = search::Outcome::error;
    probe.message = fmt::format("an epoch's last batch would be a single example, and {}", *why_no_single_);
  } else {
    const bool trace = proposal.trace && steps_.sizes.size() < traces_needed;
    probe = probe_for(
        proposal,
        answer_to({.batch = proposal.batch, .trace = trace, .steps = trace ? steps_of_a_trace : least_steps_}), steps_);
  }
  probe.how = "live";
  return probe;
}

search::Probe LiveTrial::begin_evaluations(std::int64_t batch) {
  search::Probe first = evaluate({.batch = 1, .trace = true, .predicted_bytes = {}}, batch);
  evaluations_.sizes.clear();
  return first;
}

search::Probe LiveTrial::evaluate(const search::Proposal& proposal, std::int64_t batch) {
  const bool trace = proposal.trace && evaluations_.sizes.size() < traces_needed;
  const Answer answer = answer_to({.batch = batch, .trace = trace, .steps = 1, .evaluation = proposal.batch});
  if (!evaluations_.budget)
    evaluations_.limit(spec_.memory_budget, answer);
  search::Probe probe = probe_for(proposal, answer, evaluations_);
  probe.how = "evaluation";
  return probe;
}

/// Batch norm may fail with a single example. That is tried once, as it may end the program.
bool LiveTrial::ends_with_a_bad_tail(std::int64_t batch) {
  if (!has_tails_ || examples_ % batch != 1) // not for 1: that shows itself
    return false;
  if (!why_no_single_) {
    const search::Probe single = run({.batch = 1, .trace = false, .predicted_bytes = {}});
    why_no_single_ = single.outcome == search::Outcome::error ? single.message : std::string();
  }
  return !why_no_single_->empty();
}

std::optional<search::TimedSteps> LiveTrial::time(std::int64_t batch) {
  if (ends_with_a_bad_tail(batch))
    return std::nullopt;
  const bool known = step_seconds_.contains(batch);
  auto stretch = time_once(batch);
  if (!stretch && !trains_briefly_) {
    trains_briefly_ = true;
    stretch = time_once(batch);
  }
  // A few short steps say little.
  if (known || trains_briefly_ || !stretch || stretch->spent_seconds >= enough_seconds)
    return stretch;
  const auto longer = time_once(batch);
  trains_briefly_ = !longer;
  return longer ? longer : stretch;
}

/// Steps whose number depends on how long the size's steps are, as far as that is known.
std::optional<search::TimedSteps> LiveTrial::time_once(std::int64_t batch) {
  Answer answer;
  ProcessorShare share;
  std::int64_t steps = 0;
  // One that is through is started again; if that one is through without an answer, too, it trains for too few steps.
  for (bool started = false; !started && answer.outcome == search::Outcome::error && answer.message.empty();) {
    started = !program_ || purpose_ != Purpose::time;
    try {
      if (started && !start(Purpose::time))
        return std::nullopt;
    } catch (const Error&) {
      if (stop_ && stop_())
        throw;
      return std::nullopt; // what was found without it stays
    }
    const auto known = step_seconds_.find(batch);
    const std::int64_t least = (batches_of_a_timing + accumulate_ - 1) / accumulate_;
    steps = trains_briefly_ || known == step_seconds_.end() ? least : steps_of_a_timing(known->second, least);
    const ProcessorWatch watch(std::to_string(program_->hello()->pid));
    answer = probe({.batch = batch, .trace = false, .steps = 1 + steps});
    share = watch.share();
  }
  if (answer.outcome != search::Outcome::fits || !answer.examples_per_second)
    return std::nullopt;
  step_seconds_[batch] = *answer.step_seconds;
  const std::vector<double> each(static_cast<std::size_t>(steps), *answer.step_seconds);
  return search::timed_steps_of(each, answer.step_examples(), share);
}

OpenedTrial open_live_trial(const run::RunSpec& spec, const Surroundings& surroundings, std::function<bool()> stop) {
  std::unique_ptr<LiveTrial> trial(new LiveTrial(spec, surroundings, std::move(stop)));
  const bool started = trial->start(LiveTrial::Purpose::memory);
  const std::optional<std::int64_t> examples = trial->examples_ > 0 ? std::optional(trial->examples_) : std::nullopt;
  if (!started)
    return {nullptr, examples};
  trial->discard_first_trace();
  if (!trial->program_ && trial->own_passes_ && trial->start(LiveTrial::Purpose::memory))
    trial->discard_first_trace();
  return {std::move(trial), examples};
}

} // namespace batchscope::program
