#pragma once

#include "core/schedule/progression.h"
#include "core/telemetry/record.h"

namespace batchscope::schedule {

/// Record of a step that was not made yet, as far as it is known; loss and gradient norm are NaN.
telemetry::StepRecord planned_record(const PlannedStep& step);

} // namespace batchscope::schedule
