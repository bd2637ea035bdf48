#include <algorithm>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/run/spec_fields.h"
#include "core/sweep/sweep_spec.h"

namespace batchscope::sweep {

namespace {

Json value_json(const std::string& key, const std::string& value) {
  if (run::placeholder_in(key))
    return value;
  run::RunSpec spec;
  run::set_field(spec, key, value);
  return parse_json(run::to_json(spec))[key];
}

std::string value_text(const std::string& key, const Json& value) {
  if (value.is_null())
    throw input_error(fmt::format("field \"{}\": null in a list is not accepted; accepted: values", key));
  if (run::placeholder_in(key)) {
    if (!value.is_string())
      throw input_error(
          fmt::format("field \"{}\": {} is not accepted; accepted: a string", key, shortened(json_text(value))));
    return value.get<std::string>();
  }
  return run::field_text(run::run_spec_from_json(json_text(Json{{key, value}})), key);
}

Json variation_json(const Variation& variation) {
  if (variation.interval)
    return {{"from", variation.interval->from},
            {"to", variation.interval->to},
            {"scale", variation.interval->log ? "log" : "uniform"}};
  Json values = Json::array();
  for (const std::string& value : variation.values)
    values.push_back(value_json(variation.field, value));
  return values;
}

Variation variation_from(const std::string& key, const Json& value) {
  run::spec_field(key);
  if (value.is_object()) {
    const auto text = [&](const char* name) {
      const auto found = value.find(name);
      return found == value.end() ? std::string() : found->is_string() ? found->get<std::string>() : json_text(*found);
    };
    return parse_values(key, fmt::format("{}..{} {}", text("from"), text("to"), text("scale")));
  }
  if (value.empty())
    throw input_error(fmt::format("field \"{}\": an empty list is not accepted; accepted: at least one value", key));
  Variation variation{.field = key};
  for (const Json& one : value) {
    // Ranges, as on the command line.
    if (one.is_string() && one.get<std::string>().find("..") != std::string::npos && is_numeric(run::spec_field(key)))
      for (std::string& made : parse_values(key, one.get<std::string>()).values)
        variation.values.push_back(std::move(made));
    else
      variation.values.push_back(value_text(key, one));
  }
  return variation;
}

/// Removes a field of the sweep's own from the document; null if it has none.
Json take(Json& document, const char* field) {
  const auto found = document.find(field);
  if (found == document.end())
    return nullptr;
  Json value = *found;
  document.erase(field);
  return value;
}

std::int64_t whole_number(const Json& value, const char* field, std::int64_t least) {
  if (!value.is_number_integer())
    throw input_error(fmt::format("field \"{}\": {} is not accepted; accepted: a whole number, at least {}", field,
                                  shortened(json_text(value)), least));
  return value.get<std::int64_t>();
}

std::string string_in(const Json& value, const char* field, const char* accepted) {
  if (!value.is_string())
    throw input_error(
        fmt::format("field \"{}\": {} is not accepted; accepted: {}", field, shortened(json_text(value)), accepted));
  return value.get<std::string>();
}

} // namespace

std::string to_json(const SweepSpec& spec, int indent) {
  Json document;
  for (const Variation& variation : spec.vary)
    document[variation.field] = variation_json(variation);
  const Json shared = parse_json(run::to_json(spec.base));
  for (const auto& [key, value] : shared.items())
    if (!document.contains(key))
      document[key] = value;
  document["repeats"] = spec.repeats;
  if (!spec.only.empty())
    document["only"] = spec.only;
  if (spec.random) {
    document["random"] = *spec.random;
    document["random_seed"] = spec.random_seed;
  }
  if (spec.stop_weak == StopWeak::median)
    document["stop_weak"] = "median";
  if (!spec.goal.empty())
    document["goal"] = spec.goal;
  if (spec.search)
    document["search"] = *spec.search;
  return json_text(document, indent);
}

namespace {

/// Takes what is a sweep's own out of the document.
void take_own_fields(Json& document, SweepSpec& spec) {
  if (const Json repeats = take(document, "repeats"); !repeats.is_null())
    spec.repeats = whole_number(repeats, "repeats", 1);
  if (const Json random = take(document, "random"); !random.is_null())
    spec.random = whole_number(random, "random", 1);
  if (const Json seed = take(document, "random_seed"); !seed.is_null())
    spec.random_seed = static_cast<std::uint64_t>(whole_number(seed, "random_seed", 0));
  if (const Json search = take(document, "search"); !search.is_null())
    spec.search = whole_number(search, "search", 1);
  if (const Json only = take(document, "only"); !only.is_null())
    spec.only = string_in(only, "only", "a condition");
  if (const Json goal = take(document, "goal"); !goal.is_null())
    spec.goal = string_in(goal, "goal", "accuracy, throughput, target:97%, time:2min");
  if (const Json weak = take(document, "stop_weak"); !weak.is_null()) {
    if (weak != "median" && weak != "never")
      throw input_error("field \"stop_weak\": " + shortened(json_text(weak)) +
                        " is not accepted; accepted: median, never");
    spec.stop_weak = weak == "median" ? StopWeak::median : StopWeak::never;
  }
}

bool is_known(const std::string& key) {
  const auto& fields = run::spec_fields();
  return run::placeholder_in(key) ||
         std::any_of(fields.begin(), fields.end(), [&](const run::SpecField& field) { return field.key == key; });
}

/// Takes the fields that vary out of the document; those that are not known stay, unless all are taken.
void take_variations(Json& document, bool all, SweepSpec& spec) {
  std::vector<std::string> lists;
  for (const auto& [key, value] : document.items())
    if (key != "program" && (value.is_array() || value.is_object()) && (all || is_known(key)))
      lists.push_back(key);
  for (const std::string& key : lists) {
    const Json values = take(document, key.c_str());
    set_variation(spec, variation_from(key, values));
  }
}

Json object_from(const std::string& text) {
  Json document = parse_json(text);
  if (!document.is_object())
    throw input_error("a sweep specification must be a JSON object");
  return document;
}

} // namespace

SweepSpec sweep_spec_from_json(const std::string& text, const SweepSpec& base) {
  Json document = object_from(text);
  SweepSpec spec = base;
  take_own_fields(document, spec);
  take_variations(document, true, spec);
  spec.base = run::run_spec_from_json(json_text(document), spec.base);
  return spec;
}

SweepSpec stored_sweep_from_json(const std::string& text) {
  Json document = object_from(text);
  SweepSpec spec;
  take_own_fields(document, spec);
  take_variations(document, false, spec);
  spec.base = run::stored_spec_from_json(json_text(document));
  return spec;
}

} // namespace batchscope::sweep
