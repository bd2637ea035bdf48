#include "core/sweep/sweep_spec.h"

#include <algorithm>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/text.h"

namespace batchscope::sweep {

namespace {

std::int64_t number_of_runs(const SweepSpec& spec) {
  const auto batches = static_cast<std::int64_t>(std::max<std::size_t>(spec.batches.size(), 1));
  const auto rates = static_cast<std::int64_t>(std::max<std::size_t>(spec.learning_rates.size(), 1));
  std::int64_t runs = 0;
  if (__builtin_mul_overflow(batches * rates, spec.repeats, &runs))
    return std::numeric_limits<std::int64_t>::max();
  return runs;
}

template <typename Value, typename Equal>
void refuse_twice(const char* option, const std::vector<Value>& values, const Equal& equal) {
  for (auto value = values.begin(); value != values.end(); ++value)
    if (std::any_of(values.begin(), value, [&](const Value& other) { return equal(other, *value); }))
      throw input_error(fmt::format(
          "{}: a value is in the list twice; accepted: each value once, with --repeats for several runs", option));
}

/// `batch 16, lr 0.1, seed 2`: only what the sweep varies, after the base's name.
std::string name_of(const SweepSpec& sweep, const run::RunSpec& run) {
  std::vector<std::string> parts;
  if (!sweep.batches.empty())
    parts.push_back("batch " + run::to_string(run.batch));
  if (!sweep.learning_rates.empty())
    parts.push_back(fmt::format("lr {}", *run.learning_rate));
  if (sweep.repeats > 1)
    parts.push_back(fmt::format("seed {}", run.seed));
  const char* separator = sweep.base.name.empty() || parts.empty() ? "" : ": ";
  return sweep.base.name + separator + fmt::format("{}", fmt::join(parts, ", "));
}

/// Takes a list out of the document, so that the rest describes one run. A plain value stays.
std::vector<Json> take_list(Json& document, const char* field) {
  const auto found = document.find(field);
  if (found == document.end() || !found->is_array())
    return {};
  std::vector<Json> values = found->get<std::vector<Json>>();
  if (values.empty())
    throw input_error(fmt::format("field \"{}\": an empty list is not accepted; accepted: at least one value", field));
  document.erase(field);
  return values;
}

/// Parses one field by the rules of a run's JSON.
run::RunSpec with_field(const char* field, const Json& value) {
  return run::run_spec_from_json(json_text(Json{{field, value}}));
}

} // namespace

void check(const SweepSpec& spec) {
  if (spec.repeats < 1)
    throw input_error(fmt::format("--repeats: {} is not accepted; accepted: a whole number, at least 1", spec.repeats));
  if (const std::int64_t runs = number_of_runs(spec); runs > SweepSpec::max_runs)
    throw input_error(fmt::format("a sweep of {} runs; accepted: at most {}", runs, SweepSpec::max_runs));
  refuse_twice("--batch", spec.batches,
               [](const auto& a, const auto& b) { return a.kind == b.kind && a.number == b.number; });
  refuse_twice("--lr", spec.learning_rates, std::equal_to<>());
  run::RunSpec shared = spec.base;
  if (!spec.batches.empty())
    shared.batch = {};
  check(shared);
  for (const double rate : spec.learning_rates) {
    shared.learning_rate = rate;
    check(shared);
  }
  shared.seed += static_cast<std::uint64_t>(spec.repeats - 1);
  check(shared);
}

std::vector<run::RunSpec> combinations(const SweepSpec& spec) {
  std::vector<run::RunSpec> runs;
  runs.reserve(static_cast<std::size_t>(number_of_runs(spec)));
  const auto batches = spec.batches.empty() ? std::vector{spec.base.batch} : spec.batches;
  std::vector<std::optional<double>> rates(spec.learning_rates.begin(), spec.learning_rates.end());
  if (rates.empty())
    rates.push_back(spec.base.learning_rate);
  for (const auto& batch : batches)
    for (const auto& rate : rates)
      for (std::int64_t repeat = 0; repeat < spec.repeats; ++repeat) {
        run::RunSpec run = spec.base;
        run.batch = batch;
        run.learning_rate = rate;
        run.seed += static_cast<std::uint64_t>(repeat);
        run.name = name_of(spec, run);
        runs.push_back(std::move(run));
      }
  return runs;
}

std::string to_json(const SweepSpec& spec, int indent) {
  Json document = parse_json(run::to_json(spec.base));
  if (!spec.batches.empty()) {
    document["batch"] = Json::array();
    for (const auto& batch : spec.batches)
      document["batch"].push_back(batch.kind == run::BatchChoice::Kind::number ? Json(batch.number)
                                                                               : Json(run::to_string(batch)));
  }
  if (!spec.learning_rates.empty())
    document["lr"] = spec.learning_rates;
  document["repeats"] = spec.repeats;
  return json_text(document, indent);
}

SweepSpec sweep_spec_from_json(const std::string& text, const SweepSpec& base) {
  Json document = parse_json(text);
  if (!document.is_object())
    throw input_error("a sweep specification must be a JSON object");
  SweepSpec spec = base;
  if (const auto values = take_list(document, "batch"); !values.empty()) {
    spec.batches.clear();
    for (const Json& value : values)
      spec.batches.push_back(with_field("batch", value).batch);
  }
  if (const auto values = take_list(document, "lr"); !values.empty()) {
    spec.learning_rates.clear();
    for (const Json& value : values) {
      const auto rate = with_field("lr", value).learning_rate;
      if (!rate)
        throw input_error("field \"lr\": null in a list is not accepted; accepted: numbers");
      spec.learning_rates.push_back(*rate);
    }
  }
  if (const auto found = document.find("repeats"); found != document.end()) {
    if (!found->is_number_integer())
      throw input_error(fmt::format("field \"repeats\": {} is not accepted; accepted: a whole number, at least 1",
                                    shortened(json_text(*found))));
    spec.repeats = found->get<std::int64_t>();
    document.erase("repeats");
  }
  spec.base = run::run_spec_from_json(json_text(document), spec.base);
  return spec;
}

} // namespace batchscope::sweep
