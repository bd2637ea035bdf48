#include "core/program/live_trial.h"

#include <algorithm>
#include <chrono>

#include <sys/resource.h>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/process_file.h"
#include "core/program/detail/live_program.h"

namespace batchscope::program {

namespace {

/// Steps of this size warm the program up.
constexpr std::int64_t small_batch = 4;
constexpr int warm_up_steps = 2;
/// Steps of a size that is tried: the first has one-time allocations, the last is what a run repeats.
constexpr std::int64_t steps_of_a_size = 2;
constexpr std::int64_t steps_of_a_timing = 3;
/// Of a memory model; what follows is run as in a run.
constexpr std::size_t traces_needed = 2;
/// Of a program that is asked for a size: with the size before, and with the tails of epochs, which are smaller.
constexpr std::int64_t most_other_steps = 64;
/// A program that ends, or does not answer, so often for one size cannot be searched.
constexpr int most_starts = 20;

Welcome welcome_of(const run::RunSpec& spec) {
  return {.batch = small_batch, .accumulate = 1, .rate_factor = {}, .limit_bytes = spec.memory_budget};
}

/// Bytes of private data that a process has mapped, which its limit counts; nothing if it has ended.
std::optional<std::uint64_t> data_of(std::int64_t pid) {
  return process_bytes(std::to_string(pid), "status", "VmData:");
}

/// The limit itself; nothing if it has none.
std::optional<std::uint64_t> data_limit_of(std::int64_t pid) {
  rlimit limit{};
  if (::prlimit(static_cast<pid_t>(pid), RLIMIT_DATA, nullptr, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::nullopt;
  return limit.rlim_cur;
}

std::optional<double> number_in(const Json& detail, const char* field) {
  const auto found = detail.find(field);
  return found != detail.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

} // namespace

/// What the program says of a size.
struct LiveTrial::Result {
  search::Outcome outcome = search::Outcome::error;
  std::shared_ptr<const telemetry::Trace> trace;
  std::optional<std::uint64_t> peak_bytes;
  std::optional<double> step_seconds;
  std::string message;
};

LiveTrial::LiveTrial(const run::RunSpec& spec, const Surroundings& surroundings, std::function<bool()> stop)
    : spec_(spec), surroundings_(surroundings), stop_(std::move(stop)) {}

LiveTrial::~LiveTrial() = default;

/// False if the program turns out to be below level 3.
bool LiveTrial::start() {
  if (++starts_ > most_starts)
    throw Error(Error::Kind::failed, "the program ended before a size was tried; accepted: one that trains longer");
  Surroundings surroundings = surroundings_;
  surroundings.returns_freed_memory = true;
  program_.reset(); // its socket first
  program_ = std::make_unique<LiveProgram>(spec_, surroundings, welcome_of(spec_), stop_);
  data_before_.reset();
  int steps = 0;
  while (const auto message = program_->next(spec_.program->probe_seconds)) {
    if (!std::holds_alternative<StepMessage>(*message))
      continue;
    const std::optional<Hello>& hello = program_->hello();
    if (!hello || level_of(*hello) < 3 || !hello->can.contains("trace") || !hello->examples)
      return false;
    examples_ = *hello->examples;
    if (++steps < warm_up_steps)
      continue;
    if (spec_.memory_budget && !hello->device.starts_with("cuda"))
      data_before_ = data_at_boundary();
    return true;
  }
  return false;
}

/// The first step that is listed differs from all later ones; it tells what is in use between steps.
void LiveTrial::discard_first_trace() {
  const std::optional<std::uint64_t> limit = data_before_ ? data_limit_of(program_->hello()->pid) : std::nullopt;
  const Result result = probe(std::min(small_batch, examples_), true, steps_of_a_size);
  budget_ = spec_.memory_budget;
  if (limit && result.trace && *limit + result.trace->start_bytes > *data_before_)
    budget_ = std::min(*budget_, *limit + result.trace->start_bytes - *data_before_);
}

/// Waits until the program says that it is paused, or that it runs again; false if it does not.
bool LiveTrial::wait_for_status(const char* status) {
  while (const auto message = program_->next(spec_.program->probe_seconds)) {
    const auto* event = std::get_if<EventMessage>(&*message);
    if (!event || event->event.kind != "status")
      continue;
    const Json detail = parse_json_or_discard(event->event.detail_json);
    if (detail.is_object() && detail.value("status", Json()) == Json(status))
      return true;
  }
  return false;
}

/// Lets the program stand at a step boundary, where only what lives between steps is in use.
std::optional<std::uint64_t> LiveTrial::data_at_boundary() {
  program_->send(to_line(Order::pause));
  if (!wait_for_status("paused"))
    return std::nullopt;
  const auto data = data_of(program_->hello()->pid);
  program_->send(to_line(Order::go_on));
  wait_for_status("running"); // a pause that follows at once would be taken for this one
  return data;
}

LiveTrial::Result LiveTrial::probe(std::int64_t batch, bool trace, std::int64_t steps) {
  program_->send(probe_line({{.batch = batch, .trace = trace, .steps = steps}}, false));
  Result result;
  std::int64_t made = 0;
  const auto asked = std::chrono::steady_clock::now();
  const auto patience = std::chrono::duration<double>(spec_.program->probe_seconds);
  while (const auto message = program_->next(spec_.program->probe_seconds)) {
    if (std::holds_alternative<StepMessage>(*message) && ++made > steps + most_other_steps &&
        std::chrono::steady_clock::now() - asked > patience) {
      program_.reset(); // it goes on without an answer; another one is asked
      return result;
    }
    if (const auto* traced = std::get_if<TraceMessage>(&*message); traced && traced->trace.batch == batch)
      result.trace = std::make_shared<const telemetry::Trace>(traced->trace);
    const auto* event = std::get_if<EventMessage>(&*message);
    if (!event || event->event.kind != "probe")
      continue;
    const Json detail = parse_json_or_discard(event->event.detail_json);
    if (!detail.is_object() || detail.value("batch", Json()) != Json(batch))
      continue;
    const bool fits = detail.value("fits", Json()) == Json(true) && detail.value("taken", Json(batch)) == Json(batch);
    result.outcome = fits ? search::Outcome::fits : search::Outcome::out_of_memory;
    if (!fits)
      result.trace.reset();
    if (const auto bytes = number_in(detail, "peak_bytes"); bytes && *bytes > 0)
      result.peak_bytes = static_cast<std::uint64_t>(*bytes);
    const auto seconds = number_in(detail, "seconds");
    const auto count = number_in(detail, "steps");
    if (seconds && count && *count > 0)
      result.step_seconds = *seconds / *count;
    starts_ = 1; // of the next size
    return result;
  }
  if (!program_->ended()) {
    result.message = "the program made no step in the time of --probe-seconds";
    program_.reset();
    return result;
  }
  const Verdict verdict = program_->verdict();
  program_.reset();
  if (verdict.out_of_memory)
    result.outcome = search::Outcome::out_of_memory;
  result.message = verdict.status == telemetry::RunStatus::finished ? std::string() : verdict.reason;
  return result;
}

/// The highest bytes of tensors. Without a list of allocations the program knows what its whole process used: what that
/// had besides when there was a list is left out.
std::optional<std::uint64_t> LiveTrial::tensor_peak(const Result& result) {
  if (!result.trace)
    return result.peak_bytes && *result.peak_bytes > beside_tensors_
               ? std::optional(*result.peak_bytes - beside_tensors_)
               : std::nullopt;
  const std::uint64_t peak = result.trace->peak_bytes;
  beside_tensors_ = std::max(result.peak_bytes.value_or(peak), peak) - peak;
  return peak;
}

search::Probe LiveTrial::run(const search::Proposal& proposal) {
  search::Probe probe;
  probe.batch = proposal.batch;
  probe.predicted_bytes = proposal.predicted_bytes;
  Result result;
  do {
    const bool trace = proposal.trace && traced_.size() < traces_needed;
    if (!program_) {
      if (!start())
        throw Error(Error::Kind::failed, "the program cannot be tried any more: it no longer reaches level 3");
      if (trace)
        discard_first_trace();
      if (!program_)
        continue;
    }
    probe.pid = program_->pid();
    result = this->probe(proposal.batch, trace, steps_of_a_size);
    if (result.trace)
      traced_.insert(proposal.batch);
  } while (!program_ && result.outcome == search::Outcome::error && result.message.empty()); // it was through
  probe.how = "live";
  probe.outcome = result.outcome;
  probe.message = result.message;
  probe.trace = result.trace;
  probe.peak_bytes = tensor_peak(result);
  if (result.outcome == search::Outcome::fits && result.step_seconds) {
    probe.seconds = result.step_seconds;
    probe.examples_per_second = static_cast<double>(proposal.batch) / *result.step_seconds;
  }
  return probe;
}

std::optional<search::Stretch> LiveTrial::time(std::int64_t batch) {
  if (!program_ && !start())
    return std::nullopt;
  const Result result = probe(batch, false, steps_of_a_timing);
  if (result.outcome != search::Outcome::fits || !result.step_seconds || *result.step_seconds <= 0)
    return std::nullopt;
  return search::Stretch{*result.step_seconds, static_cast<double>(batch) / *result.step_seconds,
                         *result.step_seconds * static_cast<double>(steps_of_a_timing)};
}

std::unique_ptr<LiveTrial> open_live_trial(const run::RunSpec& spec, const Surroundings& surroundings,
                                           std::function<bool()> stop) {
  std::unique_ptr<LiveTrial> trial(new LiveTrial(spec, surroundings, std::move(stop)));
  if (!trial->start())
    return nullptr;
  trial->discard_first_trace();
  return trial;
}

} // namespace batchscope::program
