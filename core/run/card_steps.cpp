#include "core/run/card_steps.h"

#include <vector>

#include "core/base/json_fields.h"

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

template <typename Io> void shape_fields(Io& io, typename Io::template Of<data::ExampleShape>& shape) {
  auto input = static_cast<int>(shape.input), target = static_cast<int>(shape.target);
  io.required("input", input);
  io.required("target", target);
  if constexpr (Io::reads) {
    shape.input = static_cast<data::ExampleShape::Input>(input);
    shape.target = static_cast<data::ExampleShape::Target>(target);
  }
  io.required("dimensions", shape.dimensions);
  io.required("classes", shape.classes);
  io.required("vocabulary", shape.vocabulary);
  io.required("streams", shape.streams);
}

template <typename Io> void fields(Io& io, typename Io::template Of<CardQuestion>& question) {
  std::string spec;
  if constexpr (!Io::reads)
    spec = to_json(question.spec);
  io.json("spec", spec);
  if constexpr (Io::reads)
    question.spec = run_spec_from_json(spec);
  shape_fields(io, question.shape);
  io.required("examples", question.examples);
  io.required("batch", question.batch);
  io.required("budget_bytes", question.budget_bytes);
}

template <typename Io> void fields(Io& io, typename Io::template Of<CardSteps>& steps) {
  io.required("fits", steps.fits);
  io.required("reserved_bytes", steps.reserved_bytes);
  io.required("allocated_bytes", steps.allocated_bytes);
  io.required("parameters", steps.parameters);
  io.required("batch", steps.trace.batch);
  io.required("granularity", steps.trace.granularity);
  io.required("start_bytes", steps.trace.start_bytes);
  io.required("start_bytes_by", steps.trace.start_bytes_by);
  io.required("peak_bytes", steps.trace.peak_bytes);
  std::vector<std::uint64_t> events;
  if constexpr (!Io::reads)
    events = numbers_of(steps.trace.events);
  io.required("events", events);
  if constexpr (Io::reads)
    steps.trace.events = events_of(events);
}

Json to_json(const CardQuestion& question) {
  return json_of_fields(question);
}

CardQuestion card_question_from_json(const Json& json) {
  return value_of_fields<CardQuestion>(json, JsonReader::Mistyped::refused);
}

Json to_json(const CardSteps& steps) {
  return json_of_fields(steps);
}

CardSteps card_steps_from_json(const Json& json) {
  return value_of_fields<CardSteps>(json, JsonReader::Mistyped::refused);
}

} // namespace batchscope::run
