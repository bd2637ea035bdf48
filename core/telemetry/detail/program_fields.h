#pragma once

#include "core/telemetry/describe.h"
#include "core/telemetry/detail/event_io.h"
#include "core/telemetry/detail/legacy_events.h"
#include "core/telemetry/detail/schedule_fields.h"
#include "core/telemetry/english.h"

// The fields of events of a run of the user's own program.
namespace batchscope::telemetry {

template <typename Io> void fields(Io& io, typename Io::template Of<ProgramConnected>& event) {
  if constexpr (Io::reads) {
    std::optional<std::int64_t> pid, world;
    io("pid", pid);
    io("world", world);
    event.pid = pid.value_or(0);
    event.world = world.value_or(1);
  } else {
    io.required("pid", event.pid);
    io.required("world", event.world);
  }
  io.required("level", event.level);
  io("client", event.client);
  io("framework", event.framework);
  io("torch", event.torch);
  io("device", event.device);
  io.nullable("examples", event.examples);
  io.nullable("batch", event.batch);
  io.nullable("accumulate", event.accumulate);
  io.nullable("given_batch", event.given_batch);
  io("name", event.name);
  io.json("config", event.config_json);
}

template <typename Io> void fields(Io& io, typename Io::template Of<ProgramLevel>& event) {
  io.required("level", event.level);
  io.reason("reason", event.reason);
}

template <typename Io> void fields(Io& io, typename Io::template Of<Watched>& event) {
  io.reason("reason", event.reason);
}

template <typename Io> void fields(Io& io, typename Io::template Of<ProgramExit>& event) {
  if constexpr (Io::reads)
    io.require(io.has("exit_code") || io.has("signal") || io.has("status"));
  io.nullable("exit_code", event.exit_code);
  io.nullable("signal", event.signal);
  io("status", event.status);
  io.reason("reason", event.reason);
}

template <typename Io> void fields(Io& io, typename Io::template Of<ProgramOutput>& event) {
  io.required("tail", event.tail);
  io("file", event.file);
}

template <typename Io> void fields(Io& io, typename Io::template Of<ProgramBye>& event) {
  io.derived("message", [&] { return "the program says that it has " + event.status; });
  io.required("status", event.status);
  io("reason", event.reason);
}

template <typename Io> void fields(Io& io, typename Io::template Of<ProtocolFault>& event) {
  if constexpr (Io::reads) { // without a reason it is from a program
    event.by_program = !io.has("message") && !io.has("by_program");
    io.require(io.has("message") || io.has("line") || io.has("by_program"));
  }
  io("by_program", event.by_program);
  io.reason("message", event.reason);
  io("line", event.line);
}

template <typename Io> void fields(Io& io, typename Io::template Of<SecondProgram>& event) {
  if constexpr (Io::reads) {
    std::optional<std::int64_t> pid, rank;
    io("pid", pid);
    io("rank", rank);
    event = {.pid = pid.value_or(0), .rank = rank.value_or(0)};
    io.require(pid || io.has("message"));
  } else {
    io.required("pid", event.pid);
    io.required("rank", event.rank);
  }
  io.derived("message", [&] { return sentence_about(event); });
  if constexpr (Io::reads)
    complete_earlier(io.detail(), event);
}

template <typename Io> void fields(Io& io, typename Io::template Of<Silent>& event) {
  io.required("seconds", event.seconds);
  io.derived("message", [&] { return sentence_about(event); });
}

template <typename Io> void fields(Io& io, typename Io::template Of<NotFollowed>& event) {
  io.reason("message", event.reason);
  if constexpr (Io::reads)
    io.require(!event.reason.empty());
}

template <typename Io> void fields(Io& io, typename Io::template Of<TimeOver>& event) {
  io("seconds", event.seconds);
  io.derived("message", [&] { return sentence_about(event); });
  if constexpr (Io::reads)
    complete_earlier(io.detail(), event);
}

template <typename Io> void fields(Io& io, typename Io::template Of<NoBye>& event) {
  io.derived("message", [&] { return sentence_about(event); });
}

template <typename Io> void fields(Io& io, typename Io::template Of<LeftBehind>& event) {
  io("processes", event.processes);
  io.derived("message", [&] { return sentence_about(event); });
  if constexpr (Io::reads)
    complete_earlier(io.detail(), event);
}

template <typename Io> void fields(Io& io, typename Io::template Of<Unread>& event) {
  io.reason("message", event.reason);
  if constexpr (Io::reads)
    io.require(!event.reason.empty());
}

template <typename Io> void fields(Io& io, typename Io::template Of<Late>& event) {
  io("seconds", event.seconds);
}

template <typename Io> void fields(Io& io, typename Io::template Of<Lost>& event) {
  io.required("lines", event.lines);
}

template <typename Io> void fields(Io& io, typename Io::template Of<Lint>& event) {
  io.reason("text", event.reason);
  if constexpr (Io::reads)
    io.require(!event.reason.empty());
}

template <typename Io> void fields(Io& io, typename Io::template Of<LossScale>& event) {
  io("factor", event.factor);
  io("text", event.text);
}

template <typename Io> void fields(Io& io, typename Io::template Of<ProbeResult>& event) {
  io.required("batch", event.batch);
  io.nullable("taken", event.taken);
  io("fits", event.fits);
  io.nullable("steps", event.steps);
  io("step_examples", event.step_examples);
  io.nullable("seconds", event.seconds);
  io("first_seconds", event.first_seconds);
  io.nullable("peak_bytes", event.peak_bytes);
  io.nullable("room_bytes", event.room_bytes);
  io("reserved_bytes", event.reserved_bytes);
  io("evaluation", event.evaluation);
  io("examples", event.examples);
  io("unseen", event.unseen);
  io("error", event.error);
}

} // namespace batchscope::telemetry
