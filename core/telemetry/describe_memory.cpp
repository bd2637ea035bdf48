// Descriptions of events about memory.
#include <algorithm>
#include <map>

#include "core/telemetry/detail/descriptions.h"

namespace batchscope::telemetry {

namespace {

using Cause = OutOfMemory::Cause;
using Counts = OutOfMemory::Counts;
using Outcome = OutOfMemory::Outcome;
using Where = OutOfMemory::Where;

Words words_of(Phase phase) {
  switch (phase) {
  case Phase::setup:
    return Words::place_setup;
  case Phase::optimizer_state:
    return Words::place_optimizer_state;
  case Phase::batch:
    return Words::place_batch;
  case Phase::forward:
    return Words::place_forward;
  case Phase::backward:
    return Words::place_backward;
  case Phase::update:
    return Words::place_update;
  case Phase::evaluation:
    return Words::place_evaluation;
  }
  return Words::place_setup;
}

/// Words for the place of an error; nothing for the training itself, which need not be mentioned.
std::optional<Words> words_of(Where where) {
  switch (where) {
  case Where::update:
    return Words::place_update;
  case Where::evaluation:
    return Words::place_evaluation;
  case Where::loading:
    return Words::place_loading;
  case Where::training:
  case Where::outside: // what ended the program is said instead
    break;
  }
  return std::nullopt;
}

std::optional<Words> words_of(Cause cause) {
  switch (cause) {
  case Cause::none:
    return std::nullopt;
  case Cause::unknown:
    return Words::cause_unknown;
  case Cause::growing_back:
    return Words::cause_growing_back;
  case Cause::first_batch:
    return Words::cause_first_batch;
  case Cause::schedule:
    return Words::cause_schedule;
  case Cause::longer_example:
    return Words::cause_longer_example;
  case Cause::lowered_budget:
    return Words::cause_lowered_budget;
  case Cause::growth:
    return Words::cause_growth;
  case Cause::fragmentation:
    return Words::cause_fragmentation;
  case Cause::other_process:
    return Words::cause_other_process;
  case Cause::device:
    return Words::cause_device;
  case Cause::host:
    return Words::cause_host;
  case Cause::kernel:
    return Words::cause_kernel;
  case Cause::loader_worker:
    return Words::cause_loader_worker;
  }
  return std::nullopt;
}

/// As it is said of a step that has no other name for its place.
MessageOf& add_place(MessageOf& message, const std::optional<Words>& place) {
  return place ? message.words("place", {*place}) : message;
}

Words words_of_counts(Counts counts) {
  switch (counts) {
  case Counts::budget:
    return Words::in_use_of_limit;
  case Counts::process:
    return Words::in_use_of_process;
  case Counts::not_known:
    break;
  }
  return Words::in_use_as_counted;
}

/// Bytes in use and the limit together only where both count the same.
void add_in_use(const OutOfMemory& event, std::vector<Message>& sentence) {
  const bool comparable = event.counts == Counts::budget;
  if (event.in_use_bytes) {
    MessageOf in_use(words_of_counts(event.counts));
    in_use.bytes("in_use_bytes", event.in_use_bytes);
    if (comparable)
      in_use.bytes("limit_bytes", event.limit_bytes);
    sentence.push_back(in_use);
  }
  if (event.limit_bytes && !(comparable && event.in_use_bytes))
    sentence.push_back(MessageOf(Words::budget_beside).bytes("limit_bytes", event.limit_bytes));
}

Words words_of_failure(const OutOfMemory& event) {
  if (event.nominal_batch)
    return Words::run_ends; // only the engine knows it
  switch (event.where) {
  case Where::training:
    return Words::not_split;
  case Where::evaluation:
    return Words::evaluation_not_shrunk;
  case Where::update:
  case Where::loading:
    return Words::not_survived;
  case Where::outside:
    return Words::program_has_ended;
  }
  return Words::not_survived;
}

Message split_action(const OutOfMemory& event) {
  if (event.examples_again && event.micro_batches_after && event.split_to)
    return MessageOf(Words::retried_in_parts)
        .count("examples_again", event.examples_again)
        .add("after", Parts{*event.micro_batches_after, *event.split_to});
  return event.split_to ? MessageOf(Words::split_to).count("split_to", event.split_to) : MessageOf(Words::split);
}

std::string mean_over_id(const std::string& mean_over) {
  std::string id = "mean-over-" + mean_over;
  std::replace(id.begin(), id.end(), ' ', '-');
  return id;
}

Message mean_over_words(const std::string& mean_over) {
  for (const Words known :
       {Words::mean_over_examples, Words::mean_over_labels, Words::mean_over_shifted_labels, Words::mean_over_weight,
        Words::mean_over_terms, Words::mean_over_sum, Words::mean_over_label_weights})
    if (id_of(known) == mean_over_id(mean_over))
      return {known};
  return verbatim(mean_over);
}

} // namespace

bool survived(const OutOfMemory& event) {
  return event.outcome != Outcome::not_survived;
}

const char* place_of(Where where) {
  switch (where) {
  case Where::update:
    return "update";
  case Where::evaluation:
    return "evaluation";
  case Where::loading:
    return "loading";
  case Where::training:
  case Where::outside:
    break;
  }
  return "";
}

Message action_of(const OutOfMemory& event) {
  switch (event.outcome) {
  case Outcome::split:
    return split_action(event);
  case Outcome::smaller:
    return MessageOf(event.where == Where::evaluation && event.split_to ? Words::evaluation_shrunk
                                                                        : Words::made_smaller)
        .count("split_to", event.split_to);
  case Outcome::retried:
    return {Words::tried_again};
  case Outcome::not_survived:
    break;
  }
  return MessageOf(words_of_failure(event)).reason("reason", event.reason);
}

std::optional<Message> cause_of(const OutOfMemory& event) {
  const auto words = words_of(event.cause);
  return words ? std::optional(Message{*words}) : std::nullopt;
}

Description description_of(const OutOfMemory& event) {
  Description description{.title = {Words::out_of_memory}, .alarming = true, .group = EventGroup::out_of_memory};
  const auto place = event.phase ? std::optional(words_of(*event.phase)) : words_of(event.where);
  MessageOf title(Words::out_of_memory);
  description.title = add_place(title, place);
  if (event.attempted_batch)
    description.before = Parts{event.micro_batches_before.value_or(1), *event.attempted_batch};
  if (survived(event) && event.split_to)
    description.after = Parts{event.micro_batches_after.value_or(1), *event.split_to};
  if (event.requested_bytes)
    description.requested = Bytes{*event.requested_bytes};
  if (event.in_use_bytes && event.counts == Counts::process)
    description.in_use =
        std::vector<Message>{MessageOf(Words::with_libraries).bytes("in_use_bytes", event.in_use_bytes)};
  else if (event.in_use_bytes)
    description.in_use = Bytes{*event.in_use_bytes};
  description.details = {action_of(event)};

  MessageOf first(Words::out_of_memory_with);
  add_place(first, words_of(event.where))
      .plain("rank", event.rank)
      .count("attempted_batch", event.attempted_batch)
      .bytes("requested_bytes", event.requested_bytes);
  description.sentence = {first};
  add_in_use(event, description.sentence);
  description.sentence.push_back(action_of(event));
  if (const auto cause = cause_of(event))
    description.sentence.push_back(MessageOf(Words::likely_cause).words("cause", *cause));
  if (!survived(event) && !event.error.empty())
    description.sentence.push_back(MessageOf(Words::error).text("error", event.error));
  return description;
}

Description description_of(const BudgetChange& event) {
  Description description{.title = {Words::budget_changed}, .group = EventGroup::edits};
  if (event.refused) {
    description.title = {Words::budget_not_changed};
    if (event.asked_bytes)
      description.requested = Bytes{*event.asked_bytes};
    description.details = {message_of(*event.refused)};
    description.sentence = {MessageOf(Words::budget_refused).reason("reason", *event.refused)};
    description.alarming = true;
    return description;
  }
  const auto shown = [](const std::optional<std::uint64_t>& bytes) {
    return bytes ? Argument(Bytes{*bytes}) : Argument(std::vector<Message>{{Words::no_budget}});
  };
  description.before = shown(event.before_bytes);
  description.after = shown(event.budget_bytes);
  if (event.why == BudgetChange::Why::follows_free_memory)
    description.details = {{Words::follows_free_memory}};
  else if (event.why == BudgetChange::Why::taken_back)
    description.details = {MessageOf(Words::budget_taken_back).reason("reason", event.reason)};
  description.sentence = {MessageOf(Words::budget_changed_from)
                              .add("before_bytes", *description.before)
                              .add("budget_bytes", *description.after)
                              .list("why", description.details)};
  return description;
}

Description description_of(const BudgetNotKept& event) {
  Description description{.title = {Words::budget_not_kept}, .alarming = true};
  if (!event.reason.empty())
    description.details.push_back(message_of(event.reason));
  if (event.needed_bytes)
    description.details.push_back(MessageOf(Words::needed_of_limit)
                                      .bytes("needed_bytes", event.needed_bytes)
                                      .bytes("limit_bytes", event.limit_bytes));
  description.sentence = {MessageOf(Words::budget_not_kept_because)
                              .reason("reason", event.reason)
                              .bytes("limit_bytes", event.limit_bytes)
                              .bytes("needed_bytes", event.needed_bytes)};
  return description;
}

Description description_of(const GrowingMemory& event) {
  Description description{.title = {Words::growing_memory}, .alarming = true};
  const auto filled_in = [&](Words words) {
    MessageOf message(words);
    const auto bytes_of = [](std::int64_t value) {
      return static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0));
    };
    message.bytes("bytes_per_step", bytes_of(event.bytes_per_step)).count("since_step", event.since_step);
    if (event.bytes)
      message.bytes("bytes", bytes_of(*event.bytes));
    return Message(message);
  };
  description.details = {filled_in(Words::grows_by)};
  description.sentence = {filled_in(Words::growing_by)};
  return description;
}

