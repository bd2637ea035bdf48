#include "core/run/apply_edit.h"

#include <utility>

#include "core/base/error.h"
#include "core/telemetry/message.h"

namespace batchscope::run {

namespace {

telemetry::Reason not_accepted(const Error& error) {
  return telemetry::because(telemetry::Words::not_accepted, {{"error", std::string(error.what())}});
}

telemetry::EventBody apply_shares(const ScheduleEdit& edit, schedule::Progression& progression) {
  telemetry::SharesEdit answer{.shares = *edit.shares, .before = progression.shares_text(), .command = edit.command};
  try {
    progression.set_shares(*edit.shares);
    answer.applies_from_step = progression.steps_done() + 1;
  } catch (const Error& error) {
    answer.refused = not_accepted(error);
  }
  return answer;
}

} // namespace

telemetry::EventBody apply_edit(const ScheduleEdit& edit, schedule::Progression& progression) {
  if (edit.shares)
    return apply_shares(edit, progression);
  telemetry::ScheduleEdit answer{
      .schedule = edit.schedule, .before = progression.schedule_text(), .command = edit.command};
  try {
    const std::int64_t batch_before = progression.batch();
    progression.edit(edit.schedule, edit.batch);
    answer.batch_before = batch_before;
    answer.batch = progression.batch();
    answer.applies_from_step = progression.steps_done() + 1;
  } catch (const Error& error) {
    answer.refused = not_accepted(error);
  }
  return answer;
}

telemetry::EventBody refused(const ScheduleEdit& edit, telemetry::Reason why) {
  if (edit.shares)
    return telemetry::SharesEdit{.shares = *edit.shares, .command = edit.command, .refused = std::move(why)};
  return telemetry::ScheduleEdit{.schedule = edit.schedule, .command = edit.command, .refused = std::move(why)};
}

bool is_refused(const telemetry::EventBody& answer) {
  if (const auto* shares = std::get_if<telemetry::SharesEdit>(&answer))
    return shares->refused.has_value();
  const auto* edit = std::get_if<telemetry::ScheduleEdit>(&answer);
  return edit && edit->refused;
}

} // namespace batchscope::run
