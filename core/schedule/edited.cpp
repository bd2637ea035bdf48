// A schedule that overrides the batch size in some stretches of steps.
#include "core/schedule/edited.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/schedule/schedule_kind.h"

namespace batchscope::schedule {

namespace {

constexpr std::string_view prefix = "edited:";
constexpr std::string_view base_key = "base=";
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();

[[noreturn]] void refuse(const std::string& schedule, const std::string& why) {
  throw input_error(fmt::format("schedule '{}': {}; accepted: edited:FROM-TO=BATCH,FROM-=BATCH,base=SCHEDULE, for "
                                "example edited:100-200=64,base=linear:max=256",
                                schedule, why));
}

/// `100-200` or `300-`.
FixedStretch read_steps(const std::string& schedule, std::string_view steps) {
  const auto dash = steps.find('-');
  if (dash == std::string_view::npos || dash == 0)
    refuse(schedule, fmt::format("'{}' is not a range of steps", steps));
  const std::string field = fmt::format("schedule '{}', steps '{}'", schedule, steps);
  FixedStretch stretch;
  stretch.from = parse_integer(steps.substr(0, dash), field, 0, highest);
  if (dash + 1 < steps.size())
    stretch.to = parse_integer(steps.substr(dash + 1), field, 0, highest);
  if (stretch.to && *stretch.to <= stretch.from)
    refuse(schedule, fmt::format("the range {} ends before it begins", steps));
  return stretch;
}

void add_stretch(const std::string& schedule, EditedText& edited, FixedStretch stretch) {
  if (!edited.stretches.empty()) {
    const FixedStretch& last = edited.stretches.back();
    if (!last.to || stretch.from < *last.to)
      refuse(schedule, fmt::format("the range from {} overlaps the range before it", stretch.from));
  }
  edited.stretches.push_back(stretch);
}

void add_part(const std::string& schedule, EditedText& edited, std::string_view part) {
  const auto equals = part.find('=');
  if (equals == std::string_view::npos)
    refuse(schedule, fmt::format("unexpected part '{}'", part));
  const std::string_view key = part.substr(0, equals);
  const std::int64_t batch =
      parse_integer(part.substr(equals + 1), fmt::format("schedule '{}', {}", schedule, key), 1, highest);
  if (key != "batch") {
    FixedStretch stretch = read_steps(schedule, key);
    stretch.batch = batch;
    return add_stretch(schedule, edited, stretch);
  }
  if (edited.batch)
    refuse(schedule, "'batch=' is given twice");
  edited.batch = batch;
}

/// Keeps the parts of a stretch before and after `over`.
void add_rest(std::vector<FixedStretch>& rest, const FixedStretch& stretch, const FixedStretch& over) {
  FixedStretch before = stretch;
  before.to = std::min(stretch.to.value_or(highest), over.from);
  if (before.from < *before.to)
    rest.push_back(before);
  FixedStretch behind = stretch;
  behind.from = std::max(stretch.from, over.to.value_or(highest));
  if (behind.from < behind.to.value_or(highest))
    rest.push_back(behind);
}

class Edited : public BatchSchedule {
public:
  Edited(std::vector<FixedStretch> stretches, Course base, std::string text)
      : stretches_(std::move(stretches)), base_(std::move(base)), text_(std::move(text)) {}

  ScheduleAnswer next(const ScheduleState& state) override {
    const ScheduleAnswer answer = advance(base_, state);
    const FixedStretch* stretch = find(state.step);
    return stretch ? ScheduleAnswer{stretch->batch, {}} : answer;
  }
  double learning_rate_factor(const ScheduleState& state) const override {
    return base_.schedule->learning_rate_factor(state);
  }
  bool needs_feedback() const override { return base_.schedule->needs_feedback(); }
  bool needs_noise() const override { return base_.schedule->needs_noise(); }
  bool needs_length() const override { return base_.schedule->needs_length(); }
  std::optional<Course> base() const override { return base_; }
  std::int64_t first_batch(const ScheduleOrigin& origin) const override {
    const FixedStretch* stretch = find(origin.state.step);
    return stretch ? stretch->batch : base_.batch;
  }
  std::string text() const override { return stretches_.empty() ? base_.schedule->text() : text_; }

private:
  const FixedStretch* find(std::int64_t steps_done) const {
    for (const FixedStretch& stretch : stretches_)
      if (stretch.holds(steps_done))
        return &stretch;
    return nullptr;
  }

