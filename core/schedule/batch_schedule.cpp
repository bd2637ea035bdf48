#include "core/schedule/batch_schedule.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/schedule/schedule_kind.h"

namespace batchscope::schedule {

double BatchSchedule::learning_rate_factor(const ScheduleState& /*state*/) const {
  return 1;
}

std::int64_t BatchSchedule::first_batch(const ScheduleOrigin& origin) const {
  return origin.batch;
}

std::optional<Course> BatchSchedule::base() const {
  return std::nullopt;
}

void BatchSchedule::set_origin(ScheduleOrigin origin) {
  origin.courses.clear();
  origin_ = std::make_shared<const ScheduleOrigin>(std::move(origin));
}

ScheduleAnswer advance(Course& course, ScheduleState state) {
  state.batch = course.batch;
  const ScheduleAnswer answer = course.schedule->next(state);
  if (answer.problem.empty())
    course.batch = std::clamp(answer.batch, std::int64_t{1}, std::max<std::int64_t>(state.max_batch, 1));
  return answer;
}

std::int64_t whole_batch(double value) {
  // 2^63 is the first double above the range; everything below it that is finite converts.
  constexpr double limit = 9223372036854775808.0;
  const double whole = std::floor(value + std::abs(value) * 1e-12);
  if (whole >= limit)
    return std::numeric_limits<std::int64_t>::max();
  if (whole < -limit)
    return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(whole);
}

std::optional<double> fraction_done(const RunLength& length, std::int64_t steps, std::int64_t examples,
                                    std::optional<double> epochs) {
  const auto fraction = [](double done, std::int64_t all) {
    return done / static_cast<double>(std::max<std::int64_t>(all, 1));
  };
  if (length.steps)
    return fraction(static_cast<double>(steps), *length.steps);
  if (length.examples)
    return fraction(static_cast<double>(examples), *length.examples);
  return length.epochs && epochs ? std::optional(fraction(*epochs, *length.epochs)) : std::nullopt;
}

std::unique_ptr<BatchSchedule> make_schedule(const std::string& text, const ScheduleOrigin& origin) {
  if (const ScheduleKind* kind = kind_of(text)) {
    std::unique_ptr<BatchSchedule> schedule = kind->make(text, origin);
    schedule->set_origin(origin);
    return schedule;
  }
  if (text.find(':') == 0 || text.empty())
    ScheduleText parsed(text); // refuses a text without a name
  throw input_error(
      fmt::format("unknown schedule '{}'; accepted: {}", shortened(text), fmt::join(schedule_forms(), " | ")));
}

std::optional<std::int64_t> first_batch_of(const std::string& text) {
  const ScheduleKind* kind = kind_of(text);
  return kind && kind->first_batch ? kind->first_batch(text) : std::nullopt;
}

bool depends_on_step_only(const std::string& text) {
  const ScheduleKind* kind = kind_of(text);
  return kind && kind->depends_on_step_only;
}

std::vector<std::string> schedule_forms() {
  std::vector<std::string> forms;
  for (const ScheduleKind* kind : schedule_kinds())
    forms.emplace_back(kind->form);
  return forms;
}

} // namespace batchscope::schedule
