#pragma once

#include "core/base/json.h"
#include "core/schedule/batch_schedule.h"

// Schedules in checkpoints. Doubles are exact. What a schedule is, its text, batch and origin, must be there; what
// earlier versions did not have has its default. Reading throws Error (input), or Json::exception from the state of a
// schedule, for JSON of another form.
namespace batchscope::schedule::detail {

Json to_json(const ScheduleState& state);
ScheduleState state_from_json(const Json& json);

/// A schedule as its text, origin and state, the base of an edited one with its course.
Json to_json(const Course& course);
Course course_from_json(const Json& json);

/// The same course, with a schedule of its own.
Course copy_of(const Course& course);

} // namespace batchscope::schedule::detail
