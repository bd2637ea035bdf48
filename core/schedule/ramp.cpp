// Schedules that increase over a part of the run: linear, exponential.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/schedule/schedule_kind.h"

namespace batchscope::schedule {

namespace {

/// Unit of a ramp's length.
enum class Unit { run, epochs, steps, examples, tokens };
constexpr std::array<std::pair<std::string_view, Unit>, 4> units = {
    {{"epochs", Unit::epochs}, {"steps", Unit::steps}, {"examples", Unit::examples}, {"tokens", Unit::tokens}}};

double position_in(Unit unit, const ScheduleState& state) {
  switch (unit) {
  case Unit::run:
    return state.progress;
  case Unit::epochs:
    return state.epochs_passed;
  case Unit::steps:
    return static_cast<double>(state.step);
  case Unit::examples:
    return static_cast<double>(state.examples_seen);
  case Unit::tokens:
    return static_cast<double>(state.tokens_seen);
  }
  return 0;
}

/// Start and length of a ramp in its own unit.
struct RampRange {
  Unit unit = Unit::run;
  double begin = 0;
  double length = 1;

  /// 0 at the start, 1 from the end on.
  double fraction(const ScheduleState& state) const {
    const double way = position_in(unit, state) - begin;
    return length > 0 ? std::clamp(way / length, 0.0, 1.0) : 1;
  }
};

RampRange read_ramp_range(const ScheduleText& text, const ScheduleOrigin& origin) {
  RampRange range{Unit::run, origin.state.progress, 1 - origin.state.progress};
  for (const auto& [key, unit] : units) {
    if (!text.has(key))
      continue;
    if (range.unit != Unit::run)
      text.refuse("more than one length; accepted: one of epochs, steps, examples, tokens, or none for the whole run");
    if (unit == Unit::tokens && !origin.has_tokens)
      text.refuse("these examples have no tokens; accepted: epochs, steps, examples, or none for the whole run");
    range = {unit, position_in(unit, origin.state), text.positive(key)};
  }
  return range;
}

class Ramp : public BatchSchedule {
public:
  using Shape = double (*)(double base, double max, double fraction);

  Ramp(Shape shape, RampRange range, std::int64_t base, std::int64_t max, std::string text)
      : shape_(shape), range_(range), base_(base), max_(max), text_(std::move(text)) {}

  ScheduleAnswer next(const ScheduleState& state) override {
    const double fraction = range_.fraction(state);
    if (fraction >= 1)
      return {max_, {}};
    const double size = shape_(static_cast<double>(base_), static_cast<double>(max_), fraction);
    return {std::clamp(whole_batch(size), base_, max_), {}};
  }
  bool needs_feedback() const override { return range_.unit == Unit::tokens; }
  bool needs_length() const override { return range_.unit == Unit::run; }
  std::string text() const override { return text_; }

private:
  Shape shape_;
  RampRange range_;
  std::int64_t base_;
  std::int64_t max_;
  std::string text_;
};

std::unique_ptr<BatchSchedule> make_ramp(const ScheduleText& text, const ScheduleOrigin& origin, Ramp::Shape shape) {
  text.accept_only({"max", "epochs", "steps", "examples", "tokens"});
  const std::int64_t max = text.integer("max", 1);
  if (max < origin.batch)
    text.refuse(fmt::format("max is {}, below the first batch, {}", max, origin.batch));
  return std::make_unique<Ramp>(shape, read_ramp_range(text, origin), origin.batch, max, text.text());
}

std::unique_ptr<BatchSchedule> make_linear(const ScheduleText& text, const ScheduleOrigin& origin) {
  return make_ramp(text, origin,
                   [](double base, double max, double fraction) { return base + (max - base) * fraction; });
}

std::unique_ptr<BatchSchedule> make_exponential(const ScheduleText& text, const ScheduleOrigin& origin) {
  return make_ramp(text, origin,
                   [](double base, double max, double fraction) { return base * std::pow(max / base, fraction); });
}

} // namespace

extern const ScheduleKind linear_schedule;
const ScheduleKind linear_schedule{.name = "linear",
                                   .title = "Linear ramp",
                                   .form = "linear:max=64[,epochs=E|steps=S|examples=X|tokens=T]",
                                   .make = make_from<make_linear>,
                                   .example = [](std::int64_t batch, std::int64_t /*steps*/, double /*epochs*/) {
                                     return fmt::format("linear:max={}", batch * example_growth);
                                   }};

extern const ScheduleKind exponential_schedule;
const ScheduleKind exponential_schedule{.name = "exponential",
                                        .title = "Exponential ramp",
                                        .form = "exponential:max=64[,epochs=E|steps=S|examples=X|tokens=T]",
                                        .make = make_from<make_exponential>,
                                        .example = [](std::int64_t batch, std::int64_t /*steps*/, double /*epochs*/) {
                                          return fmt::format("exponential:max={}", batch * example_growth);
                                        }};

} // namespace batchscope::schedule
