#include "core/telemetry/event_codec.h"

#include <map>
#include <optional>

#include "core/base/json.h"
#include "core/telemetry/detail/event_io.h"
#include "core/telemetry/detail/memory_fields.h"
#include "core/telemetry/detail/program_fields.h"
#include "core/telemetry/detail/run_fields.h"
#include "core/telemetry/detail/schedule_fields.h"

namespace batchscope::telemetry {

namespace {

template <typename Body> struct Kind;
#define KIND(Body, text)                                                                                               \
  template <> struct Kind<Body> { static inline const std::string name = text; };
KIND(ValuesOnly, "")
KIND(Evaluation, "evaluation")
KIND(OutOfMemory, "oom")
KIND(ScheduleEdit, "edit")
KIND(SharesEdit, "shares")
KIND(BudgetChange, "budget")
KIND(Clamp, "clamp")
KIND(ScheduleProblem, "schedule-problem")
KIND(StatusChange, "status")
KIND(CheckpointWritten, "checkpoint")
KIND(WeightsWritten, "weights")
KIND(Resumed, "resumed")
KIND(ProgramConnected, "program")
KIND(ProgramLevel, "level")
KIND(Watched, "watched")
KIND(ProgramExit, "exit")
KIND(ProgramOutput, "output")
KIND(ProgramBye, "bye")
KIND(ProtocolFault, "protocol")
KIND(SecondProgram, "second")
KIND(Silent, "silent")
KIND(NotFollowed, "not-followed")
KIND(TimeOver, "time-over")
KIND(NoBye, "no-bye")
KIND(LeftBehind, "left-behind")
KIND(Unread, "unread")
KIND(Late, "late")
KIND(Lost, "lost")
KIND(Lint, "lint")
KIND(Retry, "retry")
KIND(LossScale, "loss-scale")
KIND(RateBySteps, "rate-by-steps")
KIND(SchedulerFollows, "scheduler")
KIND(Differs, "differs")
KIND(SplitLoss, "split")
KIND(GrowingMemory, "growing")
KIND(BudgetNotKept, "budget-not-kept")
KIND(ProbeResult, "probe")
#undef KIND

constexpr const char* message_number = "seq";

struct Decoded {
  EventBody body;
  Json rest = Json::object();
};

template <typename Body> std::optional<Decoded> decoded_as(const Json& detail) {
  Reading reading(detail);
  Body body;
  fields(reading, body);
  if (!reading.valid())
    return std::nullopt;
  return Decoded{std::move(body), reading.rest()};
}

using Decoder = std::optional<Decoded> (*)(const Json&);

template <typename... Bodies>
std::map<std::string, Decoder, std::less<>> decoders_of(const std::variant<Bodies...>* /*type*/) {
  std::map<std::string, Decoder, std::less<>> decoders;
  const auto add = [&]<typename Body>(const Body* /*type*/) {
    if constexpr (!std::is_same_v<Body, UnknownEvent> && !std::is_same_v<Body, ValuesOnly>)
      decoders[Kind<Body>::name] = decoded_as<Body>;
  };
  (add(static_cast<const Bodies*>(nullptr)), ...);
  return decoders;
}

Decoded decoded(const std::string& kind, const std::string& detail_json) {
  static const auto decoders = decoders_of(static_cast<const EventBody*>(nullptr));
  if (kind.empty())
    return {ValuesOnly{}};
  if (const auto decoder = decoders.find(kind); decoder != decoders.end()) {
    const Json detail = parse_json_or_discard(detail_json);
    if (detail.is_object())
      if (auto known = decoder->second(detail))
        return *std::move(known);
  }
  return {UnknownEvent{kind, detail_json}};
}

Json json_of(const EventBody& body) {
  return std::visit(
      []<typename Body>(const Body& event) -> Json {
        if constexpr (std::is_same_v<Body, UnknownEvent>)
          return parse_json_or_discard(event.detail_json);
        else if constexpr (std::is_same_v<Body, ValuesOnly>)
          return Json::object();
        else {
          Writing writing;
          fields(writing, event);
          return std::move(writing.out());
        }
      },
      body);
}

/// The number of the message, taken out of a detail of an event that is not known otherwise.
std::int64_t take_message_number(UnknownEvent& event) {
  Json detail = parse_json_or_discard(event.detail_json);
  if (!detail.is_object() || !detail.contains(message_number) || !detail[message_number].is_number_integer())
    return 0;
  const auto number = detail[message_number].get<std::int64_t>();
  detail.erase(message_number);
  event.detail_json = json_text(detail);
  return number;
}

} // namespace

const std::string& kind_of(const EventBody& body) {
  return std::visit(
      []<typename Body>(const Body& event) -> const std::string& {
        if constexpr (std::is_same_v<Body, UnknownEvent>)
          return event.kind;
        else
          return Kind<Body>::name;
      },
      body);
}

EncodedEvent encode(const EventBody& body) {
  if (const auto* unknown = std::get_if<UnknownEvent>(&body))
    return {unknown->kind, unknown->detail_json};
  return {kind_of(body), json_text(json_of(body))};
}

EventBody decode(const std::string& kind, const std::string& detail_json) {
  return decoded(kind, detail_json).body;
}

EncodedEvent encode(const Event& event) {
  if (event.more_json.empty() && event.message == 0)
    return encode(event.body);
  Json detail = json_of(event.body);
  if (!detail.is_object())
    return encode(event.body);
  // What was not understood was not changed either.
  if (const Json more = parse_json_or_discard(event.more_json); more.is_object())
    for (const auto& [name, value] : more.items())
      detail[name] = value;
  if (event.message > 0)
    detail[message_number] = event.message;
  return {kind_of(event.body), json_text(detail)};
}

Event decode_event(std::int64_t step, double seconds, const std::string& kind, const std::string& detail_json) {
  Decoded known = decoded(kind, detail_json);
  Event event{.step = step, .seconds = seconds, .body = std::move(known.body)};
  if (auto* unknown = std::get_if<UnknownEvent>(&event.body)) {
    event.message = take_message_number(*unknown);
    return event;
  }
  if (const auto number = known.rest.find(message_number); number != known.rest.end() && number->is_number_integer()) {
    event.message = number->get<std::int64_t>();
    known.rest.erase(number);
  }
  if (!known.rest.empty())
    event.more_json = json_text(known.rest);
  return event;
}

} // namespace batchscope::telemetry
