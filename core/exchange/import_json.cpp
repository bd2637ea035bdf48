#include <map>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/data/input_file.h"
#include "core/exchange/detail/imported_run.h"
#include "core/exchange/detail/number_text.h"
#include "core/exchange/import.h"
#include "core/store/run_store.h"
#include "core/telemetry/event_codec.h"
#include "core/telemetry/outcome_fields.h"

namespace batchscope::exchange {

namespace {

constexpr const char* format_name = "batchscope-runs";

const Json& member(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end())
    throw input_error(fmt::format("\"{}\" is missing", name));
  return *found;
}

std::string text_in(const Json& object, const char* name) {
  const Json& value = member(object, name);
  if (!value.is_string())
    throw input_error(fmt::format("\"{}\" is not a text", name));
  return value.get<std::string>();
}

/// Larger ones than a double tells from their neighbours are refused, too: no run has so many steps.
std::int64_t integer_in(const Json& value, const char* name) {
  const auto whole = detail::whole_number(value);
  if (!whole)
    throw input_error(fmt::format("\"{}\" is {}, not a whole number", name, shortened(json_text(value))));
  return *whole;
}

/// Text of an embedded value: an object as the store keeps specs, any other text as it was.
std::string embedded_text(const Json& value) {
  constexpr int as_stored = 2;
  return value.is_string() ? value.get<std::string>() : json_text(value, as_stored);
}

std::string one_line_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : json_text(value);
}

telemetry::RunOutcome outcome_in(const Json& summary) {
  telemetry::RunOutcome outcome;
  for (const telemetry::OutcomeField& field : telemetry::outcome_fields()) {
    const auto found = summary.find(field.name);
    if (found == summary.end() || found->is_null())
      continue;
    if (field.text)
      field.set_text(outcome, found->get<std::string>());
    else if (field.integer)
      field.set_integer(outcome, integer_in(*found, field.name));
    else
      field.set_real(outcome, number_from_json(*found));
  }
  // The process that wrote the run at that time does not write it here.
  if (telemetry::is_open(outcome.status))
    outcome.status = telemetry::RunStatus::interrupted;
  return outcome;
}

std::vector<store::Point> points_in(const Json& list) {
  std::vector<store::Point> points;
  for (const Json& point : list) {
    const auto step = point.is_array() && point.size() == 2 ? detail::whole_number(point[0]) : std::nullopt;
    if (!step)
      throw input_error(fmt::format("a point is {}, not [step, value]", shortened(json_text(point))));
    // In the order of the file: a program may report a value twice in a step, or for a step that is over.
    points.push_back({*step, number_from_json(point[1])});
  }
  return points;
}

store::CompleteRun run_in(const Json& json) {
  store::CompleteRun run;
  run.uid = text_in(json, "uid");
  constexpr std::size_t digits = 32;
  if (run.uid.size() != digits || run.uid.find_first_not_of("0123456789abcdef") != std::string::npos)
    throw input_error("\"uid\" is not 32 hexadecimal digits");
  run.name = text_in(json, "name");
  run.note = text_in(json, "note");
  run.tags = json.value("tags", std::vector<std::string>{});
  run.started = text_in(json, "started");
  if (const auto workers = json.find("workers"); workers != json.end())
    run.workers = integer_in(*workers, "workers");
  run.spec_json = embedded_text(member(json, "spec"));
  run.start_json = one_line_text(member(json, "start"));
  if (const auto environment = json.find("environment"); environment != json.end())
    run.environment_json = one_line_text(*environment);
  run.outcome = outcome_in(member(json, "summary"));
  for (const Json& event : member(json, "events"))
    run.events.push_back(telemetry::decode_event(integer_in(member(event, "step"), "step"),
                                                 number_from_json(member(event, "seconds")), text_in(event, "kind"),
                                                 one_line_text(member(event, "detail"))));
  for (const auto& [name, points] : member(json, "series").items())
    run.series.emplace_back(name, points_in(points));
  return run;
}

class JsonImporter final : public Importer {
public:
  std::string name() const override { return "json"; }
  std::string title() const override { return "BatchScope's JSON"; }

  bool accepts(const std::filesystem::path& path) const override {
    constexpr std::size_t enough = 200;
    return detail::first_bytes(path, enough).find(format_name) != std::string::npos;
  }

  ImportedRuns read(const std::filesystem::path& path, const ImportOptions& /*options*/) const override {
    const Json document = parse_json(data::read_text_file(path.string()));
    try {
      if (document.value("format", "") != format_name)
        throw input_error(fmt::format("\"format\" is not {}", format_name));
      if (document.value("version", 0) != 1)
        throw input_error("was written by a newer version of BatchScope; this version reads version 1");
      return runs_in(document);
    } catch (const Json::exception& error) {
      throw input_error(std::string("not what this program exports: ") + error.what());
    }
  }

private:
  static ImportedRuns runs_in(const Json& document) {
    ImportedRuns read;
    std::map<std::int64_t, std::size_t> sweeps; // index by number in the file
    for (const Json& sweep : member(document, "sweeps")) {
      sweeps[integer_in(member(sweep, "id"), "id")] = read.sweeps.size();
      read.sweeps.push_back(embedded_text(member(sweep, "spec")));
    }
    for (const Json& json : member(document, "runs")) {
      store::CompleteRun run = run_in(json);
      if (const Json& sweep = member(json, "sweep"); sweep.is_number())
        if (const auto found = sweeps.find(integer_in(sweep, "sweep")); found != sweeps.end())
          run.sweep = found->second;
      read.runs.push_back(std::move(run));
    }
    return read;
  }
};

} // namespace

std::unique_ptr<Importer> json_importer();
/// Importer for the files of `export --format json`: the same runs again, under their uids.
std::unique_ptr<Importer> json_importer() {
  return std::make_unique<JsonImporter>();
}

} // namespace batchscope::exchange
