#include "core/program/trial/answer.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include <fmt/format.h>

#include "core/program/trial/detail/live_program.h"

namespace batchscope::program {

namespace {

/// Seconds of one step, from a program's report of a size. The first of several steps is not counted: its memory is
/// new. With `traced`, the first is the only one without the profiler.
std::optional<double> step_seconds_in(const telemetry::ProbeResult& probe, bool traced) {
  const auto count = static_cast<double>(probe.steps.value_or(0));
  if (!probe.seconds || count < 1)
    return std::nullopt;
  const double first = probe.first_seconds.value_or(0);
  if (first <= 0)
    return *probe.seconds / count;
  return traced || count == 1 ? first : (*probe.seconds - first) / (count - 1);
}

Answer answer_from(const telemetry::ProbeResult& said, const ProbeSize& size) {
  Answer answer;
  const std::int64_t taken = said.taken.value_or(size.batch);
  answer.message = taken != size.batch ? fmt::format("the program ran batch size {} instead", taken) : said.error;
  answer.outcome = !answer.message.empty() ? search::Outcome::error
                   : said.fits             ? search::Outcome::fits
                                           : search::Outcome::out_of_memory;
  if (said.peak_bytes.value_or(0) > 0)
    answer.peak_bytes = static_cast<std::uint64_t>(*said.peak_bytes);
  if (said.room_bytes.value_or(-1) >= 0)
    answer.room_bytes = static_cast<std::uint64_t>(*said.room_bytes);
  if (said.reserved_bytes.value_or(0) > 0)
    answer.reserved_bytes = static_cast<std::uint64_t>(*said.reserved_bytes);
  answer.step_seconds = step_seconds_in(said, size.trace);
  if (answer.step_seconds && *answer.step_seconds > 0)
    answer.examples_per_second = static_cast<double>(said.step_examples.value_or(size.batch)) / *answer.step_seconds;
  answer.examples = said.examples;
  answer.unseen = said.unseen.value_or(0);
  return answer;
}

} // namespace

std::int64_t steps_of_a_timing(const std::optional<double>& step_seconds, std::int64_t least) {
  constexpr double timing_seconds = 0.2;
  constexpr double most = 1000; // a program answers after all of them
  if (!step_seconds || *step_seconds <= 0)
    return least;
  return std::max(least, static_cast<std::int64_t>(std::min(most, std::ceil(timing_seconds / *step_seconds))));
}

std::optional<Answer> answer_of(LiveProgram& program, const ProbeSize& size, int times) {
  program.ask(probe_line(std::vector<ProbeSize>(static_cast<std::size_t>(times), size), false), times * size.steps);
  std::shared_ptr<const telemetry::Trace> trace;
  const std::int64_t listed = size.evaluation.value_or(size.batch);
  while (const auto message = program.next()) {
    if (const auto* traced = std::get_if<TraceMessage>(&*message); traced && traced->trace.batch == listed)
      trace = std::make_shared<const telemetry::Trace>(traced->trace);
    const auto* event = std::get_if<EventMessage>(&*message);
    const auto* said = event ? std::get_if<telemetry::ProbeResult>(&event->event.body) : nullptr;
    if (!said || said->batch != size.batch)
      continue;
    Answer answer = answer_from(*said, size);
    const bool fits = answer.outcome == search::Outcome::fits;
    if (fits && --times > 0)
      continue;
    if (fits)
      answer.trace = std::move(trace);
    return answer;
  }
  return std::nullopt;
}

void Listed::limit(const std::optional<std::uint64_t>& most, const Answer& answer) {
  budget = most;
  if (most && answer.room_bytes && answer.trace)
    budget = std::min(*most, *answer.room_bytes + answer.trace->start_bytes);
}

std::optional<std::uint64_t> Listed::tensor_peak(const Answer& answer) {
  if (!answer.trace) {
    if (!answer.peak_bytes || *answer.peak_bytes <= beside_tensors)
      return std::nullopt;
    const std::uint64_t peak = *answer.peak_bytes - beside_tensors;
    return budget ? std::min(peak, *budget) : peak; // it would not have got more
  }
  const std::uint64_t peak = answer.trace->peak_bytes;
  beside_tensors = std::max(answer.peak_bytes.value_or(peak), peak) - peak;
  return peak;
}

search::Probe probe_of(const search::Proposal& proposal, const Answer& answer, Listed& listed) {
  search::Probe probe;
  probe.batch = proposal.batch;
  probe.predicted_bytes = proposal.predicted_bytes;
  probe.outcome = answer.outcome;
  probe.message = answer.message;
  probe.pid = answer.pid;
  probe.trace = answer.trace;
  if (answer.trace)
    listed.sizes.insert(proposal.batch);
  probe.peak_bytes = listed.tensor_peak(answer);
  probe.reserved_bytes = answer.reserved_bytes;
  return probe;
}

} // namespace batchscope::program
