#pragma once

#include "core/schedule/progression.h"
#include "core/telemetry/record.h"

namespace batchscope::schedule {

/// What is known of a step's record before the step is made; loss and gradient norm are NaN.
telemetry::StepRecord planned_record(const PlannedStep& step);

} // namespace batchscope::schedule
