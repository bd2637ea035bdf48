#pragma once

#include <array>

#include "core/telemetry/describe.h"
#include "core/telemetry/detail/event_io.h"
#include "core/telemetry/detail/legacy_events.h"
#include "core/telemetry/english.h"

// The fields of events of any run.
namespace batchscope::telemetry {

inline constexpr std::array<Named<StatusChange::Status>, 7> statuses_named = {
    {{StatusChange::Status::running, "running"},
     {StatusChange::Status::paused, "paused"},
     {StatusChange::Status::queued, "queued"},
     {StatusChange::Status::finished, "finished"},
     {StatusChange::Status::stopped, "stopped"},
     {StatusChange::Status::failed, "failed"},
     {StatusChange::Status::interrupted, "interrupted"}}};

/// All details of an event as one sentence, which earlier versions show.
template <typename Body> std::string details_of(const Body& event) {
  std::string text;
  for (const Message& detail : describe({.body = event}).details)
    text += (text.empty() ? "" : "; ") + english(detail);
  return text;
}

template <typename Io> void fields(Io& io, typename Io::template Of<Evaluation>& event) {
  io("loss", event.loss);
  io("accuracy", event.accuracy);
}

template <typename Io> void fields(Io& io, typename Io::template Of<StatusChange>& event) {
  if constexpr (Io::reads) {
    std::string status;
    io("status", status);
    bool known = false;
    for (const auto& each : statuses_named)
      known = known || status == each.name;
    io.require(known);
  }
  io.named("status", event.status, statuses_named);
  io("message", event.text);
  io("at", event.at);
  if constexpr (Io::reads)
    if (event.text.empty() && (io.was_read("message") || !io.has("message")))
      io("reason", event.text); // of the first versions
}

template <typename Io> void fields(Io& io, typename Io::template Of<CheckpointWritten>& event) {
  if constexpr (Io::reads)
    io.require(io.has("bytes") || io.has("problem"));
  io("problem", event.error);
  io.nullable("bytes", event.bytes);
  io("copy_seconds", event.copy_seconds);
  io("write_seconds", event.write_seconds);
  io.derived("message", [&] { return details_of(event); });
}

template <typename Io> void fields(Io& io, typename Io::template Of<WeightsWritten>& event) {
  io.required("file", event.file);
  io("bytes", event.bytes);
  io.derived("message", [&] { return details_of(event); });
}

void note_fields(Reading& io, Resumed& event);
void note_fields(Writing& io, const Resumed& event);

template <typename Io> void fields(Io& io, typename Io::template Of<Resumed>& event) {
  io.nullable("from_step", event.from_step);
  io("replaced_steps", event.replaced_steps);
  io("at", event.at);
  note_fields(io, event);
  io.derived("message", [&] { return details_of(event); });
  if constexpr (Io::reads) {
    io.require(io.has("from_step") || io.has("replaced_steps") || io.has("message"));
    complete_earlier(io.detail(), event);
  }
}

} // namespace batchscope::telemetry
