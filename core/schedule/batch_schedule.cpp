#include "core/schedule/batch_schedule.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/schedule/edited.h"
#include "core/schedule/schedules.h"

namespace batchscope::schedule {

namespace {

constexpr std::string_view formula_prefix = "formula:";

using Maker = std::unique_ptr<BatchSchedule> (*)(const ScheduleText&, const ScheduleOrigin&);

Maker find_maker(const std::string& name) {
  static constexpr std::pair<std::string_view, Maker> makers[] = {
      {"constant", make_constant},       {"step", make_step},
      {"piecewise", make_piecewise},     {"linear", make_linear},
      {"exponential", make_exponential}, {"adabatch", make_adabatch},
  };
  for (const auto& [known, maker] : makers)
    if (known == name)
      return maker;
  return nullptr;
}

} // namespace

double BatchSchedule::learning_rate_factor(const ScheduleState& /*state*/) const {
  return 1;
}

std::int64_t BatchSchedule::first_batch(const ScheduleOrigin& origin) const {
  return origin.batch;
}

std::optional<Course> BatchSchedule::base() const {
  return std::nullopt;
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

std::unique_ptr<BatchSchedule> make_schedule(const std::string& text, const ScheduleOrigin& origin) {
  if (text.starts_with(formula_prefix))
    return make_formula(text.substr(formula_prefix.size()), origin);
  if (is_edited(text))
    return make_edited(text, origin);
  const ScheduleText parsed(text);
  if (const Maker maker = find_maker(parsed.name()))
    return maker(parsed, origin);
  throw input_error(
      fmt::format("unknown schedule '{}'; accepted: {}", shortened(text), fmt::join(schedule_forms(), " | ")));
}

const std::vector<std::string>& schedule_forms() {
  static const std::vector<std::string> forms = {
      "constant",
      "step:interval=5,increment=1",
      "linear:max=64[,epochs=E|steps=S|examples=X|tokens=T]",
      "exponential:max=64[,epochs=E|steps=S|examples=X|tokens=T]",
      "piecewise:0=16,100=32",
      "adabatch:factor=2,every=2[,lr-decay=0.375]",
      "formula:min(batch + 1, 64)",
      "edited:100-200=64,300-=128,base=linear:max=256",
  };
  return forms;
}

} // namespace batchscope::schedule
