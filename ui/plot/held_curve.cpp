#include "ui/plot/held_curve.h"

#include <algorithm>
#include <cmath>

namespace batchscope::ui {

HeldCurve::HeldCurve(const std::shared_ptr<const series::History>& history, const std::string& name, series::Axis axis,
                     double scale)
    : HistoryCurve(history, name, axis, scale), history_(history), axis_(axis) {}

std::optional<std::pair<double, double>> HeldCurve::extent() const {
  auto all = StoredCurve::extent();
  if (const series::Series* of_steps = history_->find("seconds"); all && of_steps != nullptr)
    all->second = std::max(all->second, of_steps->frame->x(axis_).back());
  return all;
}

void HeldCurve::sample(double from, double to, int pixels, series::Samples& samples) const {
  StoredCurve::sample(from, to, pixels, samples);
  const auto stored = StoredCurve::extent();
  const auto all = extent();
  if (!stored || !(all->second > stored->second) || to < stored->second || all->second < from)
    return;
  if (const auto last = StoredCurve::value_at(stored->second); last && std::isfinite(*last)) {
    samples.x.push_back(all->second);
    samples.y.push_back(*last);
  }
}

std::optional<double> HeldCurve::value_at(double x) const {
  const auto stored = StoredCurve::extent();
  if (!stored || x > extent()->second)
    return std::nullopt;
  return StoredCurve::value_at(std::min(x, stored->second));
}

std::optional<std::pair<double, double>> HeldCurve::range(double from, double to) const {
  const auto all = summary(from, to);
  return all ? std::optional(std::pair(all->min, all->max)) : std::nullopt;
}

std::optional<CurveSummary> HeldCurve::summary(double from, double to) const {
  auto summary = StoredCurve::summary(from, to);
  const auto held = value_at(from);
  if (!held || !std::isfinite(*held))
    return summary;
  if (!summary)
    return CurveSummary{.count = 1, .first = *held, .last = *held, .min = *held, .max = *held, .mean = *held};
  summary->first = *held;
  summary->min = std::min(summary->min, *held);
  summary->max = std::max(summary->max, *held);
  return summary;
}

} // namespace batchscope::ui
