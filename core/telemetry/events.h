#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/telemetry/memory_events.h"
#include "core/telemetry/program_events.h"
#include "core/telemetry/run_events.h"
#include "core/telemetry/schedule_events.h"

namespace batchscope::telemetry {

/// Body of an event, one alternative for each kind. Kinds and details as they are stored and sent are known to
/// event_codec.h only; words are made by describe.h. A new kind is an alternative here, its fields in the codec, its
/// words in describe_*.cpp.
using EventBody =
    std::variant<ValuesOnly, UnknownEvent, Evaluation, OutOfMemory, ScheduleEdit, SharesEdit, BudgetChange, Clamp,
                 ScheduleProblem, StatusChange, CheckpointWritten, WeightsWritten, Resumed, ProgramConnected,
                 ProgramLevel, Watched, ProgramExit, ProgramOutput, ProgramBye, ProtocolFault, SecondProgram, Silent,
                 NotFollowed, TimeOver, NoBye, LeftBehind, Unread, Late, Lost, Lint, Retry, LossScale, RateBySteps,
                 SchedulerFollows, Differs, SplitLoss, GrowingMemory, BudgetNotKept, ProbeResult>;

/// Something that happened at a step. A plain value, copied across threads.
struct Event {
  /// The step that was being made, for an OutOfMemory in a step; else the last step done.
  std::int64_t step = 0;
  double seconds = 0; ///< since the run's start, without pauses
  EventBody body;
  /// Values that become series of the run, such as validation_loss; empty for most events. A name that step_series()
  /// has is stored as `other.NAME`.
  std::vector<std::pair<std::string, double>> values{};
  std::int64_t message = 0; ///< number of the program's message that it is from; 0: of none
  /// Fields of its stored form that this version does not know, a JSON object that is written back; empty: none.
  std::string more_json{};
};

/// Whether it has happened at all: false for an event that only carries values.
inline bool has_happened(const Event& event) {
  return !std::holds_alternative<ValuesOnly>(event.body);
}

/// Whether it says that the run has done, or refused, what it may have been asked for while it ran.
inline bool is_answer(const Event& event) {
  return std::holds_alternative<StatusChange>(event.body) || std::holds_alternative<ScheduleEdit>(event.body) ||
         std::holds_alternative<SharesEdit>(event.body) || std::holds_alternative<BudgetChange>(event.body);
}

} // namespace batchscope::telemetry
