#include "core/run/card_steps.h"

#include <vector>

namespace batchscope::run {

namespace {

/// Block, 1 for an allocation, phase and bytes of each event, one after the other.
std::vector<std::uint64_t> numbers_of(const std::vector<telemetry::TraceEvent>& events) {
  std::vector<std::uint64_t> numbers;
  numbers.reserve(4 * events.size());
  for (const telemetry::TraceEvent& event : events)
    numbers.insert(numbers.end(),
                   {event.block, event.allocates ? 1U : 0U, static_cast<std::uint64_t>(event.phase), event.bytes});
  return numbers;
}

std::vector<telemetry::TraceEvent> events_of(const std::vector<std::uint64_t>& numbers) {
  std::vector<telemetry::TraceEvent> events;
  events.reserve(numbers.size() / 4);
  for (std::size_t i = 0; i + 3 < numbers.size(); i += 4)
    events.push_back({static_cast<std::uint32_t>(numbers[i]), numbers[i + 1] != 0,
                      static_cast<telemetry::Phase>(numbers[i + 2]), numbers[i + 3]});
  return events;
}

} // namespace

Json to_json(const CardQuestion& question) {
  const data::ExampleShape& shape = question.shape;
  return {{"spec", parse_json(to_json(question.spec))},
          {"input", static_cast<int>(shape.input)},
          {"target", static_cast<int>(shape.target)},
          {"dimensions", shape.dimensions},
          {"classes", shape.classes},
          {"vocabulary", shape.vocabulary},
          {"streams", shape.streams},
          {"examples", question.examples},
          {"batch", question.batch},
          {"budget_bytes", question.budget_bytes}};
}

CardQuestion card_question_from_json(const Json& json) {
  return {.spec = run_spec_from_json(json_text(json.at("spec"))),
          .shape = {.input = static_cast<data::ExampleShape::Input>(json.at("input").get<int>()),
                    .target = static_cast<data::ExampleShape::Target>(json.at("target").get<int>()),
                    .dimensions = json.at("dimensions").get<std::vector<std::int64_t>>(),
                    .classes = json.at("classes").get<std::int64_t>(),
                    .vocabulary = json.at("vocabulary").get<std::int64_t>(),
                    .streams = json.at("streams").get<std::int64_t>()},
          .examples = json.at("examples").get<std::int64_t>(),
          .batch = json.at("batch").get<std::int64_t>(),
          .budget_bytes = json.at("budget_bytes").get<std::uint64_t>()};
}

Json to_json(const CardSteps& steps) {
  return {{"fits", steps.fits},
          {"reserved_bytes", steps.reserved_bytes},
          {"allocated_bytes", steps.allocated_bytes},
          {"parameters", steps.parameters},
          {"batch", steps.trace.batch},
          {"granularity", steps.trace.granularity},
          {"start_bytes", steps.trace.start_bytes},
          {"start_bytes_by", steps.trace.start_bytes_by},
          {"peak_bytes", steps.trace.peak_bytes},
          {"events", numbers_of(steps.trace.events)}};
}

CardSteps card_steps_from_json(const Json& json) {
  CardSteps steps{.fits = json.at("fits").get<bool>(),
                  .reserved_bytes = json.at("reserved_bytes").get<std::uint64_t>(),
                  .allocated_bytes = json.at("allocated_bytes").get<std::uint64_t>(),
                  .parameters = json.at("parameters").get<std::int64_t>(),
                  .trace = {}};
  steps.trace.batch = json.at("batch").get<std::int64_t>();
  steps.trace.granularity = json.at("granularity").get<std::uint64_t>();
  steps.trace.start_bytes = json.at("start_bytes").get<std::uint64_t>();
  json.at("start_bytes_by").get_to(steps.trace.start_bytes_by);
  steps.trace.peak_bytes = json.at("peak_bytes").get<std::uint64_t>();
  steps.trace.events = events_of(json.at("events").get<std::vector<std::uint64_t>>());
  return steps;
}

} // namespace batchscope::run