  std::vector<FixedStretch> stretches_;
  Course base_;
  std::string text_;
};

/// The base with its state in the run, or a new one that begins now.
Course base_course(const EditedText& edited, const ScheduleOrigin& origin) {
  for (auto known = origin.courses.rbegin(); known != origin.courses.rend(); ++known)
    if (known->schedule->text() == edited.base)
      return *known;
  const bool held = std::any_of(edited.stretches.begin(), edited.stretches.end(),
                                [&](const FixedStretch& stretch) { return stretch.holds(origin.state.step); });
  ScheduleOrigin own = origin;
  // The batch of a stretch is not the base's.
  if (held && !origin.courses.empty())
    own.batch = origin.courses.back().batch;
  own.batch = edited.batch.value_or(own.batch);
  return {make_schedule(edited.base, own), own.batch};
}

} // namespace

bool is_edited(const std::string& schedule) {
  return schedule.starts_with(prefix);
}

EditedText parse_edited(const std::string& schedule) {
  EditedText edited;
  if (!is_edited(schedule)) {
    edited.base = schedule;
    return edited;
  }
  std::string_view rest = std::string_view(schedule).substr(prefix.size());
  while (!rest.starts_with(base_key)) {
    const auto comma = rest.find(',');
    if (comma == std::string_view::npos)
      refuse(schedule, "'base=' is missing at the end");
    add_part(schedule, edited, rest.substr(0, comma));
    rest.remove_prefix(comma + 1);
  }
  edited.base = rest.substr(base_key.size());
  if (is_edited(edited.base))
    refuse(schedule, "the base cannot be an edited schedule");
  return edited;
}

std::string to_text(const EditedText& edited) {
  std::string text(prefix);
  for (const FixedStretch& stretch : edited.stretches)
    text += fmt::format("{}-{}={},", stretch.from, stretch.to ? fmt::format("{}", *stretch.to) : "", stretch.batch);
  if (edited.batch)
    text += fmt::format("batch={},", *edited.batch);
  return text.append(base_key) + edited.base;
}

std::string text_in_force(const std::string& schedule) {
  const auto without_stretches = std::string(prefix).append(base_key);
  return schedule.starts_with(without_stretches) ? schedule.substr(without_stretches.size()) : schedule;
}

EditedText with_stretches(const EditedText& edited, const std::vector<FixedStretch>& over, std::int64_t steps_done) {
  EditedText result = edited;
  for (const FixedStretch& stretch : over) {
    std::vector<FixedStretch> rest;
    for (const FixedStretch& before : result.stretches)
      add_rest(rest, before, stretch);
    rest.push_back(stretch);
    result.stretches.swap(rest);
  }
  std::erase_if(result.stretches, [&](const FixedStretch& stretch) { return stretch.to && *stretch.to <= steps_done; });
  std::sort(result.stretches.begin(), result.stretches.end(),
            [](const FixedStretch& a, const FixedStretch& b) { return a.from < b.from; });
  return result;
}

namespace {

std::optional<std::int64_t> first_batch_of(const EditedText& edited) {
  if (!edited.stretches.empty() && edited.stretches.front().from == 0)
    return edited.stretches.front().batch;
  return edited.batch ? edited.batch : schedule::first_batch_of(edited.base);
}

std::unique_ptr<BatchSchedule> make_edited(const std::string& text, const ScheduleOrigin& origin) {
  if (!is_edited(text))
    refuse(text, "no ranges of steps");
  const EditedText edited = parse_edited(text);
  const auto first = first_batch_of(edited);
  if (origin.state.step == 0 && origin.courses.empty() && first && *first != origin.batch)
    throw input_error(fmt::format("schedule '{}': its first batch, {}, differs from the run's first batch, {}", text,
                                  *first, origin.batch));
  return std::make_unique<Edited>(edited.stretches, base_course(edited, origin), text);
}

} // namespace

extern const ScheduleKind edited_schedule;
const ScheduleKind edited_schedule{
    .name = "edited",
    .title = "Linear ramp, then constant",
    .help = "Another schedule with other batch sizes in some ranges of steps",
    .form = "edited:100-200=64,300-=128,base=linear:max=256",
    .make = make_edited,
    .example =
        [](std::int64_t batch, std::int64_t steps, double /*epochs*/) {
          return fmt::format("edited:{}-={},base=linear:max={}", std::max<std::int64_t>(steps / 2, 1), 2 * batch,
                             batch * example_growth);
        },
    .first_batch =
        [](const std::string& text) {
          return is_edited(text) ? first_batch_of(parse_edited(text)) : std::optional<std::int64_t>();
        }};

} // namespace batchscope::schedule
