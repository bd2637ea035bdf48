#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/telemetry/event_codec.h"

// Events in the form in which they are stored and sent.
namespace batchscope::test {

inline telemetry::Event event_of(std::int64_t step, double seconds, const std::string& kind,
                                 const std::string& detail_json = "{}",
                                 std::vector<std::pair<std::string, double>> values = {}) {
  telemetry::Event event = telemetry::decode_event(step, seconds, kind, detail_json);
  event.values = std::move(values);
  return event;
}

inline std::string kind_text(const telemetry::Event& event) {
  return telemetry::kind_of(event.body);
}
inline std::string detail_text(const telemetry::Event& event) {
  return telemetry::encode(event).detail_json;
}
inline Json detail_of(const telemetry::Event& event) {
  return parse_json(detail_text(event));
}

} // namespace batchscope::test
