#pragma once

#include <QString>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/series/history.h"

namespace batchscope::ui {

/// Summary of a curve between two places.
struct CurveSummary {
  std::size_t count = 0;
  double first = 0;
  double last = 0;
  double min = 0;
  double max = 0;
  double mean = 0;
};

/// Source of a curve's points; asked for the visible part at each refresh. UI thread.
class CurveSource {
public:
  virtual ~CurveSource() = default;
  /// At most about four points per pixel; see series::sample().
  virtual void sample(double from, double to, int pixels, series::Samples& samples) const = 0;
  /// First and last x; nothing if it is empty.
  virtual std::optional<std::pair<double, double>> extent() const = 0;
  /// Minimum and maximum finite y for x in [from, to]; nothing if there is none.
  virtual std::optional<std::pair<double, double>> range(double from, double to) const = 0;
  /// y of the last point at or before x; nothing if x is outside the extent.
  virtual std::optional<double> value_at(double x) const = 0;
  virtual std::optional<CurveSummary> summary(double from, double to) const = 0;
  /// Unchanged if nothing has changed.
  virtual std::uint64_t revision() const = 0;
  /// Unchanged if points were only appended; then only the new points are requested.
  virtual std::uint64_t generation() const { return revision(); }
};

/// A curve of stored points.
class StoredCurve : public CurveSource {
public:
  void sample(double from, double to, int pixels, series::Samples& samples) const override;
  std::optional<std::pair<double, double>> extent() const override;
  std::optional<std::pair<double, double>> range(double from, double to) const override;
  std::optional<double> value_at(double x) const override;
  std::optional<CurveSummary> summary(double from, double to) const override;

protected:
  /// x is nondecreasing and has at least as many entries as y.
  struct Points {
    const series::Column<double>& x;
    const series::Pyramid& y;
    double scale = 1; ///< multiplies every y
  };
  virtual std::optional<Points> points() const = 0; ///< nothing before the first
};

/// A series of a history along any axis. `scale` multiplies the values (1e-6 shows bytes as MB).
class HistoryCurve : public StoredCurve {
public:
  HistoryCurve(std::shared_ptr<const series::History> history, std::string name, series::Axis axis, double scale = 1);

  std::uint64_t revision() const override { return history_->revision(); }
  std::uint64_t generation() const override { return 0; } // a history only grows

protected:
  std::optional<Points> points() const override;

private:
  std::shared_ptr<const series::History> history_;
  std::string name_;
  series::Axis axis_;
  double scale_;
};

/// An exponentially smoothed copy of a series that is updated as the series grows: s = w*s + (1-w)*y over finite
/// values, with the same bias correction as TensorBoard; w is 0.9 until set. With many points in view, it averages over
/// as many more, so that the curve stays as calm to the eye: w^(1/k) for k = 2^n times usual_points in view. After a
/// change the values are recomputed in portions, one per refresh, and shown once they reach as far as the old ones.
class SmoothedCurve : public StoredCurve {
public:
  SmoothedCurve(std::shared_ptr<const series::History> history, std::string name, series::Axis axis);
  ~SmoothedCurve() override;

  static constexpr double usual_points = 250;

  void set_weight(double weight); ///< 0 <= weight < 1
  /// Number of finite values at x from `from` to `to`, for set_points_in_view().
  double points_in(double from, double to) const;
  /// The same for all curves that are compared: else they would be smoothed by different amounts.
  void set_points_in_view(double points);
  /// Smooths up to `most` more points; returns true when it is up to date. Call it before each refresh.
  bool catch_up(std::size_t most);

  std::uint64_t revision() const override { return revision_; }
  std::uint64_t generation() const override { return generation_; }

protected:
  std::optional<Points> points() const override;

private:
  struct Copy;
  void smooth_anew();

  std::shared_ptr<const series::History> history_;
  std::string name_;
  series::Axis axis_;
  double weight_ = 0.9;
  double times_usual_ = 1; ///< points in view, of usual_points, as a power of 2
  std::unique_ptr<Copy> shown_;
  std::unique_ptr<Copy> coming_; ///< with a new weight
  std::uint64_t revision_ = 1;
  std::uint64_t generation_ = 1;
};

/// Fixed points: probes, timings, a predicted curve.
class PointsCurve : public StoredCurve {
public:
  PointsCurve() = default;
  PointsCurve(const std::vector<double>& x, const std::vector<double>& y); ///< x is nondecreasing
  void set(const std::vector<double>& x, const std::vector<double>& y);
  void append(double x, double y); ///< x is not smaller than before
  std::size_t size() const { return x_.size(); }

  /// On the straight line between two points.
  std::optional<double> value_at(double x) const override;
  std::uint64_t revision() const override { return revision_; }

protected:
  std::optional<Points> points() const override { return Points{x_, y_}; }

private:
  series::Column<double> x_;
  series::Pyramid y_;
  std::uint64_t revision_ = 1;
};

} // namespace batchscope::ui
