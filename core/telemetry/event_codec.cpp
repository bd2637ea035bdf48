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
#define KIND(Body, text, about)                                                                                        \
  template <> struct Kind<Body> {                                                                                      \
    static inline const std::string name = text;                                                                       \
    static constexpr const char* help = about;                                                                         \
  };
KIND(ValuesOnly, "", "")
KIND(Evaluation, "evaluation", "scores on the validation examples")
KIND(OutOfMemory, "oom", "a request for memory was refused, and what was done about it")
KIND(ScheduleEdit, "edit", "the schedule was changed, or the change was refused")
KIND(SharesEdit, "shares", "the shares of the data streams were changed, or the change was refused")
KIND(BudgetChange, "budget", "the memory budget was changed, or the change was refused")
KIND(Clamp, "clamp", "another size was taken than was asked for")
KIND(ScheduleProblem, "schedule-problem", "the schedule gave no size; the batch stays as it is")
KIND(StatusChange, "status", "the run was paused, continued or stopped")
KIND(CheckpointWritten, "checkpoint", "a checkpoint was written, or could not be")
KIND(WeightsWritten, "weights", "the weights were written at the end of the run")
KIND(Resumed, "resumed", "the run goes on from a checkpoint")
KIND(ProgramConnected, "program", "the program has connected, or says more of itself")
KIND(ProgramLevel, "level",
     "what works on the program, if it is less than could be: 1 it only reports, 2 its size can change")
KIND(Watched, "watched", "the program is watched, but not steered")
KIND(ProgramExit, "exit", "how the program's process has ended, and what that means for the run")
KIND(ProgramOutput, "output", "the end of the program's output")
KIND(ProgramBye, "bye", "the final status that the program reported")
KIND(ProtocolFault, "protocol", "a message of the program was not understood")
KIND(SecondProgram, "second", "a second process has connected under the same rank; it is ignored")
KIND(Silent, "silent", "the program has not reported a step for a long time")
KIND(NotFollowed, "not-followed", "the run has a setting that the program does not follow")
KIND(TimeOver, "time-over", "the program is stopped after the time that the run may take")
KIND(NoBye, "no-bye", "the program has ended without a final report")
KIND(LeftBehind, "left-behind", "the program has ended without a step, and left processes behind that ended with it")
KIND(Unread, "unread", "a series that was to be read from the program's output or files has no value")
KIND(Late, "late", "an answer of BatchScope has not come in time; the program has gone on with its present size")
KIND(Lost, "lost", "messages of the program were lost, because its spill file could not be written")
KIND(Lint, "lint", "something unusual about the program")
KIND(Retry, "retry", "the same micro batch is tried again, for a reason that has passed")
KIND(LossScale, "loss-scale", "the gradients of the program are too large by a factor")
KIND(RateBySteps, "rate-by-steps",
     "a program's learning-rate schedule goes on counting steps, although they have another size now")
KIND(SchedulerFollows, "scheduler", "a program's learning-rate scheduler follows something else from now on")
KIND(Differs, "differs", "a program's step took other examples than were planned")
KIND(SplitLoss, "split", "how the loss of a split step is combined, and how exactly that was verified")
KIND(GrowingMemory, "growing", "memory between steps grows from step to step")
KIND(BudgetNotKept, "budget-not-kept", "the process needs more memory than the budget")
KIND(ProbeResult, "probe", "a size that the program has tried, as it was asked to")
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

template <typename Body> EventKind kind_with_fields() {
  EventKind kind{Kind<Body>::name, Kind<Body>::help, {}};
  Writing writing(kind.fields);
  fields(writing, Body());
  return kind;
}

template <typename... Bodies> std::vector<EventKind> kinds_of(const std::variant<Bodies...>* /*type*/) {
  std::vector<EventKind> kinds;
  const auto add = [&]<typename Body>(const Body* /*type*/) {
    if constexpr (!std::is_same_v<Body, UnknownEvent> && !std::is_same_v<Body, ValuesOnly>)
      kinds.push_back(kind_with_fields<Body>());
  };
  (add(static_cast<const Bodies*>(nullptr)), ...);
  return kinds;
}

} // namespace

const std::vector<EventKind>& event_kinds() {
  static const std::vector<EventKind> kinds = kinds_of(static_cast<const EventBody*>(nullptr));
  return kinds;
}

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
  // Fields that were not understood were not changed either.
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
