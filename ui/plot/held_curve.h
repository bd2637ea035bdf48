#pragma once

#include "ui/plot/curve.h"

namespace batchscope::ui {

/// A series that has values at some steps only, where they change: each holds until the next, the last one until the
/// newest step of the history. To be drawn as a staircase. UI thread.
class HeldCurve : public HistoryCurve {
public:
  HeldCurve(const std::shared_ptr<const series::History>& history, const std::string& name, series::Axis axis,
            double scale = 1);

  void sample(double from, double to, int pixels, series::Samples& samples) const override;
  std::optional<std::pair<double, double>> extent() const override;
  std::optional<std::pair<double, double>> range(double from, double to) const override;
  std::optional<double> value_at(double x) const override;
  /// Of the values in [from, to], and of the one that holds at `from`.
  std::optional<CurveSummary> summary(double from, double to) const override;
  std::uint64_t generation() const override { return revision(); } // its last point moves

private:
  std::shared_ptr<const series::History> history_;
  series::Axis axis_;
};

} // namespace batchscope::ui
