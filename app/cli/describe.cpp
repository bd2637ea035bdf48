#include "app/cli/describe.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/shell_words.h"
#include "core/base/text.h"
#include "core/predict/peak_curve.h"
#include "core/program/process/command.h"
#include "core/run/automatic_batch.h"
#include "core/search/run_search.h"
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

std::string describe_oom(const Json& detail) {
  std::string text = "out of memory";
  if (const auto attempted = count_in(detail, "attempted_batch"))
    text += fmt::format(" with a micro batch of {}", format_count(*attempted));
  std::vector<std::string> known;
  if (count_in(detail, "requested_bytes"))
    known.push_back(fmt::format("tried to allocate {}", bytes_in(detail, "requested_bytes")));
  if (count_in(detail, "in_use_bytes"))
    known.push_back(
        fmt::format("{} {} already allocated", bytes_in(detail, "in_use_bytes"),
                    count_in(detail, "limit_bytes") ? fmt::format("of {}", bytes_in(detail, "limit_bytes")) : "were"));
  if (!known.empty())
    text += fmt::format(": {}", fmt::join(known, "; "));
  if (const auto action = text_member(detail, "action"); !action.empty())
    text += "; " + action;
  if (const auto cause = text_member(detail, "cause"); !cause.empty())
    text += "; cause: " + cause;
  return text;
}

std::string describe_evaluation(const Json& detail) {
  std::string text = "validation";
  if (detail.contains("loss"))
    text += " loss " + figure(number_in(detail, "loss"));
  if (detail.contains("accuracy"))
    text += (detail.contains("loss") ? ", accuracy " : " accuracy ") + percent(number_in(detail, "accuracy"));
  return text;
}

std::string describe_edit(const Json& detail) {
  if (const auto refused = text_member(detail, "refused"); !refused.empty())
    return fmt::format("schedule not changed: {}", refused);
  return fmt::format("schedule changed from {} to {} from step {} on, batch {} to {}", text_member(detail, "before"),
                     text_member(detail, "schedule"), count_or_dash(count_in(detail, "applies_from_step")),
                     count_or_dash(count_in(detail, "batch_before")), count_or_dash(count_in(detail, "batch")));
}

std::string describe_budget(const Json& detail) {
  if (const auto refused = text_member(detail, "refused"); !refused.empty())
    return fmt::format("memory budget not changed: {}", refused);
  const auto bytes = [&](const char* name) {
    const auto count = count_in(detail, name);
    return count ? format_bytes(static_cast<std::uint64_t>(*count)) : std::string("-");
  };
  const std::string why = text_member(detail, "message");
  return fmt::format("memory budget changed from {} to {}{}{}", bytes("before_bytes"), bytes("budget_bytes"),
                     why.empty() ? "" : ": ", why);
}

/// What keeps a program from more: `the program only reports its steps: IterableDataset`.
std::string describe_level(const Json& detail) {
  const std::string reason = text_member(detail, "reason");
  return fmt::format("the program only reports its steps{}{}", reason.empty() ? "" : ": ", reason);
}

/// How a program of the user's own ended.
std::string describe_exit(const Json& detail) {
  if (const auto code = count_in(detail, "exit_code"))
    return fmt::format("the program ended with exit status {}", *code);
  if (const auto number = count_in(detail, "signal"))
    return fmt::format("the program was ended by signal {}", *number);
  return "the program ended";
}

/// What works on a program that has connected, by its level.
std::string what_works(std::int64_t level) {
  if (level >= 3)
    return "its batch size can be changed while it trains, and an out-of-memory error costs no example";
  return level == 2 ? "its batch size can be changed while it trains" : "it reports its steps";
}

/// What the program told of itself, and what works on it: `lightning 2.6.6, cpu, 2,000 examples: ...`.
std::string describe_program(const Json& detail) {
  std::vector<std::string> parts;
  for (const char* field : {"framework", "device"})
    if (const auto value = text_member(detail, field); !value.empty())
      parts.push_back(value);
  if (const auto examples = count_in(detail, "examples"))
    parts.push_back(fmt::format("{} examples", format_count(*examples)));
  if (const auto given = count_in(detail, "given_batch"))
    if (const auto own = count_in(detail, "batch"))
      parts.push_back(fmt::format("batch {} in place of its own {}", format_count(*given), format_count(*own)));
  return fmt::format("the program has connected{}{}: {}", parts.empty() ? "" : ", ", fmt::join(parts, ", "),
                     what_works(count_in(detail, "level").value_or(1)));
}

/// The last that the program said of itself.
std::string describe_bye(const Json& detail) {
  const std::string reason = text_member(detail, "reason");
  return fmt::format("the program has {}{}{}", text_member(detail, "status"), reason.empty() ? "" : ": ", reason);
}

/// The last line; all that was kept is in the event.
std::string describe_output(const Json& detail) {
  const std::string tail = text_member(detail, "tail");
  const std::string_view lines = trimmed(tail);
  const std::size_t line_end = lines.rfind('\n');
  const std::string_view last = line_end == std::string_view::npos ? lines : lines.substr(line_end + 1);
  return fmt::format("the program's last line: {} (all: {})", last.empty() ? "none" : shortened(last),
                     text_member(detail, "file"));
}

/// A run that has finished without a step is one of a program that does not report them.
std::string steps_text(const telemetry::RunOutcome& outcome) {
  return outcome.steps == 0 && outcome.status == telemetry::RunStatus::finished ? "-" : format_count(outcome.steps);
}

