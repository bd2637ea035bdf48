#include "core/schedule/detail/course_json.h"

#include <array>
#include <utility>

#include "core/schedule/edited.h"

namespace batchscope::schedule::detail {

namespace {

constexpr std::array<std::pair<const char*, std::int64_t ScheduleState::*>, 8> state_counts = {
    {{"step", &ScheduleState::step},
     {"batch", &ScheduleState::batch},
     {"epoch_index", &ScheduleState::epoch_index},
     {"examples_seen", &ScheduleState::examples_seen},
     {"tokens_seen", &ScheduleState::tokens_seen},
     {"examples", &ScheduleState::examples},
     {"max_batch", &ScheduleState::max_batch},
     {"batches_in_step", &ScheduleState::batches_in_step}}};

constexpr std::array<std::pair<const char*, double ScheduleState::*>, 8> state_reals = {
    {{"epoch", &ScheduleState::epoch},
     {"coverage", &ScheduleState::coverage},
     {"epochs_passed", &ScheduleState::epochs_passed},
     {"progress", &ScheduleState::progress},
     {"loss", &ScheduleState::loss},
     {"loss_ema", &ScheduleState::loss_ema},
     {"vram_fraction", &ScheduleState::vram_fraction},
     {"gains", &ScheduleState::gains}}};

Json origin_json(const ScheduleOrigin& origin) {
  return {{"batch", origin.batch},
          {"max_batch", origin.max_batch},
          {"has_tokens", origin.has_tokens},
          {"state", to_json(origin.state)}};
}

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
  Json json;
  for (const auto& [name, member] : state_counts)
    json[name] = state.*member;
  for (const auto& [name, member] : state_reals)
    json[name] = json_number(state.*member);
  json["noise"] = {json_number(state.noise.squared), json_number(state.noise.variance)};
  return json;
}

ScheduleState state_from_json(const Json& json) {
  ScheduleState state;
  for (const auto& [name, member] : state_counts)
    read_member(json, name, state.*member);
  for (const auto& [name, member] : state_reals)
    read_member(json, name, state.*member);
  if (const auto noise = json.find("noise"); noise != json.end())
    state.noise = {.squared = number_from_json(noise->at(0)), .variance = number_from_json(noise->at(1))};
  return state;
}

Json to_json(const Course& course) {
  const BatchSchedule& schedule = *course.schedule;
  Json json{{"batch", course.batch}, {"origin", origin_json(schedule.origin())}};
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
  const Json& from = json.at("origin");
  ScheduleOrigin origin{.batch = from.at("batch").get<std::int64_t>(),
                        .max_batch = from.at("max_batch").get<std::int64_t>(),
                        .state = state_from_json(from.at("state"))};
  read_member(from, "has_tokens", origin.has_tokens);
  if (json.contains("base"))
    origin.courses.push_back(course_from_json(json["base"]));
  const auto state = json.find("state");
  return made(json.at("text").get<std::string>(), origin, json.at("batch").get<std::int64_t>(),
              state == json.end() ? std::string() : state->get<std::string>());
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
