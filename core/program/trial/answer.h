#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "core/program/protocol/wire.h"
#include "core/search/finder.h"
#include "core/telemetry/trace.h"

namespace batchscope::program {

class LiveProgram;

/// A program's answer to a size that it was asked to try, or how it ended without an answer. A plain value.
struct Answer {
  search::Outcome outcome = search::Outcome::error;
  std::shared_ptr<const telemetry::Trace> trace; ///< of the last step, if it was asked for and fits
  std::optional<std::uint64_t> peak_bytes;       ///< of the process or its tensors, whatever the program can tell
  std::optional<std::uint64_t> room_bytes;       ///< for a step, beside what lives between steps
  std::optional<std::uint64_t> reserved_bytes;   ///< see search::Probe
  std::optional<double> step_seconds;
  std::optional<double> examples_per_second;
  std::optional<std::int64_t> examples; ///< that the evaluation is over, if it was asked for
  std::int64_t unseen = 0;              ///< of these, see EvaluationExamples
  std::optional<std::int64_t> pid;      ///< of the process that has answered
  std::string message;                  ///< for Outcome::error

  /// Examples of a step; to be called with a step's time and rate.
  double step_examples() const { return *examples_per_second * *step_seconds; }
};

/// Steps that a program makes before it is asked for anything.
inline constexpr int warm_up_steps = 2;

/// Steps to be timed, besides a first one that is not counted: they are to take 0.2 s, as far as the time of one is
/// known, and to be `least` at least.
std::int64_t steps_of_a_timing(const std::optional<double>& step_seconds, std::int64_t least);

/// Asks the program for a size, so many `times` one after the other, and waits for the last thing that it says, or the
/// first that is no fit. Nothing if it has ended, or is waited for in vain. Throws Error (failed, "stopped") as
/// LiveProgram::next() does.
std::optional<Answer> answer_of(LiveProgram& program, const ProbeSize& size, int times = 1);

/// Results of lists of allocations, of steps or of evaluations.
struct Listed {
  std::set<std::int64_t> sizes;
  std::optional<std::uint64_t> budget; ///< for tensors, bytes
  std::uint64_t beside_tensors = 0;    ///< bytes of the process at its peak, when it was last listed

  /// Sets the budget: what `most` leaves for tensors beside what else the process has, as the answer's list shows it.
  void limit(const std::optional<std::uint64_t>& most, const Answer& answer);
  /// The highest bytes of tensors. Without a list the answer has what the whole process used: what that had besides
  /// when there was a list is left out.
  std::optional<std::uint64_t> tensor_peak(const Answer& answer);
};

/// The probe of a search, with the peak of tensors and without the step's time.
search::Probe probe_of(const search::Proposal& proposal, const Answer& answer, Listed& listed);

} // namespace batchscope::program
