#include "core/job/apply_command.h"

#include "core/base/json.h"
#include "core/store/run_store.h"

namespace batchscope::job {

namespace {

run::ScheduleEdit edit_of(const store::Command& command) {
  const Json detail = parse_json_or_discard(command.detail_json);
  run::ScheduleEdit edit;
  if (command.number > 0)
    edit.command = command.number;
  if (!detail.is_object())
    return edit;
  if (const auto schedule = detail.find("schedule"); schedule != detail.end() && schedule->is_string())
    edit.schedule = schedule->get<std::string>();
  // 0 is not a valid batch, so the training loop rejects it.
  if (const auto batch = detail.find("batch"); batch != detail.end() && !batch->is_null())
    edit.batch = batch->is_number_integer() ? batch->get<std::int64_t>() : 0;
  return edit;
}

/// No text, which the training loop rejects, if it cannot be read.
run::ScheduleEdit shares_of(const store::Command& command) {
  const Json detail = parse_json_or_discard(command.detail_json);
  run::ScheduleEdit edit;
  if (command.number > 0)
    edit.command = command.number;
  const bool readable = detail.is_object() && detail.contains("shares") && detail["shares"].is_string();
  edit.shares = readable ? detail["shares"].get<std::string>() : ":";
  return edit;
}

/// No bytes, which the training loop rejects, if they cannot be read.
run::BudgetChange budget_of(const store::Command& command) {
  const Json detail = parse_json_or_discard(command.detail_json);
  run::BudgetChange change;
  if (command.number > 0)
    change.command = command.number;
  if (detail.is_object())
    if (const auto bytes = detail.find("bytes"); bytes != detail.end() && bytes->is_number_unsigned())
      change.bytes = bytes->get<std::uint64_t>();
  return change;
}

bool asks_to_save(const store::Command& command) {
  const Json detail = parse_json_or_discard(command.detail_json);
  return detail.is_object() && detail.value("save", Json()) == Json(true);
}

} // namespace

void apply_command(run::RunControl& run, run::JobControl& job, const store::Command& command) {
  if (command.verb == "pause")
    run.pause();
  else if (command.verb == "continue")
    run.resume();
  else if (command.verb == "step")
    run.step_once();
  else if (command.verb == "stop")
    run.stop(asks_to_save(command));
  else if (command.verb == "stop-job")
    job.stop();
  else if (command.verb == "budget")
    run.set_budget(budget_of(command));
  else if (command.verb == "shares")
    static_cast<void>(run.edit(shares_of(command)));
  else if (command.verb == "edit")
    // A late edit has no event; the sender sees that the run has ended.
    static_cast<void>(run.edit(edit_of(command)));
}

} // namespace batchscope::job
