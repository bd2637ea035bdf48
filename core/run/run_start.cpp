#include "core/run/run_start.h"

#include "core/base/error.h"
#include "core/base/json_fields.h"
#include "core/run/detail/later_fields.h"

namespace batchscope::data {

template <typename Io> void fields(Io& io, typename Io::template Of<Stream>& stream) {
  io("name", stream.name);
  io("train_examples", stream.examples);
}

} // namespace batchscope::data

namespace batchscope::run {

template <typename Io> void fields(Io& io, typename Io::template Of<ProgramStart>& program) {
  io("level", program.level);
  if constexpr (Io::reads)
    program.first_batch = program.level >= 2; // what earlier versions left out
  io("first_batch", program.first_batch);
  io("name", program.name);
  io("framework", program.framework);
  io("torch", program.torch);
  io("device", program.device);
  io("output", program.output);
  io("epochs", program.length.epochs);
  io("examples", program.length.examples);
  io("steps", program.length.steps);
  io("ranks", program.ranks);
  io("drop_last", program.drop_last);
  io.json("settings", program.settings);
}

template <typename Io> void fields(Io& io, typename Io::template Of<RunStart>& start) {
  io("batch", start.batch);
  io("batch_reason", start.batch_reason);
  io("accumulate", start.accumulate);
  io("train_examples", start.train_examples);
  io("validation_examples", start.validation_examples);
  io("parameters", start.parameters);
  io("predicts_numbers", start.predicts_numbers);
  io("budget_bytes", start.budget_bytes);
  io("baseline_bytes", start.baseline_bytes);
  io("warmup_steps", start.warmup_steps);
  io("expected_steps", start.expected_steps);
  io("learning_rate", start.learning_rate);
  io("card", start.card);
  io("notes", start.notes);
  io.sparse("streams", start.streams);
  if constexpr (Io::reads) {
    if (const Json* memory = io.find("memory"))
      start.memory = predict::PeakCurve::from_json(json_text(*memory));
  } else if (start.memory) {
    io.out()["memory"] = parse_json(start.memory->to_json());
  }
  io.sparse("search", start.search);
  io.sparse("program", start.program);
}

data::ExampleCounts example_counts(const RunStart& start) {
  return start.streams.empty() ? data::ExampleCounts(start.train_examples) : data::ExampleCounts(start.streams);
}

std::string to_json(const RunStart& start) {
  Json json = json_of_fields(start);
  add_later(start.later_json, json);
  return json_text(json);
}

RunStart run_start_from_json(const std::string& text) {
  const Json json = parse_json(text);
  if (!json.is_object())
    throw input_error("the start of a run must be a JSON object");
  RunStart start;
  JsonReader reader(json); // a later version may have other types
  fields(reader, start);
  const Json later = reader.rest();
  if (later.contains("batch"))
    throw input_error("the start of a run: batch is not a whole number");
  if (!later.empty())
    start.later_json = json_text(later);
  return start;
}

RunStart stored_start(const std::string& text) {
  try {
    return run_start_from_json(text);
  } catch (const Error&) {
    return {};
  }
}

} // namespace batchscope::run
