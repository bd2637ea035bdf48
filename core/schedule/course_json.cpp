#include "core/schedule/detail/course_json.h"

#include "core/base/json_fields.h"
#include "core/schedule/edited.h"

namespace batchscope::schedule {

template <typename Io> void fields(Io& io, typename Io::template Of<ScheduleState>& state) {
  io("step", state.step);
  io("batch", state.batch);
  io("epoch_index", state.epoch_index);
  io("examples_seen", state.examples_seen);
  io("tokens_seen", state.tokens_seen);
  io("examples", state.examples);
  io("max_batch", state.max_batch);
  io("batches_in_step", state.batches_in_step);
  io("epoch", state.epoch);
  io("coverage", state.coverage);
  io("epochs_passed", state.epochs_passed);
  io("progress", state.progress);
  io("loss", state.loss);
  io("loss_ema", state.loss_ema);
  io("vram_fraction", state.vram_fraction);
  io("gains", state.gains);
  io.row("noise", state.noise, &GradientNoise::squared, &GradientNoise::variance);
}

template <typename Io> void fields(Io& io, typename Io::template Of<ScheduleOrigin>& origin) {
  io.required("batch", origin.batch);
  io.required("max_batch", origin.max_batch);
  io("has_tokens", origin.has_tokens);
  io.required("state", origin.state);
}

} // namespace batchscope::schedule

namespace batchscope::schedule::detail {

namespace {

/// A text from which the schedule is made with the base that it has: also one that has returned to its base.
std::string text_with_base(const BatchSchedule& schedule) {
  const std::string text = schedule.text();
  return is_edited(text) ? text : to_text(EditedText{.stretches = {}, .batch = {}, .base = text});
}

/// `state`: what BatchSchedule::state() gave; empty for none.
Course made(const std::string& text, const ScheduleOrigin& origin, std::int64_t batch, const std::string& state) {
  Course course{make_schedule(text, origin), batch};
  if (!state.empty())
    course.schedule->restore(state);
  return course;
}

} // namespace

Json to_json(const ScheduleState& state) {
  return json_of_fields(state);
}

ScheduleState state_from_json(const Json& json) {
  return value_of_fields<ScheduleState>(json, JsonReader::Mistyped::refused, "state");
}

Json to_json(const Course& course) {
  const BatchSchedule& schedule = *course.schedule;
  Json json{{"batch", course.batch}, {"origin", json_of_fields(schedule.origin())}};
  if (const auto base = schedule.base()) {
    json["text"] = text_with_base(schedule);
    json["base"] = to_json(*base);
  } else {
    json["text"] = schedule.text();
    json["state"] = schedule.state();
  }
  return json;
}

Course course_from_json(const Json& json) {
  JsonReader reader(json, JsonReader::Mistyped::refused, "course");
  std::string text, state;
  std::int64_t batch = 0;
  ScheduleOrigin origin;
  reader.required("text", text);
  reader.required("batch", batch);
  reader.required("origin", origin);
  reader("state", state);
  if (const Json* base = reader.find("base"))
    origin.courses.push_back(course_from_json(*base));
  return made(text, origin, batch, state);
}

Course copy_of(const Course& course) {
  const BatchSchedule& schedule = *course.schedule;
  ScheduleOrigin origin = schedule.origin();
  const auto base = schedule.base();
  if (!base)
    return made(schedule.text(), origin, course.batch, schedule.state());
  origin.courses.push_back(copy_of(*base));
  return made(text_with_base(schedule), origin, course.batch, {});
}

} // namespace batchscope::schedule::detail
