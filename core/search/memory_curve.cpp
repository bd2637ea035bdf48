#include <algorithm>
#include <cmath>

#include "core/predict/memory_model.h"
#include "core/search/run_search.h"

namespace batchscope::search {

namespace {

/// Nothing if no size was predicted before it ran.
std::optional<double> largest_error(const std::vector<Probe>& probes) {
  std::optional<double> largest;
  for (const Probe& probe : probes) {
    if (probe.outcome != Outcome::fits || !probe.predicted_bytes || probe.peak_bytes.value_or(0) == 0)
      continue;
    const double ratio = static_cast<double>(*probe.predicted_bytes) / static_cast<double>(*probe.peak_bytes);
    largest = std::max(largest.value_or(0), std::abs(ratio - 1));
  }
  return largest;
}

} // namespace

predict::PeakCurve curve_of(const predict::MemoryModel& model, const std::vector<Probe>& probes, std::int64_t highest) {
  return {model, highest, largest_error(probes).value_or(model.unmatched())};
}

std::optional<predict::PeakCurve> curve_of(const std::vector<Probe>& probes, std::int64_t highest) {
  std::vector<const telemetry::Trace*> traces;
  for (const Probe& probe : probes) {
    if (probe.trace)
      traces.push_back(probe.trace.get());
  }
  std::sort(traces.begin(), traces.end(), [](const auto* a, const auto* b) { return a->batch < b->batch; });
  const auto same = [](const auto* a, const auto* b) { return a->batch == b->batch; };
  traces.erase(std::unique(traces.begin(), traces.end(), same), traces.end());
  if (traces.size() < 2)
    return std::nullopt;
  const predict::MemoryModel model(**(traces.end() - 2), *traces.back());
  if (!model.usable())
    return std::nullopt;
  return curve_of(model, probes, highest);
}

} // namespace batchscope::search
