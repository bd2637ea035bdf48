// Schedules that count optimizer steps: constant, step.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/schedule/schedule_kind.h"

namespace batchscope::schedule {

namespace {

class Constant : public BatchSchedule {
public:
  ScheduleAnswer next(const ScheduleState& state) override { return {state.batch, {}}; }
  std::string text() const override { return "constant"; }
};

class Step : public BatchSchedule {
public:
  Step(std::int64_t interval, std::int64_t increment, std::int64_t first_step, std::string text)
      : interval_(interval), increment_(increment), first_step_(first_step), text_(std::move(text)) {}

  ScheduleAnswer next(const ScheduleState& state) override {
    if ((state.step - first_step_) % interval_ != 0)
      return {state.batch, {}};
    std::int64_t sum = 0;
    if (__builtin_add_overflow(state.batch, increment_, &sum))
      sum = increment_ > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
    return {sum, {}};
  }
  std::string text() const override { return text_; }

private:
  std::int64_t interval_;
  std::int64_t increment_;
  std::int64_t first_step_;
  std::string text_;
};

std::unique_ptr<BatchSchedule> make_constant(const ScheduleText& text, const ScheduleOrigin& /*origin*/) {
  text.accept_only({});
  return std::make_unique<Constant>();
}

std::unique_ptr<BatchSchedule> make_step(const ScheduleText& text, const ScheduleOrigin& origin) {
  text.accept_only({"interval", "increment"});
  const std::int64_t increment = text.integer("increment", std::numeric_limits<std::int64_t>::min());
  if (increment == 0)
    text.refuse("increment is 0; accepted: a whole number above 0, or below 0 for a batch that shrinks");
  return std::make_unique<Step>(text.integer("interval", 1), increment, origin.state.step, text.text());
}

} // namespace

extern const ScheduleKind constant_schedule;
const ScheduleKind constant_schedule{
    .name = "constant",
    .title = "Constant",
    .form = "constant",
    .make = make_from<make_constant>,
    .example = [](std::int64_t, std::int64_t, double) { return std::string("constant"); },
    .depends_on_step_only = true};

extern const ScheduleKind step_schedule;
const ScheduleKind step_schedule{.name = "step",
                                 .title = "Fixed increments",
                                 .form = "step:interval=5,increment=1",
                                 .make = make_from<make_step>,
                                 .example = [](std::int64_t batch, std::int64_t steps, double /*epochs*/) {
                                   return fmt::format("step:interval={},increment={}",
                                                      std::max<std::int64_t>(steps / example_stages, 1), batch);
                                 }};

} // namespace batchscope::schedule
