#pragma once

#include <array>

#include "core/telemetry/describe.h"
#include "core/telemetry/detail/event_io.h"
#include "core/telemetry/detail/legacy_events.h"
#include "core/telemetry/english.h"

// The fields of events about batch sizes, schedules and learning rates.
namespace batchscope::telemetry {

inline constexpr std::array<Named<Clamp::What>, 3> clamp_fields = {
    {{Clamp::What::schedule, ""}, {Clamp::What::batch, "batch"}, {Clamp::What::accumulate, "accumulate"}}};

template <typename Io> void fields(Io& io, typename Io::template Of<ScheduleEdit>& event) {
  io.required("schedule", event.schedule);
  io("command", event.command);
  io("before", event.before);
  io("batch_before", event.batch_before);
  io("batch", event.batch);
  io("applies_from_step", event.applies_from_step);
  io.reason("refused", event.refused);
}

template <typename Io> void fields(Io& io, typename Io::template Of<SharesEdit>& event) {
  io.required("shares", event.shares);
  io("command", event.command);
  io("before", event.before);
  io("applies_from_step", event.applies_from_step);
  io.reason("refused", event.refused);
  io.derived("message", [&] { return english(describe({.body = event}).details.front()); });
}

/// A schedule is given a size, a program takes one.
inline const char* name_of_taken(const Reading& io, const Clamp& /*event*/) {
  return io.has("taken") ? "taken" : "given";
}
inline const char* name_of_taken(const Writing& /*io*/, const Clamp& event) {
  return event.what == Clamp::What::schedule ? "given" : "taken";
}

template <typename Io> void fields(Io& io, typename Io::template Of<Clamp>& event) {
  io.named("field", event.what, clamp_fields);
  io.required("asked", event.asked);
  io.required(name_of_taken(io, event), event.taken);
  io.reason("reason", event.reason);
  io.derived("message", [&] { return sentence_about(event); });
}

template <typename Io> void fields(Io& io, typename Io::template Of<ScheduleProblem>& event) {
  io.reason("message", event.reason);
  io("batch", event.batch);
  if constexpr (Io::reads)
    io.require(!event.reason.empty());
}

template <typename Io> void fields(Io& io, typename Io::template Of<Differs>& event) {
  io.required("planned_batch", event.planned_batch);
  io.required("planned_examples", event.planned_examples);
  io.required("batch", event.batch);
  io.required("examples", event.examples);
  io.derived("message", [&] { return sentence_about(event); });
}

template <typename Io> void fields(Io& io, typename Io::template Of<RateBySteps>& event) {
  text_field(io, event);
}

template <typename Io> void fields(Io& io, typename Io::template Of<SchedulerFollows>& event) {
  io.required("name", event.name);
  io.required("follows", event.follows);
}

} // namespace batchscope::telemetry
