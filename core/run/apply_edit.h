#pragma once

#include "core/run/run_control.h"
#include "core/schedule/progression.h"
#include "core/telemetry/events.h"

namespace batchscope::run {

/// Applies an edit at the progression's step boundary. One that it does not accept changes nothing. Returns the event
/// that answers it, a telemetry::ScheduleEdit or, of shares, a telemetry::SharesEdit.
telemetry::EventBody apply_edit(const ScheduleEdit& edit, schedule::Progression& progression);

/// The answer to an edit that cannot be applied at all.
telemetry::EventBody refused(const ScheduleEdit& edit, telemetry::Reason why);

/// Whether an answer says that nothing was changed.
bool is_refused(const telemetry::EventBody& answer);

} // namespace batchscope::run