Description description_of(const SplitLoss& event) {
  Description description{.title = {Words::split_loss}};
  const Message mean_over = mean_over_words(event.mean_over);
  description.details = {MessageOf(Words::put_together_by).words("mean_over", mean_over)};
  if (event.relative_error)
    description.details.push_back(
        MessageOf(Words::put_together_exactly).number("relative_error", event.relative_error));
  description.sentence = {
      MessageOf(Words::split_loss_by).words("mean_over", mean_over).number("relative_error", event.relative_error)};
  std::vector<Message> more;
  if (event.pieces)
    more.push_back(MessageOf(Words::of_pieces).count("pieces", event.pieces));
  if (event.batch_norm)
    more.push_back({Words::splits_batch_norm});
  if (event.random)
    more.push_back({Words::splits_random});
  for (const Message& each : more) {
    description.details.push_back(each);
    description.sentence.push_back(each);
  }
  return description;
}

Description description_of(const Retry& event) {
  Description description{.title = {Words::retry}};
  description.details = {
      event.text.empty()
          ? Message(MessageOf(event.after == Retry::After::garbage ? Words::retry_after_garbage : Words::retry_of)
                        .count("attempted_batch", event.attempted_batch))
          : verbatim(event.text)};
  description.sentence = description.details;
  return description;
}

} // namespace batchscope::telemetry
