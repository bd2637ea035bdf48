#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/telemetry/events.h"

// The one form of events outside of the program: in the database, in files, in JSON documents and in the messages of
// training programs. Kinds and names of fields stay; beside texts in English, which are for people and for versions
// before codes, there are codes: a reason `reason` has `reason_code` and `reason_args`.
namespace batchscope::telemetry {

/// Stored form of an event, without its step and time.
struct EncodedEvent {
  std::string kind;        ///< empty: the event only carries values
  std::string detail_json; ///< one JSON object, but of an UnknownEvent
  bool operator==(const EncodedEvent&) const = default;
};

/// The kind of a body: `oom`, `edit`, ...
const std::string& kind_of(const EventBody& body);

EncodedEvent encode(const EventBody& body);
/// A kind of event, with the names of its fields.
struct EventKind {
  std::string name; ///< `oom`
  std::string help; ///< what has happened
  std::vector<std::string> fields;
};
/// All but those that only carry values, in the order of EventBody.
const std::vector<EventKind>& event_kinds();

/// Reads also what earlier versions and today's programs wrote. Never throws: an UnknownEvent for a kind that is not
/// known, and for a detail without what the kind needs.
EventBody decode(const std::string& kind, const std::string& detail_json);

/// The same of a whole event, whose detail also has its message's number, and fields that this version does not know.
EncodedEvent encode(const Event& event);
Event decode_event(std::int64_t step, double seconds, const std::string& kind, const std::string& detail_json);

} // namespace batchscope::telemetry
