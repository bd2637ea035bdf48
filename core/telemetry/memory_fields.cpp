#include "core/telemetry/detail/memory_fields.h"

namespace batchscope::telemetry {

namespace {

/// As it was before there were codes: the cause in words, or the place.
std::string cause_text(const OutOfMemory& event) {
  const auto words = cause_of(event);
  if (!words)
    return event.where == OutOfMemory::Where::training ? std::string("training step")
                                                       : std::string(name_of(event.where, oom_places));
  return event.cause >= OutOfMemory::Cause::device ? std::string(name_of(event.cause, oom_causes)) : english(*words);
}

} // namespace

void use_fields(Reading& io, OutOfMemory& event) {
  const auto by = io.detail().find("in_use_by");
  io.derived("in_use_by", [] {});
  if (by == io.detail().end() || !by->is_object() || by->empty())
    return;
  event.in_use_by.emplace();
  Reading uses(*by);
  for (int use = 0; use < use_count; ++use) {
    std::optional<std::uint64_t> bytes;
    uses(to_string(static_cast<Use>(use)), bytes);
    event.in_use_by->at(static_cast<std::size_t>(use)) = bytes.value_or(0);
  }
}

void use_fields(Writing& io, const OutOfMemory& event) {
  if (!event.in_use_by)
    return;
  Json& by = io.out()["in_use_by"];
  for (int use = 0; use < use_count; ++use)
    by[to_string(static_cast<Use>(use))] = event.in_use_by->at(static_cast<std::size_t>(use));
}

void course_fields(Reading& io, OutOfMemory& event) {
  io.named("where", event.where, oom_places);
  io.named("outcome", event.outcome, oom_outcomes);
  io("micro_batch_after", event.split_to);
  io("split_to", event.split_to);
  io.named("cause_code", event.cause, oom_causes);
  io.reason("reason", event.reason);
  io("text", event.error); // of the first clients
  io("error", event.error);
  io.derived("action", [] {});
  io.derived("cause", [] {});
  if (!io.has("outcome"))
    complete_earlier(io.detail(), event);
  else if (!io.was_read("outcome")) // of a later version: something was done
    event.outcome = event.split_to ? OutOfMemory::Outcome::split : OutOfMemory::Outcome::retried;
}

void course_fields(Writing& io, const OutOfMemory& event) {
  if (event.nominal_batch || event.where == OutOfMemory::Where::evaluation)
    io("micro_batch_after", event.split_to);
  io.named("where", event.where, oom_places);
  io.named("outcome", event.outcome, oom_outcomes);
  io("split_to", event.split_to);
  io.reason("reason", event.reason);
  io("error", event.error);
  io("text", event.error);
  io.derived("action", [&] { return english(action_of(event)); });
  io.derived("cause", [&] { return cause_text(event); });
  io.named("cause_code", event.cause, oom_causes);
}

} // namespace batchscope::telemetry
