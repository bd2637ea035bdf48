#include "core/compare/statistics.h"

#include <algorithm>
#include <cmath>
#include <numbers>

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

namespace {

/// Of the standard normal distribution; relative error below 4.5e-4 is enough where Hill's expansion starts from it
/// (Abramowitz and Stegun, formula 26.2.23).
double normal_quantile(double p) {
  const double t = std::sqrt(-2 * std::log(1 - p));
  double x = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  // One step of Newton's method on the distribution function.
  const double error = 0.5 * std::erfc(-x / std::numbers::sqrt2) - p;
  x -= error * std::sqrt(2 * std::numbers::pi) * std::exp(x * x / 2);
  return x;
}

} // namespace

double student_quantile(double p, std::int64_t degrees) {
  const double both_tails = 2 * (1 - p);
  if (degrees == 1)
    return 1 / std::tan(both_tails * std::numbers::pi / 2);
  if (degrees == 2)
    return std::sqrt(2 / (both_tails * (2 - both_tails)) - 2);
  const auto n = static_cast<double>(degrees);
  const double a = 1 / (n - 0.5);
  const double b = 48 / (a * a);
  double c = ((20700 * a / b - 98) * a - 16) * a + 96.36;
  const double d = ((94.5 / (b + c) - 3) / b + 1) * std::sqrt(a * std::numbers::pi / 2) * n;
  double y = std::pow(d * both_tails, 2 / n);
  if (y > 0.05 + a) {
    const double x = -normal_quantile(p);
    y = x * x;
    if (degrees < 5)
      c += 0.3 * (n - 4.5) * (x + 0.6);
    c = (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b + c;
    y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x;
    y = std::expm1(a * y * y);
  } else {
    y = ((1 / (((n + 6) / (n * y) - 0.089 * d - 0.822) * (n + 2) * 3) + 0.5 / (n + 4)) * y - 1) * (n + 1) / (n + 2) +
        1 / y;
  }
  return std::sqrt(n * y);
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
