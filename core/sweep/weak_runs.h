#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/schedule/batch_schedule.h"
#include "core/telemetry/record.h"

namespace batchscope::sweep {

/// The training loss of a run in each tenth of its way: the mean over the steps in it, NaN without any.
class LossCurve {
public:
  static constexpr int parts = 10;

  explicit LossCurve(const schedule::RunLength& length) : length_(length) {}

  /// Adds a step; returns the part that it completed, from 0, if it is the first one beyond it.
  std::optional<int> take(const telemetry::StepRecord& record);
  double loss(int part) const;

private:
  schedule::RunLength length_;
  std::array<double, parts> sums_{};
  std::array<std::int64_t, parts> counts_{};
  int part_ = 0;
};

/// The finished runs of a sweep, and the median rule (Golovin et al., "Google Vizier", KDD 2017): a run ends early if
/// its loss is above the median of the finished runs at equal progress, once there are `min_finished` of them and
/// `first_part` is over.
class WeakRuns {
public:
  static constexpr std::size_t min_finished = 4;
  static constexpr int first_part = 3; ///< parts are numbered from 0: after 40 % of the run

  void add_finished(const LossCurve& curve) { finished_.push_back(curve); }
  std::size_t finished() const { return finished_.size(); }
  /// Why a run ends that has just completed this part; nothing if it goes on.
  std::optional<std::string> judge(const LossCurve& curve, int part) const;

private:
  std::vector<LossCurve> finished_;
};

} // namespace batchscope::sweep
