#pragma once

#include <string>

#include "core/run/run_control.h"
#include "core/schedule/progression.h"

namespace batchscope::run {

/// The event that answers an edit of a run's schedule or shares.
struct EditAnswer {
  const char* kind = "edit"; ///< or `shares`
  std::string detail_json;
};

/// Applies an edit at the progression's step boundary. One that it does not accept changes nothing; the answer says
/// why.
EditAnswer apply_edit(const ScheduleEdit& edit, schedule::Progression& progression);

/// The answer to an edit that cannot be applied at all, one line.
EditAnswer refused(const ScheduleEdit& edit, const std::string& why);

/// Detail of the event that reports what a schedule could not do; its kind is that of `event`.
std::string schedule_event_json(const schedule::ScheduleEvent& event);

} // namespace batchscope::run
