#include <memory>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/display.h"
#include "app/cli/estimate_options.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/program/process/command.h"
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

} // namespace

int estimate_of_program(const EstimateOptions& options, const Context& context) {
  const auto target = target_of(options);
  run::RunSpec spec;
  options.program.apply(spec, *context.command, {});
  if (!spec.program->attach)
    throw input_error(
        "only the memory of a Trainer of transformers can be estimated, with --attach auto; `find -- COMMAND` "
        "measures that of any program",
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
