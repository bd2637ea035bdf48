#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/schedule/batch_schedule.h"
#include "core/schedule/edited.h"
#include "core/schedule/schedule_text.h"

namespace batchscope::schedule {

/// Makers of the single kinds; make_schedule picks one by name. They throw as make_schedule does.
std::unique_ptr<BatchSchedule> make_constant(const ScheduleText& text, const ScheduleOrigin& origin);
std::unique_ptr<BatchSchedule> make_step(const ScheduleText& text, const ScheduleOrigin& origin);
std::unique_ptr<BatchSchedule> make_piecewise(const ScheduleText& text, const ScheduleOrigin& origin);
std::unique_ptr<BatchSchedule> make_linear(const ScheduleText& text, const ScheduleOrigin& origin);
std::unique_ptr<BatchSchedule> make_exponential(const ScheduleText& text, const ScheduleOrigin& origin);
std::unique_ptr<BatchSchedule> make_adabatch(const ScheduleText& text, const ScheduleOrigin& origin);
/// `expression` is what stands after `formula:`; it may hold commas.
std::unique_ptr<BatchSchedule> make_formula(const std::string& expression, const ScheduleOrigin& origin);
/// `text` is that of an edited schedule, see edited.h.
std::unique_ptr<BatchSchedule> make_edited(const std::string& text, const ScheduleOrigin& origin);
std::optional<std::int64_t> first_batch_of_edited(const EditedText& edited);

/// `value` rounded down to a whole batch size, saturated to the range of int64. A value that rounding left a hair
/// below a whole number counts as that number (16 * 4^0.5 is 32).
std::int64_t whole_batch(double value);

} // namespace batchscope::schedule
