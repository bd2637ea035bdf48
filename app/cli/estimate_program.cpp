#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/arguments.h"
#include "app/cli/describe.h"
#include "app/cli/estimate_answer.h"
#include "app/cli/estimate_options.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/predict/memory_model.h"
#include "core/program/process/command.h"
#include "core/program/trial/card_search.h"
#include "core/program/trial/program_estimate.h"

namespace batchscope::cli {

namespace {

std::vector<std::int64_t> estimated_batches(const CLI::Option* option) {
  std::vector<std::int64_t> batches;
  for (const std::string& text : list_of(option))
    batches.push_back(parse_integer(text, "--batch", 1, estimate_limits::most));
  return batches.empty() ? std::vector<std::int64_t>{8, 16} : batches;
}

Json curve_json(const program::EstimateMessage& estimate, const std::optional<estimate::Target>& target) {
  Json answer{{"method", estimate.method}, {"curve", Json::array()}, {"parameters_bytes", nullptr}};
  for (const auto& point : estimate.curve) {
    Json by = Json::object();
    for (const auto& [use, bytes] : point.by) {
      by[use] = bytes;
      if (use == "parameters")
        answer["parameters_bytes"] = bytes;
    }
    answer["curve"].push_back({{"batch", point.batch}, {"peak_bytes", point.peak_bytes}, {"by", by}});
  }
  const auto largest = target ? program::largest_within(estimate, target->usable_bytes()) : std::nullopt;
  answer["largest_within"] = largest ? Json(*largest) : Json(nullptr);
  return answer;
}

std::string curve_table(const Json& answer, const std::optional<estimate::Target>& target) {
  Table table({{"batch"}, {"estimated peak"}});
  for (const Json& point : answer["curve"])
    table.add(
        {format_count(point["batch"].get<std::int64_t>()), format_bytes(point["peak_bytes"].get<std::uint64_t>())});
  std::string text = table.text(Palette::for_stdout());
  if (target && answer["largest_within"].is_number())
    text += fmt::format("largest within {}: about {}\n", format_bytes(target->usable_bytes()),
                        format_count(answer["largest_within"].get<std::int64_t>()));
  return text + "an estimate from steps on tensors without data; `find` measures\n";
}

/// A size as JSON, with the memory at its peak by use; uses without a byte are left out.
Json size_json(const search::Probe& probe) {
  const Json by = probe.trace ? by_use_json(predict::MemoryModel::peak_of(*probe.trace).by) : Json(Json::object());
  return {{"batch", probe.batch},
          {"outcome", probe.outcome == search::Outcome::fits            ? "fits"
                      : probe.outcome == search::Outcome::out_of_memory ? "oom"
                                                                        : "error"},
          {"message", probe.message.empty() ? Json(nullptr) : Json(probe.message)},
          {"peak_bytes", json_or_null(probe.peak_bytes)},
          {"reserved_bytes", json_or_null(probe.reserved_bytes)},
          {"by", by}};
}

std::string sizes_on_card_table(const Json& answer, const estimate::Target& card) {
  Table table({{"batch"}, {"peak of tensors"}, {"outcome", Table::Align::left}, {"of it", Table::Align::left}});
  for (const Json& size : answer["sizes"]) {
    std::vector<std::string> parts;
    for (const auto& [use, bytes] : size["by"].items())
      parts.push_back(fmt::format("{} {}", use, format_bytes(bytes.get<std::uint64_t>())));
    const std::string outcome = text_member(size, "outcome");
    table.add({format_count(size["batch"].get<std::int64_t>()),
               size["peak_bytes"].is_number() ? format_bytes(size["peak_bytes"].get<std::uint64_t>()) : "-",
               outcome == "oom" ? "out of memory"
                                : outcome + (size["message"].is_null() ? "" : ": " + text_member(size, "message")),
               fmt::format("{}", fmt::join(parts, ", "))});
  }
  return table.text(Palette::for_stdout()) +
         fmt::format("of the {} that tensors can use of a pretended {}: {}\n"
                     "not included: {}\n`find --for {} -- COMMAND` finds the largest\n",
                     estimate::usable_text(card), card.name, program::how_on_card, estimate::not_included_text(card),
                     card.name);
}

/// On a card that need not be here.
int estimate_on_card(const EstimateOptions& options, run::RunSpec spec, const estimate::Target& card,
                     const Context& context) {
  spec = program::card_spec(spec, card);
  const auto control = std::make_shared<run::JobControl>();
  const InterruptGuard guard(*control);
  try {
    const auto probes =
        program::try_on_card(spec, card, options.program.surroundings(), estimated_batches(options.batch), [&] {
          return control->stopping();
        }).probes;
    Json answer{{"method", "pretended-card"}, {"for", json_of(card)}, {"sizes", Json::array()}};
    for (const search::Probe& probe : probes)
      answer["sizes"].push_back(size_json(probe));
    if (context.json)
      print_json(answer);
    else
      print(sizes_on_card_table(answer, card));
    const bool failed = std::any_of(probes.begin(), probes.end(),
                                    [](const search::Probe& probe) { return probe.outcome == search::Outcome::error; });
    return failed ? exit_status::job_failed : exit_status::done;
  } catch (const Error&) {
    if (!control->stopping())
      throw;
    return exit_status::interrupted;
  }
}

} // namespace

int estimate_of_program(const EstimateOptions& options, const Context& context) {
  const auto target = target_of(options);
  run::RunSpec spec;
  options.program.apply(spec, *context.command, {});
  if (target && !target->name.empty())
    return estimate_on_card(options, std::move(spec), *target, context);
  if (!spec.program->attach)
    throw input_error(
        "without a card (--for), only the memory of a Trainer of transformers can be estimated, with --attach auto; "
        "`find -- COMMAND` measures that of any program",
        "program");
  if (program::placeholders_of(*spec.program).contains("batch"))
    spec.batch = {.kind = run::BatchChoice::Kind::number, .number = 1};
  run::check(spec);
  program::check_command(spec);
  const auto control = std::make_shared<run::JobControl>();
  const InterruptGuard guard(*control);
  try {
    const program::EstimateMessage estimate = program::estimate_program(
        spec, options.program.surroundings(), estimated_batches(options.batch), [&] { return control->stopping(); });
    const Json answer = curve_json(estimate, target);
    if (context.json)
      print_json(answer);
    else
      print(curve_table(answer, target));
  } catch (const Error&) {
    if (!control->stopping())
      throw;
    return exit_status::interrupted;
  }
  return exit_status::done;
}

} // namespace batchscope::cli
