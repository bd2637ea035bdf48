#include "app/cli/sweep_plan.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "app/cli/output.h"
#include "core/base/text.h"
#include "core/sweep/outlook.h"

namespace batchscope::cli {

namespace {

/// Runs of the database from which times are estimated; none if there is no database yet.
sweep::Throughputs earlier_runs(const Context& context) {
  if (!std::filesystem::exists(context.database()))
    return {};
  return sweep::Throughputs(store::RunReader(context.database()).list("status = finished"));
}

/// The sum of the times; nothing if one is unknown.
std::optional<double> total_seconds(const std::vector<sweep::RunOutlook>& outlooks) {
  double sum = 0;
  for (const sweep::RunOutlook& outlook : outlooks) {
    if (!outlook.seconds)
      return std::nullopt;
    sum += *outlook.seconds;
  }
  return sum;
}

std::string line_of(const std::vector<sweep::RunOutlook>& outlooks) {
  std::optional<std::uint64_t> least;
  std::optional<std::uint64_t> most;
  std::int64_t too_large = 0;
  std::int64_t refused = 0;
  for (const sweep::RunOutlook& outlook : outlooks) {
    if (outlook.peak_bytes) {
      least = std::min(least.value_or(*outlook.peak_bytes), *outlook.peak_bytes);
      most = std::max(most.value_or(0), *outlook.peak_bytes);
    }
    too_large += outlook.fits ? 0 : 1;
    refused += outlook.problem.empty() ? 0 : 1;
  }
  std::string line =
      format_count(static_cast<std::int64_t>(outlooks.size())) + (outlooks.size() == 1 ? " run" : " runs");
  if (least)
    line += ", predicted peak " + format_bytes(*least) + (least == most ? "" : " to " + format_bytes(*most));
  if (too_large > 0)
    line += fmt::format(", {} will not fit", too_large);
  if (refused > 0)
    line += fmt::format(", {} cannot run", refused);
  const auto seconds = total_seconds(outlooks);
  return line + (seconds ? ", about " + format_duration(*seconds) : ", time unknown (no similar run is stored)");
}

std::vector<sweep::RunOutlook> outlooks_of(const sweep::SweepPlan& plan, const Context& context) {
  std::vector<run::RunSpec> specs;
  for (const sweep::PlannedRun& planned : plan.runs)
    specs.push_back(planned.spec);
  return sweep::foresee(specs, *plan.pool, earlier_runs(context));
}

} // namespace

std::string outlook_line(const sweep::SweepPlan& plan, const Context& context) {
  return line_of(outlooks_of(plan, context));
}

int print_plan(const sweep::SweepPlan& plan, const Context& context) {
  const auto outlooks = outlooks_of(plan, context);
  if (context.json) {
    Json runs = Json::array();
    for (std::size_t i = 0; i < outlooks.size(); ++i) {
      const sweep::RunOutlook& outlook = outlooks[i];
      runs.push_back({{"name", plan.runs[i].spec.name},
                      {"batch", outlook.batch ? Json(*outlook.batch) : Json(nullptr)},
                      {"predicted_bytes", outlook.peak_bytes ? Json(*outlook.peak_bytes) : Json(nullptr)},
                      {"fits", outlook.fits},
                      {"seconds", outlook.seconds ? json_number(*outlook.seconds) : Json(nullptr)},
                      {"problem", outlook.problem.empty() ? Json(nullptr) : Json(outlook.problem)}});
    }
    const auto seconds = total_seconds(outlooks);
    print_json({{"runs", runs}, {"seconds", seconds ? json_number(*seconds) : Json(nullptr)}});
    return exit_status::done;
  }
  Table table({{"run", Table::Align::left}, {"batch"}, {"peak"}, {"time"}, {"", Table::Align::left}});
  for (std::size_t i = 0; i < outlooks.size(); ++i) {
    const sweep::RunOutlook& outlook = outlooks[i];
    table.add({plan.runs[i].spec.name, outlook.batch ? format_count(*outlook.batch) : "-",
               outlook.peak_bytes ? format_bytes(*outlook.peak_bytes) : "-",
               outlook.seconds ? format_duration(*outlook.seconds) : "-",
               !outlook.problem.empty() ? outlook.problem
               : outlook.fits           ? ""
                                        : "will not fit"});
  }
  print(table.text(Palette::for_stdout()));
  print('\n' + line_of(outlooks) + '\n');
  return exit_status::done;
}

} // namespace batchscope::cli
