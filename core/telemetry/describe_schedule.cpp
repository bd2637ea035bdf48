// Descriptions of events about batch sizes, schedules and learning rates.
#include "core/telemetry/detail/descriptions.h"

namespace batchscope::telemetry {

namespace {

Description refused(Words title, Words sentence, const Reason& reason) {
  return {.title = {title},
          .details = {message_of(reason)},
          .sentence = {MessageOf(sentence).reason("reason", reason)},
          .alarming = true,
          .group = EventGroup::edits};
}

std::optional<Argument> counted(const std::optional<std::int64_t>& value) {
  return value ? std::optional(Argument(Count{*value})) : std::nullopt;
}

Words title_of(Clamp::What what) {
  switch (what) {
  case Clamp::What::schedule:
    return Words::schedule_clamped;
  case Clamp::What::batch:
    return Words::batch_clamped;
  case Clamp::What::accumulate:
    return Words::accumulation_clamped;
  }
  return Words::schedule_clamped;
}

Words sentence_of(Clamp::What what) {
  switch (what) {
  case Clamp::What::schedule:
    return Words::clamped_schedule;
  case Clamp::What::batch:
    return Words::clamped_batch;
  case Clamp::What::accumulate:
    return Words::clamped_accumulation;
  }
  return Words::clamped_schedule;
}

} // namespace

Description description_of(const ScheduleEdit& event) {
  if (event.refused)
    return refused(Words::edit_refused, Words::schedule_not_changed, *event.refused);
  Description description{.title = {Words::edit_applied}, .group = EventGroup::edits};
  description.before = counted(event.batch_before);
  description.after = counted(event.batch);
  description.details = {
      MessageOf(Words::edit_from).count("applies_from_step", event.applies_from_step).text("schedule", event.schedule)};
  description.sentence = {MessageOf(Words::schedule_changed)
                              .text("before", event.before.value_or(std::string()))
                              .text("schedule", event.schedule)
                              .count("applies_from_step", event.applies_from_step)
                              .count("batch_before", event.batch_before)
                              .count("batch", event.batch)};
  return description;
}

Description description_of(const SharesEdit& event) {
  if (event.refused)
    return refused(Words::shares_not_changed, Words::shares_refused, *event.refused);
  Description description{.title = {Words::shares_changed}, .group = EventGroup::edits};
  const auto filled_in = [&](Words words) -> Message {
    return MessageOf(words).text("shares", event.shares).count("applies_from_step", event.applies_from_step);
  };
  description.details = {filled_in(Words::shares_from)};
  description.sentence = {filled_in(Words::shares_changed_to)};
  return description;
}

Description description_of(const Clamp& event) {
  Description description{.title = {title_of(event.what)}};
  description.before = Count{event.asked};
  description.after = Count{event.taken};
  description.sentence = {MessageOf(sentence_of(event.what))
                              .count("asked", event.asked)
                              .count("taken", event.taken)
                              .reason("reason", event.reason)};
  description.details = description.sentence;
  return description;
}

Description description_of(const ScheduleProblem& event) {
  Description description{.title = {Words::schedule_error}, .alarming = true};
  description.details = {message_of(event.reason)};
  description.sentence = {MessageOf(Words::schedule_error_because).reason("reason", event.reason)};
  return description;
}

Description description_of(const Differs& event) {
  Description description{.title = {Words::differs}};
  description.before = Count{event.planned_batch};
  description.after = Count{event.batch};
  description.details = {MessageOf(Words::differs_by)
                             .count("examples", event.examples)
                             .count("batch", event.batch)
                             .count("planned_examples", event.planned_examples)
                             .count("planned_batch", event.planned_batch)};
  description.sentence = description.details;
  return description;
}

Description description_of(const RateBySteps& event) {
  Description description{.title = {Words::rate_by_steps}};
  description.details = {event.text.empty() ? Message{Words::rate_counts_steps} : verbatim(event.text)};
  description.sentence = description.details;
  return description;
}

Description description_of(const SchedulerFollows& event) {
  const bool progress = event.follows == "progress";
  Description description{.title = progress
                                       ? Message{Words::scheduler}
                                       : Message(MessageOf(Words::scheduler_as_told).text("follows", event.follows))};
  description.details = {MessageOf(progress ? Words::scheduler_follows_progress : Words::scheduler_follows)
                             .text("name", event.name)
                             .text("follows", event.follows)};
  description.sentence = description.details;
  return description;
}

} // namespace batchscope::telemetry
