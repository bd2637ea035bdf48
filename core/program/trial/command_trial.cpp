#include "core/program/trial/command_trial.h"

#include <utility>
#include <variant>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/processor_time.h"
#include "core/base/text.h"
#include "core/program/process/command.h"
#include "core/program/trial/detail/live_program.h"

namespace batchscope::program {

namespace {

/// Lists of a size: the first has one-time allocations of the lister itself.
constexpr int lists = 2;
/// On a pretended GPU, of a size that leaves less than this fraction of the memory free: what lies unused between
/// tensors may be too much only after some steps.
constexpr double near_the_limit = 0.3;
constexpr std::int64_t further_steps = 16;
constexpr std::int64_t least_timed = 3; ///< steps of a stretch
constexpr std::size_t most_stretches = 3;
/// After so long two stretches of a size are enough, and then one.
constexpr double two_are_enough = 3, one_is_enough = 12;

bool is_near(std::uint64_t limit, const Answer& answer) {
  return !answer.reserved_bytes ||
         static_cast<double>(*answer.reserved_bytes) > (1 - near_the_limit) * static_cast<double>(limit);
}

bool lists_allocations(const LiveProgram& program) {
  const auto& hello = program.hello();
  return hello && hello->can.contains("trace") && hello->world <= 1;
}

} // namespace

CommandTrial::CommandTrial(const run::RunSpec& spec, const Surroundings& surroundings, std::function<bool()> stop,
                           bool timings)
    : spec_(spec), surroundings_(surroundings), stop_(std::move(stop)), most_stretches_(timings ? most_stretches : 0) {}

CommandTrial::~CommandTrial() = default;

/// Starts a process of this size. False if it makes no steps, or lists nothing.
bool CommandTrial::begin(std::int64_t batch) {
  run::RunSpec spec = spec_;
  spec.batch = {.kind = run::BatchChoice::Kind::number, .number = batch};
  Surroundings surroundings = surroundings_;
  Welcome welcome;
  // A pretended GPU has just the memory that there is for tensors, so that the program can run there as it would alone.
  if (!surroundings.on_pretended_gpu) {
    surroundings.returns_freed_memory = true;
    welcome.limit_bytes = spec.memory_budget;
  }
  welcome.on_oom = run::to_string(run::OnOom::fail);
  welcome.hold = warm_up_steps; // it may make few in all, and waits for its question
  if (sends_batch(spec))        // and not in its command
    welcome.batch = batch;
  if (own_passes_)
    surroundings.environment.emplace_back("BATCHSCOPE_PASSES", "own");
  batch_ = batch;
  program_.reset(); // its memory first
  program_ = std::make_unique<LiveProgram>(spec, surroundings, std::move(welcome), stop_);
  program_->count_printed_steps(*spec.program); // of one that is not attached to, which is tried from outside
  for (int steps = 0; steps < warm_up_steps;) {
    const auto message = program_->next();
    if (!message)
      return false;
    steps += std::holds_alternative<StepMessage>(*message) ? 1 : 0;
  }
  if (surroundings_.on_pretended_gpu && !program_->hello()->device.starts_with("cuda"))
    throw Error(Error::Kind::failed,
                fmt::format("the program trains on {}: it does not use a GPU that is there, or its "
                            "Python has a torch without CUDA",
                            in_quotes(program_->hello()->device)));
  examples_ = program_->hello()->examples;
  return lists_allocations(*program_);
}

/// The allocations of a step of the process that has begun.
Answer CommandTrial::list() {
  std::optional<Answer> answer =
      answer_of(*program_, {.batch = batch_, .trace = true, .steps = 1, .set = false}, lists);
  if (!answer)
    return ended();
  if (answer->outcome == search::Outcome::fits && !listed_.budget)
    listed_.limit(spec_.memory_budget, *answer);
  if (answer->outcome != search::Outcome::fits || !surroundings_.on_pretended_gpu ||
      !is_near(*spec_.memory_budget, *answer))
    return *std::move(answer);
  const auto asked = answer_of(*program_, {.batch = batch_, .steps = further_steps, .set = false});
  const Answer later = asked ? *asked : ended();
  if (later.outcome == search::Outcome::out_of_memory)
    return later;
  if (later.reserved_bytes) // else it has made all its steps, or has stopped at numbers that are none
    answer->reserved_bytes = later.reserved_bytes;
  return *std::move(answer);
}

/// Answer for a size that follows from the end of its process.
Answer CommandTrial::ended() const {
  Answer answer;
  if (!program_->ended()) {
    answer.message = fmt::format("the program {}", program_->why_given_up());
    return answer;
  }
  const Verdict verdict = program_->verdict();
  if (verdict.out_of_memory)
    answer.outcome = search::Outcome::out_of_memory;
  else if (verdict.status == telemetry::RunStatus::finished)
    answer.outcome = search::Outcome::fits; // with fewer steps than are asked for
  else
    answer.message = verdict.reason_text();
  return answer;
}

/// Times the size in the process that has listed it, which has shown how long a step takes.
void CommandTrial::time(const Answer& listed, std::int64_t batch) {
  const std::int64_t steps = steps_of_a_timing(listed.step_seconds, least_timed);
  std::vector<search::TimedSteps>& stretches = stretches_[batch];
  double spent = 0;
  while (stretches.size() < most_stretches_ && spent < (stretches.size() < 2 ? one_is_enough : two_are_enough)) {
    const ProcessorWatch watch(std::to_string(program_->hello()->pid));
    const auto answer = answer_of(*program_, {.batch = batch, .steps = 1 + steps, .set = false, .timing = true});
    if (!answer || answer->outcome != search::Outcome::fits || !answer->examples_per_second)
      break;
    const std::vector<double> each(static_cast<std::size_t>(steps), *answer->step_seconds);
    stretches.push_back(search::timed_steps_of(each, answer->step_examples(), watch.share()));
    spent += stretches.back().spent_seconds;
  }
  if (stretches.empty())
    stretches_.erase(batch);
}

/// In a process of its own. A program may fail because its loader has gone on beyond the end of its data, so that it
/// can be tried: it is then tried without that.
Answer CommandTrial::try_size(std::int64_t batch) {
  Answer answer = begin(batch) ? list() : ended();
  if (answer.outcome != search::Outcome::error || !program_->ended() || !surroundings_.on_pretended_gpu ||
      std::exchange(tried_own_passes_, true))
    return answer;
  own_passes_ = true;
  Answer again = begin(batch) ? list() : ended();
  own_passes_ = again.outcome != search::Outcome::error;
  return own_passes_ ? again : answer;
}

search::Probe CommandTrial::run(const search::Proposal& proposal) {
  Answer answer;
  if (first_ && batch_ == proposal.batch)
    answer = *std::move(first_);
  else
    answer = try_size(proposal.batch);
  first_.reset();
  answer.pid = program_->pid();
  search::Probe probe = probe_of(proposal, answer, listed_);
  probe.how = "process";
  if (answer.trace)
    time(answer, proposal.batch);
  if (const auto timed = stretches_.find(proposal.batch); timed != stretches_.end()) {
    probe.seconds = timed->second.back().step_seconds;
    probe.examples_per_second = timed->second.back().examples_per_second;
  }
  program_.reset();
  return probe;
}

std::unique_ptr<CommandTrial> open_command_trial(const run::RunSpec& spec, const Surroundings& surroundings,
                                                 std::function<bool()> stop, std::int64_t first, bool timings) {
  std::unique_ptr<CommandTrial> trial(new CommandTrial(spec, surroundings, std::move(stop), timings));
  trial->first_ = trial->try_size(first);
  if (trial->first_->trace || trial->first_->outcome == search::Outcome::out_of_memory)
    return trial;
  if (!surroundings.on_pretended_gpu)
    return nullptr;
  const std::string& why = trial->first_->message;
  if (trial->program_->took_too_much())
    throw Error(Error::Kind::failed, why);
  if (why.empty())
    throw Error(Error::Kind::failed, fmt::format("the program made too few steps with torch on the pretended GPU; "
                                                 "accepted: {} or more, of a model on that GPU",
                                                 warm_up_steps + lists));
  throw Error(
      Error::Kind::failed,
      fmt::format("no step of the program could be followed on the pretended GPU: {}{}", why,
                  why.starts_with("ended by") ? " (Triton's kernels and compiled extensions do not work there)" : ""));
}

} // namespace batchscope::program
