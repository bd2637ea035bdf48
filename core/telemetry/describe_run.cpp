// Descriptions of events of any run.
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/telemetry/detail/descriptions.h"

namespace batchscope::telemetry {

namespace {

Words words_of(StatusChange::Status status) {
  using Status = StatusChange::Status;
  switch (status) {
  case Status::running:
    return Words::status_running;
  case Status::paused:
    return Words::status_paused;
  case Status::queued:
    return Words::status_queued;
  case Status::finished:
    return Words::status_finished;
  case Status::stopped:
    return Words::status_stopped;
  case Status::failed:
    return Words::status_failed;
  case Status::interrupted:
    return Words::status_interrupted;
  }
  return Words::status_running;
}

std::string shown(const Json& value) {
  return value.is_string() ? value.get<std::string>() : json_text(value);
}

/// A sentence of whoever sent the event goes before a list of its fields.
std::string sentence_in(const Json& detail) {
  for (const char* field : {"message", "text"})
    if (std::string text = text_member(detail, field); !text.empty())
      return text;
  return {};
}

std::vector<Message> fields_in(const Json& detail) {
  std::vector<Message> fields;
  if (!detail.is_object())
    return fields;
  for (const auto& [name, value] : detail.items())
    fields.push_back(MessageOf(Words::named).text("name", name).add("text", Text{shown(value)}));
  return fields;
}

} // namespace

Description description_of(const ValuesOnly& /*event*/) {
  return {.title = verbatim({})};
}

/// Describes an event of a kind without words: its fields as they are.
Description description_of(const UnknownEvent& event) {
  const Json detail = parse_json_or_discard(event.detail_json);
  Description description{.title = MessageOf(Words::kind).text("kind", event.kind)};
  if (const std::string text = sentence_in(detail); !text.empty()) {
    description.details = {verbatim(text)};
    description.sentence = {MessageOf(Words::named).text("name", event.kind).text("text", text)};
    return description;
  }
  description.details = fields_in(detail);
  description.sentence = {
      MessageOf(Words::kind_with_fields).text("kind", event.kind).list("fields", description.details)};
  return description;
}

Description description_of(const Evaluation& event) {
  Description description{.title = {Words::validation}, .group = EventGroup::evaluations};
  if (event.loss)
    description.details.push_back(MessageOf(Words::loss_is).number("loss", event.loss));
  if (event.accuracy)
    description.details.push_back(MessageOf(Words::accuracy_is).add("accuracy", Share{*event.accuracy}));
  description.sentence = {MessageOf(Words::validation_results).list("results", description.details)};
  return description;
}

Description description_of(const StatusChange& event) {
  Description description{.title = {words_of(event.status)}};
  if (event.text.empty())
    return description;
  description.details = {verbatim(event.text)};
  description.sentence = {MessageOf(Words::named_words).words("name", description.title).text("text", event.text)};
  return description;
}

Description description_of(const CheckpointWritten& event) {
  Description description{.title = {Words::checkpoint}, .alarming = !event.error.empty()};
  if (event.error.empty())
    description.details = {MessageOf(Words::checkpoint_written)
                               .bytes("bytes", event.bytes)
                               .seconds("write_seconds", event.write_seconds)
                               .seconds("copy_seconds", event.copy_seconds)};
  else
    description.details = {MessageOf(Words::checkpoint_not_written).text("error", event.error)};
  description.sentence = {MessageOf(Words::checkpoint_line).list("what", description.details)};
  return description;
}

Description description_of(const WeightsWritten& event) {
  Description description{.title = {Words::weights}};
  description.details = {MessageOf(Words::weights_written).bytes("bytes", event.bytes).text("file", event.file)};
  description.sentence = {MessageOf(Words::weights_line).list("what", description.details)};
  return description;
}

Description description_of(const Resumed& event) {
  Description description{.title = {Words::resumed}};
  if (event.from_step)
    description.details.push_back(MessageOf(Words::from_checkpoint).count("from_step", event.from_step));
  if (event.replaced_steps == 1)
    description.details.push_back({Words::later_step_again});
  else if (event.replaced_steps.value_or(0) > 1)
    description.details.push_back(MessageOf(Words::later_steps_again).count("replaced_steps", event.replaced_steps));
  for (const Reason& note : event.notes)
    description.details.push_back(message_of(note));
  if (description.details.empty())
    return description;
  description.sentence = description.details;
  description.sentence.front() = MessageOf(Words::resumed_line).words("what", description.details.front());
  return description;
}

} // namespace batchscope::telemetry
