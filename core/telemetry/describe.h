#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/telemetry/events.h"
#include "core/telemetry/message.h"

namespace batchscope::telemetry {

/// Groups of events, for filtering.
enum class EventGroup { all, out_of_memory, edits, evaluations };

/// Description of an event, the same wherever it is shown.
struct Description {
  Message title;                                 ///< what has happened, in a few words
  std::optional<Argument> before{}, after{};     ///< batch or budget; nothing: not known, or it has none
  std::optional<Argument> requested{}, in_use{}; ///< of memory
  std::vector<Message> details{};                ///< what else is known, beside the title and the numbers above
  std::vector<Message> sentence{};               ///< all of it, for where there is one line; parts of one sentence
  bool alarming = false;                         ///< out of memory, or an error
  EventGroup group = EventGroup::all;            ///< `all` if it belongs to no other group
};

Description describe(const Event& event);

/// The place of an error as the value `place` of a reason; empty for a step of the training, and for outside of it.
const char* place_of(OutOfMemory::Where where);

/// How an out-of-memory error was handled, and its likely cause; nothing if the event has no cause to report.
Message action_of(const OutOfMemory& event);
std::optional<Message> cause_of(const OutOfMemory& event);

} // namespace batchscope::telemetry
