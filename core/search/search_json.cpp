// JSON form of a search, both directions.
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/search/run_search.h"

namespace batchscope::search {

namespace {

Json probe_json(const Probe& probe) {
  Json json{{"batch", probe.batch},
            {"outcome", to_string(probe.outcome)},
            {"peak_bytes", json_or_null(probe.peak_bytes)},
            {"reserved_bytes", json_or_null(probe.reserved_bytes)},
            {"predicted_bytes", json_or_null(probe.predicted_bytes)},
            {"seconds", json_or_null(probe.seconds)},
            {"examples_per_second", json_or_null(probe.examples_per_second)}};
  if (!probe.message.empty())
    json["message"] = probe.message;
  if (!probe.how.empty())
    json["how"] = probe.how;
  if (probe.pid)
    json["pid"] = *probe.pid;
  return json;
}

Json timing_json(const Timing& timing) {
  return {{"batch", timing.batch},
          {"seconds", json_number(timing.seconds)},
          {"examples_per_second", json_number(timing.examples_per_second)},
          {"slowest", json_number(timing.slowest)},
          {"fastest", json_number(timing.fastest)},
          {"stretches", timing.stretches},
          {"uncertainty", json_number(timing.uncertainty)},
          {"lost", json_number(timing.lost)}};
}

Json left_out_json(const LeftOut& size) {
  return {{"batch", size.batch}, {"why", size.why}};
}

template <typename Value> Json list_json(const std::vector<Value>& values, Json (*each)(const Value&)) {
  Json json = Json::array();
  for (const Value& value : values)
    json.push_back(each(value));
  return json;
}

/// Each leaves the target unchanged, and returns false, if the field is missing, null or of another type.
bool read(const Json& json, const char* field, std::string& target) {
  const auto found = json.find(field);
  if (found == json.end() || !found->is_string())
    return false;
  target = found->get<std::string>();
  return true;
}

bool read(const Json& json, const char* field, std::int64_t& target) {
  const auto found = json.find(field);
  if (found == json.end() || !found->is_number_integer() ||
      (found->is_number_unsigned() && found->get<std::uint64_t>() > INT64_MAX))
    return false;
  target = found->get<std::int64_t>();
  return true;
}

bool read(const Json& json, const char* field, std::uint64_t& target) {
  const auto found = json.find(field);
  if (found == json.end() || !found->is_number_unsigned())
    return false;
  target = found->get<std::uint64_t>();
  return true;
}

bool read(const Json& json, const char* field, double& target) {
  const auto found = json.find(field);
  if (found == json.end() || (!found->is_number() && !found->is_string()))
    return false;
  target = number_from_json(*found);
  return true;
}

template <typename Value> void read(const Json& json, const char* field, std::optional<Value>& target) {
  if (Value value{}; read(json, field, value))
    target = value;
}

Outcome outcome_from(const std::string& text) {
  for (const Outcome outcome : {Outcome::fits, Outcome::out_of_memory})
    if (text == to_string(outcome))
      return outcome;
  return Outcome::error;
}

Probe probe_from(const Json& json) {
  Probe probe;
  std::string outcome;
  read(json, "batch", probe.batch);
  read(json, "outcome", outcome);
  probe.outcome = outcome_from(outcome);
  read(json, "peak_bytes", probe.peak_bytes);
  read(json, "reserved_bytes", probe.reserved_bytes);
  read(json, "predicted_bytes", probe.predicted_bytes);
  read(json, "seconds", probe.seconds);
  read(json, "examples_per_second", probe.examples_per_second);
  read(json, "message", probe.message);
  read(json, "how", probe.how);
  read(json, "pid", probe.pid);
  return probe;
}

LeftOut left_out_from(const Json& json) {
  LeftOut size;
  read(json, "batch", size.batch);
  read(json, "why", size.why);
  return size;
}

Timing timing_from(const Json& json) {
  Timing timing;
  read(json, "batch", timing.batch);
  read(json, "seconds", timing.seconds);
  read(json, "examples_per_second", timing.examples_per_second);
  timing.slowest = timing.fastest = timing.examples_per_second;
  read(json, "slowest", timing.slowest);
  read(json, "fastest", timing.fastest);
  std::int64_t stretches = 1;
  read(json, "stretches", stretches);
  timing.stretches = static_cast<int>(stretches);
  read(json, "uncertainty", timing.uncertainty);
  read(json, "lost", timing.lost);
  return timing;
}

template <typename Value>
void read_list(const Json& json, const char* field, std::vector<Value>& target, Value (*each)(const Json&)) {
  const auto found = json.find(field);
  if (found == json.end() || !found->is_array())
    return;
  for (const Json& value : *found)
    if (value.is_object())
      target.push_back(each(value));
}

Json result_json(const SearchResult& result) {
  Json json;
  json["strategy"] = result.strategy;
  json["status"] = result.found ? "found" : result.interrupted ? "interrupted" : "nothing-fits";
  json["largest"] = json_or_null(result.largest);
  json["largest_is"] = result.largest ? Json(result.largest_is_exact ? "exact" : "tried") : Json(nullptr);
  json["safe"] = json_or_null(result.safe);
  json["recommended"] = json_or_null(result.recommended);
  json["automatic"] = json_or_null(result.automatic);
  json["reason"] = result.reason;
  json["probes"] = list_json(result.probes, probe_json);
  json["checks"] = list_json(result.checks, probe_json);
  json["left_out"] = list_json(result.left_out, left_out_json);
  json["timings"] = list_json(result.timings, timing_json);
  json["memory"] = result.memory ? parse_json(result.memory->to_json()) : Json(nullptr);
  json["baseline_bytes"] = json_or_null(result.baseline_bytes);
  json["budget_bytes"] = json_or_null(result.budget_bytes);
  json["seconds"] = json_number(result.seconds);
  if (result.evaluation)
    json["evaluation"] = result_json(*result.evaluation);
  return json;
}

SearchResult result_from(const Json& json) {
  SearchResult result;
  std::string status;
  std::string largest_is;
  read(json, "strategy", result.strategy);
  read(json, "status", status);
  result.found = status == "found";
  result.interrupted = status == "interrupted";
  read(json, "largest", result.largest);
  read(json, "largest_is", largest_is);
  result.largest_is_exact = largest_is == "exact";
  read(json, "safe", result.safe);
  read(json, "recommended", result.recommended);
  read(json, "automatic", result.automatic);
  read(json, "reason", result.reason);
  read_list(json, "probes", result.probes, probe_from);
  read_list(json, "checks", result.checks, probe_from);
  read_list(json, "left_out", result.left_out, left_out_from);
  read_list(json, "timings", result.timings, timing_from);
  if (const auto memory = json.find("memory"); memory != json.end() && memory->is_object())
    result.memory = predict::PeakCurve::from_json(json_text(*memory));
  read(json, "baseline_bytes", result.baseline_bytes);
  read(json, "budget_bytes", result.budget_bytes);
  read(json, "seconds", result.seconds);
  if (const auto evaluation = json.find("evaluation"); evaluation != json.end() && evaluation->is_object())
    result.evaluation = std::make_shared<const SearchResult>(result_from(*evaluation));
  return result;
}

} // namespace

std::string to_json(const SearchResult& result, int indent) {
  return json_text(result_json(result), indent);
}

SearchResult search_result_from_json(const std::string& text) {
  const Json json = parse_json(text);
  if (!json.is_object())
    throw input_error("the result of a search must be a JSON object");
  return result_from(json);
}

const char* name_of_largest(bool exact) {
  return exact ? "largest" : "largest tried";
}

const char* to_string(Outcome outcome) {
  switch (outcome) {
  case Outcome::fits:
    return "fits";
  case Outcome::out_of_memory:
    return "oom";
  case Outcome::error:
    break;
  }
  return "error";
}

} // namespace batchscope::search
