#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/schedule/batch_schedule.h"
#include "core/schedule/edited.h"
#include "core/schedule/schedule_text.h"

namespace batchscope::schedule {

/// One function per kind; make_schedule() selects one by name. They throw as make_schedule() does.
std::unique_ptr<BatchSchedule> make_constant(const ScheduleText& text, const ScheduleOrigin& origin);
std::unique_ptr<BatchSchedule> make_step(const ScheduleText& text, const ScheduleOrigin& origin);
std::unique_ptr<BatchSchedule> make_piecewise(const ScheduleText& text, const ScheduleOrigin& origin);
std::unique_ptr<BatchSchedule> make_linear(const ScheduleText& text, const ScheduleOrigin& origin);
std::unique_ptr<BatchSchedule> make_exponential(const ScheduleText& text, const ScheduleOrigin& origin);
std::unique_ptr<BatchSchedule> make_adabatch(const ScheduleText& text, const ScheduleOrigin& origin);
/// `expression` is the text after `formula:`; it may contain commas.
std::unique_ptr<BatchSchedule> make_formula(const std::string& expression, const ScheduleOrigin& origin);
/// `text` is the text of an edited schedule, see edited.h.
std::unique_ptr<BatchSchedule> make_edited(const std::string& text, const ScheduleOrigin& origin);
std::optional<std::int64_t> first_batch_of_edited(const EditedText& edited);

/// `value` rounded down to an integer batch, saturated to the range of int64. A value that is below an integer only by
/// a rounding error gives that integer (16 * 4^0.5 is 32).
std::int64_t whole_batch(double value);

} // namespace batchscope::schedule
