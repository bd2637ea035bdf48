#include "core/program/trial/program_estimate.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/program/trial/detail/live_program.h"

namespace batchscope::program {

namespace {

Error no_answer(const std::string& why) {
  return {Error::Kind::failed, fmt::format("no estimate: {}", why)};
}

} // namespace

EstimateMessage estimate_program(const run::RunSpec& spec, const Surroundings& surroundings,
                                 const std::vector<std::int64_t>& batches, const std::function<bool()>& stop) {
  LiveProgram program(spec, surroundings, {.batch = 1, .accumulate = 1, .rate_factor = {}, .limit_bytes = {}}, stop);
  bool asked = false;
  while (const auto message = program.next()) {
    if (std::holds_alternative<StepMessage>(*message) && !asked) { // it has its optimizer now
      if (!program.hello() || !program.hello()->can.contains("estimate"))
        throw no_answer("only a Trainer of transformers can be estimated; `find` measures the memory of any program");
      asked = true;
      program.ask(estimate_line(batches));
    }
    if (const auto* estimate = std::get_if<EstimateMessage>(&*message)) {
      if (!estimate->error.empty())
        throw no_answer(estimate->error);
      return *estimate;
    }
  }
  if (!program.ended())
    throw no_answer(fmt::format("the program {}", program.why_given_up()));
  const Verdict verdict = program.verdict();
  if (!program.hello() && verdict.status == telemetry::RunStatus::finished)
    throw no_answer(
        "the program has not connected: it has no Trainer of transformers; `find` measures the memory of any "
        "program");
  throw no_answer(verdict.reason.empty() ? "the program ended before it was asked" : verdict.reason_text());
}

std::optional<std::int64_t> largest_within(const EstimateMessage& estimate, std::uint64_t bytes) {
  std::vector<EstimateMessage::Point> points = estimate.curve;
  std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.batch < b.batch; });
  if (points.size() < 2)
    return std::nullopt;
  const auto& small = *(points.end() - 2);
  const auto& large = points.back();
  const double slope = (static_cast<double>(large.peak_bytes) - static_cast<double>(small.peak_bytes)) /
                       static_cast<double>(large.batch - small.batch);
  if (large.batch == small.batch || !(slope > 0))
    return std::nullopt;
  const double room = static_cast<double>(bytes) - static_cast<double>(large.peak_bytes);
  const double largest = static_cast<double>(large.batch) + room / slope;
  return static_cast<std::int64_t>(std::clamp(std::floor(largest), 0.0, 1e12));
}

} // namespace batchscope::program
