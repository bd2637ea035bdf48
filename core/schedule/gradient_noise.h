#pragma once

#include <cstdint>
#include <optional>

namespace batchscope::schedule {

/// Squared norms of the mean gradient of one step at two batch sizes.
struct GradientNorms {
  std::int64_t part = 0;    ///< examples of the smaller one, at least 1
  std::int64_t whole = 0;   ///< examples of the step, more than `part`
  double part_squared = 0;  ///< of the mean gradient over the part
  double whole_squared = 0; ///< of the mean gradient over the step
};

/// Gradient noise scale ("critical batch size") of McCandlish et al., An Empirical Model of Large-Batch Training, 2018,
/// appendix A.1: the squared norm of a mean gradient over B examples is |G|^2 + tr(S) / B on average, so two sizes give
/// both terms. Each is smoothed before they are divided. A plain value.
struct GradientNoise {
  static constexpr double smoothing = 0.99; ///< weight of what was known before a measurement

  double squared = 0;  ///< |G|^2, smoothed
  double variance = 0; ///< tr(S), of the gradient of one example, smoothed; both begin with 0, so only ratios count

  void add(const GradientNorms& norms);
  /// tr(S) / |G|^2 in examples; nothing before the first measurement and while |G|^2 is not above 0.
  std::optional<double> scale() const;
  /// Gain of AdaScale (Johnson et al., AdaScale SGD, 2020) at `scale` times the reference batch: from 1, if the
  /// gradient has no noise, to `scale`, if it has nothing else; 1 while it is unknown. Below the reference batch, where
  /// the paper does not go, the same formula: a change of the batch and its reversal cancel out.
  double gain(double scale, std::int64_t reference_batch) const;
};

} // namespace batchscope::schedule
