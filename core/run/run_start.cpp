#include "core/run/run_start.h"

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/run/detail/later_fields.h"

namespace batchscope::run {

namespace {

/// Leaves `target` unchanged if the field is missing or null.
template <typename Value> void read(const Json& json, const char* field, Value& target) {
  const auto found = json.find(field);
  if (found == json.end() || found->is_null())
    return;
  const bool fits = found->is_number_unsigned() ? found->get<std::uint64_t>() <= INT64_MAX : found->is_number_integer();
  if (!fits)
    throw input_error(std::string("the start of a run: ") + field + " is not a whole number");
  target = found->get<std::int64_t>();
}

void read(const Json& json, const char* field, std::string& target) {
  if (const auto found = json.find(field); found != json.end() && found->is_string())
    target = found->get<std::string>();
}

Json program_json(const ProgramStart& program) {
  return {{"level", program.level},
          {"first_batch", program.first_batch},
          {"name", program.name},
          {"framework", program.framework},
          {"torch", program.torch},
          {"device", program.device},
          {"output", program.output},
          {"epochs", json_or_null(program.length.epochs)},
          {"examples", json_or_null(program.length.examples)},
          {"steps", json_or_null(program.length.steps)},
          {"ranks", program.ranks},
          {"drop_last", program.drop_last},
          {"settings", parse_json_or_discard(program.settings)}};
}

ProgramStart program_from(const Json& json) {
  ProgramStart program;
  std::int64_t level = 0;
  read(json, "level", level);
  program.level = static_cast<int>(level);
  program.first_batch = level >= 2 || json.value("first_batch", Json()) == Json(true);
  read(json, "name", program.name);
  read(json, "framework", program.framework);
  read(json, "torch", program.torch);
  read(json, "device", program.device);
  read(json, "output", program.output);
  read(json, "epochs", program.length.epochs);
  read(json, "examples", program.length.examples);
  read(json, "steps", program.length.steps);
  read(json, "ranks", program.ranks);
  program.drop_last = json.value("drop_last", Json()) == Json(true);
  if (const auto settings = json.find("settings"); settings != json.end() && settings->is_object())
    program.settings = json_text(*settings);
  return program;
}

/// The fields that are not known; empty for none.
std::string later_of_start(const Json& json) {
  static const Json known = parse_json(to_json(RunStart{}));
  Json later = Json::object();
  for (const auto& [name, value] : json.items())
    if (!known.contains(name) && name != "streams" && name != "memory" && name != "search" && name != "program")
      later[name] = value;
  return later.empty() ? std::string() : json_text(later);
}

} // namespace

data::ExampleCounts example_counts(const RunStart& start) {
  return start.streams.empty() ? data::ExampleCounts(start.train_examples) : data::ExampleCounts(start.streams);
}

std::string to_json(const RunStart& start) {
  Json json{{"batch", start.batch},
            {"batch_reason", start.batch_reason},
            {"accumulate", start.accumulate},
            {"train_examples", start.train_examples},
            {"validation_examples", start.validation_examples},
            {"parameters", start.parameters},
            {"predicts_numbers", start.predicts_numbers},
            {"budget_bytes", start.budget_bytes},
            {"baseline_bytes", start.baseline_bytes},
            {"warmup_steps", start.warmup_steps},
            {"expected_steps", json_or_null(start.expected_steps)},
            {"learning_rate", json_or_null(start.learning_rate)},
            {"card", start.card},
            {"notes", start.notes}};
  for (const data::Stream& stream : start.streams)
    json["streams"].push_back({{"name", stream.name}, {"train_examples", stream.examples}});
  if (start.memory)
    json["memory"] = parse_json(start.memory->to_json());
  if (start.search)
    json["search"] = *start.search;
  if (start.program)
    json["program"] = program_json(*start.program);
  add_later(start.later_json, json);
  return json_text(json);
}

RunStart run_start_from_json(const std::string& text) {
  const Json json = parse_json(text);
  if (!json.is_object())
    throw input_error("the start of a run must be a JSON object");
  RunStart start;
  read(json, "batch", start.batch);
  if (const auto reason = json.find("batch_reason"); reason != json.end() && reason->is_string())
    start.batch_reason = reason->get<std::string>();
  read(json, "accumulate", start.accumulate);
  read(json, "train_examples", start.train_examples);
  read(json, "validation_examples", start.validation_examples);
  read(json, "parameters", start.parameters);
  start.predicts_numbers = json.value("predicts_numbers", Json()) == Json(true);
  read(json, "budget_bytes", start.budget_bytes);
  read(json, "baseline_bytes", start.baseline_bytes);
  read(json, "warmup_steps", start.warmup_steps);
  read(json, "expected_steps", start.expected_steps);
  if (const auto rate = json.find("learning_rate"); rate != json.end() && rate->is_number())
    start.learning_rate = rate->get<double>();
  read(json, "card", start.card);
  read(json, "search", start.search);
  if (const auto notes = json.find("notes"); notes != json.end() && notes->is_array()) {
    for (const Json& note : *notes) {
      if (note.is_string())
        start.notes.push_back(note.get<std::string>());
    }
  }
  if (const auto streams = json.find("streams"); streams != json.end() && streams->is_array()) {
    for (const Json& stream : *streams) {
      start.streams.push_back({text_member(stream, "name"), 0});
      read(stream, "train_examples", start.streams.back().examples);
    }
  }
  if (const auto memory = json.find("memory"); memory != json.end())
    start.memory = predict::PeakCurve::from_json(json_text(*memory));
  if (const auto program = json.find("program"); program != json.end() && program->is_object())
    start.program = program_from(*program);
  start.later_json = later_of_start(json);
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