/// For kinds that this program has no words for.
std::string describe_fields(const std::string& kind, const Json& detail) {
  std::string text = kind;
  for (const auto& [name, value] : detail.items())
    text += fmt::format("{} {}: {}", text == kind ? "," : ";", name,
                        value.is_string() ? value.get<std::string>() : json_text(value));
  return text;
}

/// `activations 344.1 MB, parameters 0.4 MB`, the largest first; empty where the search predicted nothing.
std::string filled_text(const Json& search) {
  const auto largest = count_in(search, "largest");
  const auto curve =
      search.contains("memory") ? predict::PeakCurve::from_json(json_text(search["memory"])) : std::nullopt;
  if (!largest || !curve)
    return {};
  const auto by = curve->at(*largest).by;
  std::vector<int> uses(telemetry::use_count);
  std::iota(uses.begin(), uses.end(), 0);
  std::stable_sort(uses.begin(), uses.end(), [&](int a, int b) { return by[a] > by[b]; });
  std::vector<std::string> parts;
  for (const int use : uses) {
    if (by[use] > 0)
      parts.push_back(
          fmt::format("{} {}", telemetry::to_string(static_cast<telemetry::Use>(use)), format_bytes(by[use])));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

} // namespace

std::string describe_event(const std::string& kind, const std::string& detail_json) {
  const Json detail = parse_json_or_discard(detail_json);
  if (!detail.is_object())
    return kind;
  if (kind == "oom")
    return describe_oom(detail);
  if (kind == "evaluation")
    return describe_evaluation(detail);
  if (kind == "edit")
    return describe_edit(detail);
  if (kind == "budget")
    return describe_budget(detail);
  if (kind == "exit")
    return describe_exit(detail);
  if (kind == "program")
    return describe_program(detail);
  if (kind == "level")
    return describe_level(detail);
  if (kind == "output")
    return describe_output(detail);
  if (kind == "bye")
    return describe_bye(detail);
  if (kind == "status")
    return text_member(detail, "status") == "running" ? "resumed" : text_member(detail, "status");
  for (const char* field : {"message", "text"})
    if (const auto message = text_member(detail, field); !message.empty())
      return kind == "clamp" ? message : kind + ": " + message;
  return describe_fields(kind, detail);
}

Colour colour_of_event(const std::string& kind) {
  return kind == "oom" || kind == "schedule-problem" ? Colour::bad : Colour::plain;
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
  return facts(rows);
}

std::string search_text(const Json& search, const Palette& palette) {
  Table probes({{"probe"}, {"batch"}, {"predicted"}, {"peak"}, {"step"}, {"outcome", Table::Align::left}});
  const auto add = [&](const Json& probe, const std::string& label) {
    const std::string outcome = text_member(probe, "outcome");
    const bool fits = outcome == "fits";
    probes.add({label, count_or_dash(count_in(probe, "batch")), bytes_in(probe, "predicted_bytes"),
                bytes_in(probe, "peak_bytes"), format_duration(number_in(probe, "seconds")),
                outcome == "oom" ? "out of memory" : outcome + ' ' + text_member(probe, "message")},
               fits ? Colour::plain : Colour::bad);
  };
  int number = 0;
  for (const Json& probe : rows_in(search, "probes"))
    add(probe, std::to_string(++number));
  for (const Json& check : rows_in(search, "checks"))
    add(check, "check");
  std::string text = probes.text(palette);

  Table timings({{"timed batch size"}, {"step"}, {"examples/s"}, {"slowest"}, {"fastest"}, {"repeats"}});
  for (const Json& timing : rows_in(search, "timings"))
    timings.add({count_or_dash(count_in(timing, "batch")), format_duration(number_in(timing, "seconds")),
                 rate_text(number_in(timing, "examples_per_second")), rate_text(number_in(timing, "slowest")),
                 rate_text(number_in(timing, "fastest")), count_or_dash(count_in(timing, "stretches"))});
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
  if (const auto automatic = count_in(search, "automatic"); automatic && automatic != count_in(search, "recommended"))
    answers.emplace_back("chosen by auto", fmt::format("{}, so that an epoch has at least {} steps",
                                                       format_count(*automatic), run::min_steps_in_epoch));
  if (count_in(search, "budget_bytes"))
    answers.emplace_back("memory budget", bytes_in(search, "budget_bytes"));
  if (const auto filled = filled_text(search); !filled.empty())
    answers.emplace_back("memory use at the largest size", filled);
  if (const auto reason = text_member(search, "reason"); !reason.empty())
    answers.emplace_back("reason", reason);
  return text + '\n' + facts(answers);
}

std::string runs_table(const std::vector<store::RunRow>& runs, const Palette& palette) {
  Table table({{"run"},
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
               {"OOM"}});
  constexpr std::size_t widest_name = 60;
  using Status = telemetry::RunStatus;
  for (const store::RunRow& run : runs) {
    const telemetry::RunOutcome& outcome = run.outcome;
    const bool bad = outcome.status == Status::failed || outcome.status == Status::interrupted;
    table.add({std::to_string(run.id), shortened(run.name, widest_name), telemetry::to_string(outcome.status),
               count_or_dash(outcome.batch), steps_text(outcome),
               outcome.examples_seen > 0 ? format_count(outcome.examples_seen) : "-", figure(outcome.loss),
               percent(outcome.validation_accuracy), outcome.peak_bytes > 0 ? format_bytes(outcome.peak_bytes) : "-",
               outcome.examples_per_second > 0 ? rate_text(outcome.examples_per_second) : "-",
               format_duration(outcome.seconds), std::to_string(outcome.oom_events)},
              bad ? Colour::bad : Colour::plain);
  }
  return table.text(palette);
}

} // namespace batchscope::cli
