#include "core/sweep/obey.h"

#include "core/base/json.h"

namespace batchscope::sweep {

namespace {

train::ScheduleEdit edit_of(const std::string& detail_json) {
  const Json detail = Json::parse(detail_json, nullptr, false);
  train::ScheduleEdit edit;
  if (!detail.is_object())
    return edit;
  if (const auto schedule = detail.find("schedule"); schedule != detail.end() && schedule->is_string())
    edit.schedule = schedule->get<std::string>();
  // No batch has the size 0: the loop says so.
  if (const auto batch = detail.find("batch"); batch != detail.end() && !batch->is_null())
    edit.batch = batch->is_number_integer() ? batch->get<std::int64_t>() : 0;
  return edit;
}

} // namespace

void obey(train::RunControl& control, const store::Command& command) {
  if (command.verb == "pause")
    control.pause();
  else if (command.verb == "continue")
    control.resume();
  else if (command.verb == "step")
    control.step_once();
  else if (command.verb == "stop")
    control.stop();
  else if (command.verb == "edit")
    control.edit(edit_of(command.detail_json));
}

} // namespace batchscope::sweep
