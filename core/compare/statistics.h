#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace batchscope::compare {

/// Count, mean and standard deviation (n - 1; 0 for one value) of a sample. Values that are not finite are left out.
struct Summary {
  std::int64_t n = 0;
  double mean = 0;
  double deviation = 0;
};
Summary summarize(const std::vector<double>& values);

/// Quantile of Student's t distribution, 0 < p < 1, degrees >= 1.
double student_quantile(double p, std::int64_t degrees);

/// Confidence interval of a mean.
struct Interval {
  double low = 0;
  double high = 0;
  bool contains_zero() const { return low <= 0 && high >= 0; }
};

/// Half of the two-sided 95 % confidence interval of the mean, by Student's t distribution; nothing for fewer than two
/// values. It is what stands after every `±`.
std::optional<double> half_interval(const Summary& summary);

/// How much differences of two settings spread, estimated from all settings with the same seeds.
struct Spread {
  double deviation = 0;     ///< of a difference of two settings with the same seed
  std::int64_t degrees = 0; ///< of freedom
};

/// From the residuals of a two-way layout: a row for each setting, a column for each seed. Nothing for fewer than two
/// rows or columns.
std::optional<Spread> pooled_spread(const std::vector<std::vector<double>>& rows);

/// Two-sided 95 % interval of the mean of paired differences. With `divisor` above 1 the 5 % are divided by it, for
/// many comparisons at once (Bonferroni). With `pooled`, their deviation is the larger of their own and that one, with
/// its degrees of freedom: few seeds say little about their own spread. Nothing for fewer than two differences.
std::optional<Interval> mean_interval(const std::vector<double>& differences, double divisor = 1,
                                      const std::optional<Spread>& pooled = {});

} // namespace batchscope::compare
