#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/telemetry/reason.h"

// Events of a run of the user's own program: what it says of itself, and what is noticed about it from outside. Texts
// that are marked as the program's own are shown as it wrote them.
namespace batchscope::telemetry {

/// The program has connected, or says more of itself.
struct ProgramConnected {
  std::int64_t pid = 0; ///< 0: not known
  std::int64_t level = 1;
  std::string client{}, framework{}, torch{}, device{}; ///< empty: not known
  std::int64_t world = 1;                               ///< processes that share each step
  std::optional<std::int64_t> examples{}, batch{}, accumulate{};
  std::optional<std::int64_t> given_batch{}; ///< in place of its own
  std::string name{};                        ///< that it gives the run
  std::string config_json = "{}";            ///< the program's own
  bool operator==(const ProgramConnected&) const = default;
};

/// Level of the program, if it is lower than it could be: 1 it only reports, 2 its size can change.
struct ProgramLevel {
  std::int64_t level = 1;
  Reason reason{};
  bool operator==(const ProgramLevel&) const = default;
};

/// The program is watched, but not steered.
struct Watched {
  Reason reason{};
  bool operator==(const Watched&) const = default;
};

/// How the program's process has ended, and what that means for the run.
struct ProgramExit {
  std::optional<std::int64_t> exit_code{}, signal{}; ///< neither: not known
  std::string status{};                              ///< telemetry::to_string() of the run's; empty: not known
  Reason reason{};                                   ///< of a run that failed
  bool operator==(const ProgramExit&) const = default;
};

/// The end of the program's output.
struct ProgramOutput {
  std::string tail{}; ///< the program's own
  std::string file{}; ///< that has all of it
  bool operator==(const ProgramOutput&) const = default;
};

/// The last that the program says of itself.
struct ProgramBye {
  std::string status{}; ///< finished, stopped or failed
  std::string reason{}; ///< the program's own
  bool operator==(const ProgramBye&) const = default;
};

/// A message was not understood.
struct ProtocolFault {
  bool by_program = false; ///< the program did not understand it; else BatchScope
  Reason reason{};
  std::string line{}; ///< the message, or its beginning
  bool operator==(const ProtocolFault&) const = default;
};

/// A second process has connected under the same rank; it is not listened to.
struct SecondProgram {
  std::int64_t pid = 0, rank = 0;
  bool operator==(const SecondProgram&) const = default;
};

/// The program has not reported a step for a long time.
struct Silent {
  double seconds = 0;
  bool operator==(const Silent&) const = default;
};

/// The run sets what the program does not follow.
struct NotFollowed {
  Reason reason{}; ///< a sentence: what, why not, and what makes it follow
  bool operator==(const NotFollowed&) const = default;
};

/// The program is stopped after the time that the run may take.
struct TimeOver {
  std::optional<double> seconds{};
  bool operator==(const TimeOver&) const = default;
};

/// The program has ended without saying so.
struct NoBye {
  bool operator==(const NoBye&) const = default;
};

/// The program has ended without a step, and left processes behind that ended with it.
struct LeftBehind {
  std::optional<std::int64_t> processes{};
  bool operator==(const LeftBehind&) const = default;
};

/// A series that was to be read from the program's output or files has no value.
struct Unread {
  Reason reason{};
  bool operator==(const Unread&) const = default;
};

/// An answer of BatchScope has not come in time; the program has gone on with its present size.
struct Late {
  std::optional<double> seconds{}; ///< that it has waited
  bool operator==(const Late&) const = default;
};

/// Messages of the program were lost, because its spill file could not be written.
struct Lost {
  std::int64_t lines = 0;
  bool operator==(const Lost&) const = default;
};

/// Something unusual about the program.
struct Lint {
  Reason reason{};
  bool operator==(const Lint&) const = default;
};

/// The gradients of the program are too large by a factor.
struct LossScale {
  std::optional<double> factor{};
  std::string text{}; ///< the program's own; empty: nothing more is said
  bool operator==(const LossScale&) const = default;
};

/// A size that the program has tried, as it was asked to.
struct ProbeResult {
  std::int64_t batch = 0;
  std::optional<std::int64_t> taken{}; ///< the size that really ran
  bool fits = false;
  std::optional<std::int64_t> steps{};
  std::optional<std::int64_t> step_examples{}; ///< of one step; more than `batch` if it accumulates
  std::optional<double> seconds{};             ///< of all steps
  std::optional<double> first_seconds{};       ///< of the first one
  std::optional<std::int64_t> peak_bytes{};
  std::optional<std::int64_t> room_bytes{}; ///< for a step, beside what lives between steps
  /// Most memory that a GPU's allocator held: tensors and unused space between them. For a process with one size.
  std::optional<std::int64_t> reserved_bytes{};
  /// Examples of the evaluation batch that was run after a step of that size: the result is that batch's.
  std::optional<std::int64_t> evaluation{};
  std::optional<std::int64_t> examples{}; ///< of the largest evaluation
  std::optional<std::int64_t> unseen{};   ///< of all evaluations, those whose length was not looked at
  std::string error{}; ///< why an evaluation failed for another reason than memory; empty: it did not
  bool operator==(const ProbeResult&) const = default;
};

} // namespace batchscope::telemetry
