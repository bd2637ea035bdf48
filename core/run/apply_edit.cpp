#include "core/run/apply_edit.h"

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/text.h"

namespace batchscope::run {

namespace {

Json edit_json(const ScheduleEdit& edit) {
  Json json = edit.shares ? Json{{"shares", *edit.shares}} : Json{{"schedule", edit.schedule}};
  if (edit.command)
    json["command"] = *edit.command;
  return json;
}

EditAnswer answer_to(const ScheduleEdit& edit, const Json& json) {
  return {edit.shares ? "shares" : "edit", json_text(json)};
}

EditAnswer apply_shares(const ScheduleEdit& edit, schedule::Progression& progression) {
  const std::int64_t step = progression.steps_done() + 1;
  Json json = edit_json(edit);
  json["before"] = progression.shares_text();
  try {
    progression.set_shares(*edit.shares);
    json["applies_from_step"] = step;
    json["message"] = *edit.shares + " from step " + format_count(step) + " on";
  } catch (const Error& error) {
    json["refused"] = error.what();
    json["message"] = std::string("not changed: ") + error.what();
  }
  return answer_to(edit, json);
}

} // namespace

EditAnswer apply_edit(const ScheduleEdit& edit, schedule::Progression& progression) {
  if (edit.shares)
    return apply_shares(edit, progression);
  Json json = edit_json(edit);
  json["before"] = progression.schedule_text();
  try {
    const std::int64_t batch_before = progression.batch();
    progression.edit(edit.schedule, edit.batch);
    json["batch_before"] = batch_before;
    json["batch"] = progression.batch();
    json["applies_from_step"] = progression.steps_done() + 1;
  } catch (const Error& error) {
    json["refused"] = error.what();
  }
  return answer_to(edit, json);
}

EditAnswer refused(const ScheduleEdit& edit, const std::string& why) {
  Json json = edit_json(edit);
  json["refused"] = why;
  return answer_to(edit, json);
}

std::string schedule_event_json(const schedule::ScheduleEvent& event) {
  Json json;
  if (event.kind == "clamp") {
    json["asked"] = event.asked;
    json["given"] = event.given;
  }
  json["message"] = event.message;
  return json_text(json);
}

} // namespace batchscope::run
