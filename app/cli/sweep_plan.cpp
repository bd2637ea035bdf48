#include "app/cli/sweep_plan.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "app/cli/output.h"
#include "core/base/text.h"
#include "core/store/run_reader.h"
#include "core/sweep/run_prediction.h"

namespace batchscope::cli {

namespace {

/// Runs of the database from which times are estimated; none if there is no database yet.
sweep::Throughputs earlier_runs(const Context& context) {
  if (!std::filesystem::exists(context.database()))
    return {};
  return sweep::Throughputs(store::RunReader(context.database()).list("status = finished"));
}

/// The sum of the times; nothing if one is unknown.
std::optional<double> total_seconds(const std::vector<sweep::RunPrediction>& predictions) {
  double sum = 0;
  for (const sweep::RunPrediction& prediction : predictions) {
    if (!prediction.seconds)
      return std::nullopt;
    sum += *prediction.seconds;
  }
  return sum;
}

std::string line_of(const std::vector<sweep::RunPrediction>& predictions) {
  std::optional<std::uint64_t> least;
  std::optional<std::uint64_t> most;
  std::int64_t too_large = 0;
  std::int64_t refused = 0;
  for (const sweep::RunPrediction& prediction : predictions) {
    if (prediction.peak_bytes) {
      least = std::min(least.value_or(*prediction.peak_bytes), *prediction.peak_bytes);
      most = std::max(most.value_or(0), *prediction.peak_bytes);
    }
    too_large += prediction.fits ? 0 : 1;
    refused += prediction.problem.empty() ? 0 : 1;
  }
  std::string line =
      format_count(static_cast<std::int64_t>(predictions.size())) + (predictions.size() == 1 ? " run" : " runs");
  if (least)
    line += ", predicted peak " + format_bytes(*least) + (least == most ? "" : " to " + format_bytes(*most));
  if (too_large > 0)
    line += fmt::format(", {} will not fit", too_large);
  if (refused > 0)
    line += fmt::format(", {} cannot run", refused);
  const auto seconds = total_seconds(predictions);
  return line + (seconds ? ", about " + format_duration(*seconds) : ", time unknown (no similar run is stored)");
}

std::vector<sweep::RunPrediction> predictions_of(const sweep::SweepPlan& plan, const Context& context) {
  std::vector<run::RunSpec> specs;
  for (const sweep::PlannedRun& planned : plan.runs)
    specs.push_back(planned.spec);
  return sweep::predict_runs(specs, *plan.pool, earlier_runs(context));
}

} // namespace

std::string prediction_line(const sweep::SweepPlan& plan, const Context& context) {
  return line_of(predictions_of(plan, context));
}

int print_plan(const sweep::SweepPlan& plan, const Context& context) {
  const auto predictions = predictions_of(plan, context);
  if (context.json) {
    Json runs = Json::array();
    for (std::size_t i = 0; i < predictions.size(); ++i) {
      const sweep::RunPrediction& prediction = predictions[i];
      runs.push_back({{"name", plan.runs[i].spec.name},
                      {"batch", prediction.batch ? Json(*prediction.batch) : Json(nullptr)},
                      {"predicted_bytes", prediction.peak_bytes ? Json(*prediction.peak_bytes) : Json(nullptr)},
                      {"fits", prediction.fits},
                      {"seconds", prediction.seconds ? json_number(*prediction.seconds) : Json(nullptr)},
                      {"problem", prediction.problem.empty() ? Json(nullptr) : Json(prediction.problem)}});
    }
    const auto seconds = total_seconds(predictions);
    print_json({{"runs", runs}, {"seconds", seconds ? json_number(*seconds) : Json(nullptr)}});
    return exit_status::done;
  }
  Table table({{"run", Table::Align::left}, {"batch"}, {"peak"}, {"time"}, {"", Table::Align::left}});
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const sweep::RunPrediction& prediction = predictions[i];
    table.add({plan.runs[i].spec.name, prediction.batch ? format_count(*prediction.batch) : "-",
               prediction.peak_bytes ? format_bytes(*prediction.peak_bytes) : "-",
               prediction.seconds ? format_duration(*prediction.seconds) : "-",
               !prediction.problem.empty() ? prediction.problem
               : prediction.fits           ? ""
                                           : "will not fit"});
  }
  print(table.text(Palette::for_stdout()));
  print('\n' + line_of(predictions) + '\n');
  return exit_status::done;
}

} // namespace batchscope::cli
