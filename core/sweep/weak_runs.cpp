#include "core/sweep/weak_runs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/base/median.h"

namespace batchscope::sweep {

std::optional<int> LossCurve::take(const telemetry::StepRecord& record) {
  // A step belongs to the part that it ends in.
  const double done = schedule::fraction_done(length_, record.step, record.examples_seen, record.epoch).value_or(0);
  const int part = std::clamp(static_cast<int>(std::ceil(done * parts)) - 1, 0, parts - 1);
  const int before = part_;
  part_ = std::max(part_, part);
  sums_[static_cast<std::size_t>(part_)] += record.loss;
  ++counts_[static_cast<std::size_t>(part_)];
  return part_ > before ? std::optional(part_ - 1) : std::nullopt;
}

double LossCurve::loss(int part) const {
  const auto index = static_cast<std::size_t>(part);
  return counts_[index] == 0 ? std::numeric_limits<double>::quiet_NaN()
                             : sums_[index] / static_cast<double>(counts_[index]);
}

std::optional<std::string> WeakRuns::judge(const LossCurve& curve, int part) const {
  if (part < first_part || finished_.size() < min_finished)
    return std::nullopt;
  std::vector<double> losses;
  for (const LossCurve& other : finished_)
    if (const double loss = other.loss(part); !std::isnan(loss))
      losses.push_back(loss);
  if (losses.size() < min_finished)
    return std::nullopt;
  const double middle = median(losses);
  const double loss = curve.loss(part);
  if (!std::isnan(loss) && !(loss > middle))
    return std::nullopt;
  return fmt::format("ended early: its training loss at {} % was {:.4g}, above the median {:.4g} of {} finished runs",
                     100 * (part + 1) / LossCurve::parts, loss, middle, losses.size());
}

} // namespace batchscope::sweep
