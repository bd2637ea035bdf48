#include "core/compare/statistics.h"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/students_t.hpp>

namespace batchscope::compare {

Summary summarize(const std::vector<double>& values) {
  Summary summary;
  double squares = 0;
  for (const double value : values) {
    if (!std::isfinite(value))
      continue;
    ++summary.n; // Welford's update
    const double before = value - summary.mean;
    summary.mean += before / static_cast<double>(summary.n);
    squares += before * (value - summary.mean);
  }
  if (summary.n > 1)
    summary.deviation = std::sqrt(squares / static_cast<double>(summary.n - 1));
  return summary;
}

double student_quantile(double p, std::int64_t degrees) {
  return boost::math::quantile(boost::math::students_t(static_cast<double>(degrees)), p);
}

std::optional<double> half_interval(const Summary& summary) {
  if (summary.n < 2)
    return std::nullopt;
  return student_quantile(0.975, summary.n - 1) * summary.deviation / std::sqrt(static_cast<double>(summary.n));
}

std::optional<Spread> pooled_spread(const std::vector<std::vector<double>>& rows) {
  if (rows.size() < 2 || rows.front().size() < 2)
    return std::nullopt;
  const std::size_t columns = rows.front().size();
  std::vector<double> of_columns(columns);
  for (std::size_t j = 0; j < columns; ++j) {
    std::vector<double> column;
    for (const auto& row : rows)
      column.push_back(row[j]);
    of_columns[j] = summarize(column).mean;
  }
  const double all = summarize(of_columns).mean;
  double squares = 0;
  for (const auto& row : rows) {
    const double of_row = summarize(row).mean;
    for (std::size_t j = 0; j < columns; ++j)
      squares += std::pow(row[j] - of_row - of_columns[j] + all, 2);
  }
  const auto degrees = static_cast<std::int64_t>((rows.size() - 1) * (columns - 1));
  return Spread{std::sqrt(2 * squares / static_cast<double>(degrees)), degrees};
}

std::optional<Interval> mean_interval(const std::vector<double>& differences, double divisor,
                                      const std::optional<Spread>& pooled) {
  const Summary summary = summarize(differences);
  if (summary.n < 2)
    return std::nullopt;
  const double tail = 0.025 / divisor;
  const double deviation = pooled ? std::max(summary.deviation, pooled->deviation) : summary.deviation;
  const double half = student_quantile(1 - tail, pooled ? pooled->degrees : summary.n - 1) * deviation /
                      std::sqrt(static_cast<double>(summary.n));
  return Interval{summary.mean - half, summary.mean + half};
}

} // namespace batchscope::compare
