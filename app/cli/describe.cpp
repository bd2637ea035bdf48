#include "app/cli/describe.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/processor_time.h"
#include "core/base/shell_words.h"
#include "core/base/text.h"
#include "core/compare/evidence.h"
#include "core/predict/peak_curve.h"
#include "core/program/process/command.h"
#include "core/run/automatic_batch.h"
#include "core/search/run_search.h"
#include "core/telemetry/describe.h"
#include "core/telemetry/english.h"
#include "core/telemetry/outcome_fields.h"

namespace batchscope::cli {

namespace {

std::optional<std::int64_t> count_in(const Json& detail, const char* field) {
  const auto found = detail.find(field);
  if (found == detail.end() || !found->is_number_integer())
    return std::nullopt;
  return found->get<std::int64_t>();
}

std::string bytes_in(const Json& detail, const char* field) {
  const auto bytes = count_in(detail, field);
  return bytes && *bytes >= 0 ? format_bytes(static_cast<std::uint64_t>(*bytes)) : "-";
}

double number_in(const Json& detail, const char* field) {
  const auto found = detail.find(field);
  return found != detail.end() ? number_from_json(*found) : std::nan("");
}

Json rows_in(const Json& detail, const char* field) {
  const auto found = detail.find(field);
  return found != detail.end() && found->is_array() ? *found : Json::array();
}

std::string rate_text(double per_second) {
  return std::isfinite(per_second) ? format_count(std::llround(per_second)) : "-";
}

/// A run that has finished without a step is one of a program that does not report them.
std::string steps_text(const telemetry::RunOutcome& outcome) {
  return outcome.steps == 0 && outcome.status == telemetry::RunStatus::finished ? "-" : format_count(outcome.steps);
}

/// `activations 344.1 MB, parameters 0.4 MB`, the largest first; empty where the search predicted nothing.
std::string filled_text(const Json& search) {
  const auto largest = count_in(search, "largest");
  const auto curve =
      search.contains("memory") ? predict::PeakCurve::from_json(json_text(search["memory"])) : std::nullopt;
  Json by = search.value("by", Json::object());
  if (by.empty() && largest && curve)
    by = by_use_json(curve->at(*largest).by);
  std::vector<std::pair<std::string, std::uint64_t>> uses;
  for (const auto& [use, bytes] : by.items())
    uses.emplace_back(use, bytes.get<std::uint64_t>());
  std::stable_sort(uses.begin(), uses.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> parts;
  for (const auto& [use, bytes] : uses)
    parts.push_back(fmt::format("{} {}", use, format_bytes(bytes)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

} // namespace

Json by_use_json(const std::array<std::uint64_t, telemetry::use_count>& by) {
  Json json = Json::object();
  for (int use = 0; use < telemetry::use_count; ++use)
    if (const std::uint64_t bytes = by[static_cast<std::size_t>(use)]; bytes > 0)
      json[telemetry::to_string(static_cast<telemetry::Use>(use))] = bytes;
  return json;
}

std::string event_line(const telemetry::Event& event, const Palette& palette) {
  const bool alarming = telemetry::describe(event).alarming;
  return palette.paint(alarming ? Colour::bad : Colour::plain,
                       fmt::format("step {}: {}", format_count(event.step), telemetry::english(event)));
}

std::string bar(double fraction, int width) {
  const double bounded = std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) : 0.0;
  const auto filled = static_cast<std::size_t>(std::lround(bounded * width));
  return '[' + std::string(filled, '#') + std::string(static_cast<std::size_t>(width) - filled, '.') + ']';
}

std::string command_shown(const run::RunSpec& spec, const run::RunStart& start, std::int64_t run,
                          const std::filesystem::path& out) {
  run::RunPlace place;
  place.run = run;
  program::Filling filling = program::filling_of(spec, place, out);
  if (!filling.batch && start.batch > 0)
    filling.batch = start.batch;
  try {
    return shell_line(program::filled_command(*spec.program, filling));
  } catch (const Error&) { // made by another version
    return run::command_text(*spec.program);
  }
}

void round_passes(Json& outcome) {
  for (const char* name : {"epoch", "train_coverage"})
    if (Json& value = outcome[name]; value.is_number())
      value = five_decimals(value.get<double>());
}

Json summary_json(const telemetry::RunOutcome& outcome) {
  Json json = telemetry::to_json(outcome);
  if (outcome.reason.empty())
    json.erase("reason");
  round_passes(json);
  const Json loss = json["validation_loss"];
  const Json accuracy = json["validation_accuracy"];
  json.erase("validation_loss");
  json.erase("validation_accuracy");
  json["validation"] =
      loss.is_null() && accuracy.is_null() ? Json(nullptr) : Json{{"loss", loss}, {"accuracy", accuracy}};
  return json;
}

std::string summary_text(const telemetry::RunOutcome& outcome, const std::string& batch_reason) {
  std::vector<std::pair<std::string, std::string>> rows{{"status", telemetry::to_string(outcome.status)}};
  if (!outcome.reason.empty())
    rows.emplace_back("reason", outcome.reason);
  rows.emplace_back("first batch", count_or_dash(outcome.batch) + (batch_reason.empty() ? "" : ", " + batch_reason));
  rows.emplace_back("steps", steps_text(outcome));
  if (outcome.examples_seen > 0)
    rows.emplace_back("examples",
                      format_count(outcome.examples_seen) +
                          (outcome.epoch > 0 ? fmt::format(" ({:.5f} epochs)", outcome.epoch) : std::string()));
  else if (outcome.epoch > 0)
    rows.emplace_back("epochs", fmt::format("{:.5f}", outcome.epoch));
  rows.emplace_back("loss", figure(outcome.loss));
  if (outcome.validation_loss)
    rows.emplace_back("validation loss", figure(outcome.validation_loss));
  if (outcome.validation_accuracy)
    rows.emplace_back("validation accuracy", percent(outcome.validation_accuracy));
  if (outcome.peak_bytes > 0)
    rows.emplace_back("peak memory", format_bytes(outcome.peak_bytes));
  rows.emplace_back("out-of-memory errors", format_count(outcome.oom_events));
  rows.emplace_back("time", format_duration(outcome.seconds) +
                                (outcome.examples_per_second > 0
                                     ? fmt::format(", {} examples/s", rate_text(outcome.examples_per_second))
                                     : std::string()));
  if (compare::is_disturbed(outcome))
    rows.emplace_back("disturbed", percent(outcome.disturbed) + " of the time was taken by other work");
  return facts(rows);
}

namespace {

std::string probes_table(const Json& search, const Palette& palette) {
  // A search on a card that is not here has no times.
  const bool computed = search.contains("computed");
  Table probes({{"probe"},
                {"batch"},
                {"predicted"},
                {"peak"},
                {computed ? "reserved" : "step"},
                {"outcome", Table::Align::left}});
  const auto add = [&](const Json& probe, const std::string& label) {
    const std::string outcome = text_member(probe, "outcome");
    const bool fits = outcome == "fits";
    probes.add({label, count_or_dash(count_in(probe, "batch")), bytes_in(probe, "predicted_bytes"),
                bytes_in(probe, "peak_bytes"),
                computed ? bytes_in(probe, "reserved_bytes") : format_duration(number_in(probe, "seconds")),
                outcome == "oom" ? "out of memory" : outcome + ' ' + text_member(probe, "message")},
               fits ? Colour::plain : Colour::bad);
  };
  int number = 0;
  for (const Json& probe : rows_in(search, "probes"))
    add(probe, std::to_string(++number));
  for (const Json& check : rows_in(search, "checks"))
    add(check, "check");
  return probes.text(palette);
}

/// The sizes of a batch of the evaluation.
std::string evaluation_text(const Json& search, const Palette& palette) {
  std::vector<std::pair<std::string, std::string>> answers{
      {"evaluation, largest", count_or_dash(count_in(search, "largest"))},
      {"evaluation, safe", count_or_dash(count_in(search, "safe"))}};
  if (const auto reason = text_member(search, "reason"); !reason.empty())
    answers.emplace_back("reason", reason);
  return "evaluation\n" + probes_table(search, palette) + '\n' + facts(answers);
}

} // namespace

std::string search_text(const Json& search, const Palette& palette) {
  std::string text = probes_table(search, palette);

  Table timings(
      {{"timed batch size"}, {"step"}, {"examples/s"}, {"slowest"}, {"fastest"}, {"repeats"}, {"other work"}});
  for (const Json& timing : rows_in(search, "timings")) {
    // A search of an earlier version does not say it.
    const double lost = timing.contains("lost") ? number_in(timing, "lost") : 0;
    timings.add({count_or_dash(count_in(timing, "batch")), format_duration(number_in(timing, "seconds")),
                 rate_text(number_in(timing, "examples_per_second")), rate_text(number_in(timing, "slowest")),
                 rate_text(number_in(timing, "fastest")), count_or_dash(count_in(timing, "stretches")),
                 lost >= disturbed_from ? percent(lost) : "-"});
  }
  if (!rows_in(search, "timings").empty())
    text += '\n' + timings.text(palette);

  std::vector<std::pair<std::string, std::string>> answers;
  const bool interrupted = text_member(search, "status") == "interrupted";
  answers.emplace_back(interrupted ? "largest that fitted so far"
                                   : search::name_of_largest(text_member(search, "largest_is") != "tried"),
                       count_or_dash(count_in(search, "largest")));
  if (!interrupted)
    for (const char* name : {"safe", "recommended"})
      answers.emplace_back(name, count_or_dash(count_in(search, name)));
  const auto automatic = count_in(search, "automatic");
  const auto best = count_in(search, "recommended");
  if (automatic && !best)
    answers.emplace_back("chosen by auto", format_count(*automatic) + ", as the fastest measured");
  else if (automatic && automatic != best)
    answers.emplace_back("chosen by auto", fmt::format("{}, so that an epoch has at least {} steps",
                                                       format_count(*automatic), run::min_steps_in_epoch));
  if (count_in(search, "budget_bytes"))
    answers.emplace_back("memory budget", bytes_in(search, "budget_bytes"));
  if (const auto filled = filled_text(search); !filled.empty())
    answers.emplace_back("memory use at the largest size", filled);
  if (const auto reason = text_member(search, "reason"); !reason.empty())
    answers.emplace_back("reason", reason);
  text += '\n' + facts(answers);
  if (const auto evaluation = search.find("evaluation"); evaluation != search.end() && evaluation->is_object())
    text += '\n' + evaluation_text(*evaluation, palette);
  return text;
}

std::string runs_table(const std::vector<store::RunRow>& runs, const Palette& palette) {
  std::vector<Table::Column> header{{"run"},
                                    {"name", Table::Align::left},
                                    {"status", Table::Align::left},
                                    {"batch"},
                                    {"steps"},
                                    {"examples"},
                                    {"loss"},
                                    {"accuracy"},
                                    {"peak memory"},
                                    {"examples/s"},
                                    {"time"},
                                    {"OOM"}};
  const auto disturbed = [](const store::RunRow& run) { return compare::is_disturbed(run.outcome); };
  const bool any_disturbed = std::any_of(runs.begin(), runs.end(), disturbed);
  if (any_disturbed)
    header.push_back({"other work"});
  Table table(header);
  constexpr std::size_t widest_name = 60;
  using Status = telemetry::RunStatus;
  for (const store::RunRow& run : runs) {
    const telemetry::RunOutcome& outcome = run.outcome;
    const bool bad = outcome.status == Status::failed || outcome.status == Status::interrupted;
    std::vector<std::string> cells{std::to_string(run.id),
                                   shortened(run.name, widest_name),
                                   telemetry::to_string(outcome.status),
                                   count_or_dash(outcome.batch),
                                   steps_text(outcome),
                                   outcome.examples_seen > 0 ? format_count(outcome.examples_seen) : "-",
                                   figure(outcome.loss),
                                   percent(outcome.validation_accuracy),
                                   outcome.peak_bytes > 0 ? format_bytes(outcome.peak_bytes) : "-",
                                   outcome.examples_per_second > 0 ? rate_text(outcome.examples_per_second) : "-",
                                   format_duration(outcome.seconds),
                                   std::to_string(outcome.oom_events)};
    if (any_disturbed)
      cells.push_back(disturbed(run) ? percent(outcome.disturbed) : "-");
    table.add(cells, bad ? Colour::bad : Colour::plain);
  }
  return table.text(palette);
}

} // namespace batchscope::cli
