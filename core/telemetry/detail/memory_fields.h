#pragma once

#include <array>

#include "core/telemetry/describe.h"
#include "core/telemetry/detail/event_io.h"
#include "core/telemetry/detail/legacy_events.h"
#include "core/telemetry/english.h"

// The fields of events about memory.
namespace batchscope::telemetry {

inline constexpr std::array<Named<OutOfMemory::Where>, 5> oom_places = {{{OutOfMemory::Where::training, "training"},
                                                                         {OutOfMemory::Where::update, "update"},
                                                                         {OutOfMemory::Where::evaluation, "evaluation"},
                                                                         {OutOfMemory::Where::loading, "loading"},
                                                                         {OutOfMemory::Where::outside, "outside"}}};
inline constexpr std::array<Named<OutOfMemory::Outcome>, 4> oom_outcomes = {
    {{OutOfMemory::Outcome::split, "split"},
     {OutOfMemory::Outcome::smaller, "smaller"},
     {OutOfMemory::Outcome::retried, "retried"},
     {OutOfMemory::Outcome::not_survived, "not-survived"}}};
inline constexpr std::array<Named<OutOfMemory::Cause>, 14> oom_causes = {
    {{OutOfMemory::Cause::none, ""},
     {OutOfMemory::Cause::unknown, "unknown"},
     {OutOfMemory::Cause::growing_back, "growing-back"},
     {OutOfMemory::Cause::first_batch, "first-batch"},
     {OutOfMemory::Cause::schedule, "schedule"},
     {OutOfMemory::Cause::longer_example, "longer-example"},
     {OutOfMemory::Cause::lowered_budget, "lowered-budget"},
     {OutOfMemory::Cause::growth, "growth"},
     {OutOfMemory::Cause::fragmentation, "fragmentation"},
     {OutOfMemory::Cause::other_process, "other-process"},
     {OutOfMemory::Cause::device, "device"},
     {OutOfMemory::Cause::host, "host"},
     {OutOfMemory::Cause::kernel, "kernel"},
     {OutOfMemory::Cause::loader_worker, "loader worker"}}};
inline constexpr std::array<Named<OutOfMemory::Counts>, 3> oom_counts = {{{OutOfMemory::Counts::not_known, ""},
                                                                          {OutOfMemory::Counts::budget, "budget"},
                                                                          {OutOfMemory::Counts::process, "process"}}};
inline constexpr std::array<Named<Retry::After>, 3> retry_afters = {
    {{Retry::After::libraries, ""}, {Retry::After::libraries, "libraries"}, {Retry::After::garbage, "garbage"}}};
inline constexpr std::array<Named<Phase>, 9> phases = {{{Phase::setup, "setup"},
                                                        {Phase::optimizer_state, "optimizer state"},
                                                        {Phase::optimizer_state, "optimizer_state"},
                                                        {Phase::batch, "batch"},
                                                        {Phase::forward, "forward"},
                                                        {Phase::backward, "backward"},
                                                        {Phase::update, "optimizer step"},
                                                        {Phase::update, "update"},
                                                        {Phase::evaluation, "evaluation"}}};
inline constexpr std::array<Named<BudgetChange::Why>, 3> budget_whys = {
    {{BudgetChange::Why::asked, ""},
     {BudgetChange::Why::follows_free_memory, "follows-free-memory"},
     {BudgetChange::Why::taken_back, "taken-back"}}};

/// The bytes in use by what they are used for.
void use_fields(Reading& io, OutOfMemory& event);
void use_fields(Writing& io, const OutOfMemory& event);
/// Where it happened, what was done and why, also as sentences for versions before codes.
void course_fields(Reading& io, OutOfMemory& event);
void course_fields(Writing& io, const OutOfMemory& event);

template <typename Io> void fields(Io& io, typename Io::template Of<OutOfMemory>& event) {
  io.nullable("attempted_batch", event.attempted_batch);
  io("nominal_batch", event.nominal_batch);
  io("accumulate", event.accumulate);
  io("effective_batch", event.effective_batch);
  io("longest_example", event.longest_example);
  io.nullable("requested_bytes", event.requested_bytes);
  io.nullable("in_use_bytes", event.in_use_bytes);
  io.named("in_use_of", event.counts, oom_counts);
  io("reserved_bytes", event.reserved_bytes);
  io.nullable("limit_bytes", event.limit_bytes);
  io.named("phase", event.phase, phases);
  use_fields(io, event);
  io("micro_batches_before", event.micro_batches_before);
  io("micro_batches_after", event.micro_batches_after);
  io("micro_batch_before", event.micro_batch_before);
  io("examples_again", event.examples_again);
  io("rank", event.rank);
  course_fields(io, event);
}

template <typename Io> void fields(Io& io, typename Io::template Of<BudgetChange>& event) {
  if constexpr (Io::reads)
    io.require(io.has("budget_bytes") || io.has("asked_bytes"));
  io.nullable("before_bytes", event.before_bytes);
  io("asked_bytes", event.asked_bytes);
  io("command", event.command);
  io.nullable("budget_bytes", event.budget_bytes);
  io("applies_from_step", event.applies_from_step);
  io.named("why", event.why, budget_whys);
  io.reason("reason", event.reason);
  io.reason("refused", event.refused);
  io.derived("message", [&] {
    const Description description = describe({.body = event});
    return event.refused || description.details.empty() ? std::string() : english(description.details.front());
  });
  if constexpr (Io::reads)
    complete_earlier(io.detail(), event);
}

template <typename Io> void fields(Io& io, typename Io::template Of<BudgetNotKept>& event) {
  io.reason("reason", event.reason);
  io.nullable("limit_bytes", event.limit_bytes);
  io.nullable("needed_bytes", event.needed_bytes);
}

template <typename Io> void fields(Io& io, typename Io::template Of<GrowingMemory>& event) {
  io.required("bytes_per_step", event.bytes_per_step);
  io.required("since_step", event.since_step);
  io("bytes", event.bytes);
}

template <typename Io> void fields(Io& io, typename Io::template Of<SplitLoss>& event) {
  io.required("mean_over", event.mean_over);
  io.nullable("relative_error", event.relative_error);
  io.nullable("pieces", event.pieces);
  io("batch_norm", event.batch_norm);
  io("random", event.random);
}

template <typename Io> void fields(Io& io, typename Io::template Of<Retry>& event) {
  if constexpr (Io::reads)
    io("batch", event.attempted_batch); // of a program
  io("attempted_batch", event.attempted_batch);
  if constexpr (Io::reads)
    if (event.attempted_batch < 0)
      event.attempted_batch.reset();
  io.named("after", event.after, retry_afters);
  text_field(io, event);
}

} // namespace batchscope::telemetry
