#include "ui/compare/curve_reader.h"

#include <QElapsedTimer>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/store/run_reader.h"

namespace batchscope::ui {

namespace {

constexpr qint64 part_ms = 300; ///< between two parts

const char* x_series(series::Axis axis) {
  switch (axis) {
  case series::Axis::examples:
    return "examples_seen";
  case series::Axis::epoch:
    return "epoch";
  case series::Axis::seconds:
    return "seconds";
  default:
    return nullptr;
  }
}

/// Every so many points, the last one included.
std::vector<store::Point> thinned(std::vector<store::Point> points, std::size_t most) {
  if (points.size() <= most)
    return points;
  std::vector<store::Point> some;
  for (std::size_t i = 0; i < most; ++i)
    some.push_back(points[i * (points.size() - 1) / (most - 1)]);
  return some;
}

/// Quantity that all curves of a request show.
struct Quantity {
  std::string series;
  double factor = 1;
  series::Axis axis = series::Axis::step;
  std::string over{}; ///< a series instead of the axis
  bool operator==(const Quantity&) const = default;
};

/// A point for each step that has both values.
std::shared_ptr<const PointsCurve> read_over(const store::RunReader& reader, const CurveReader::Request& request,
                                             const Quantity& quantity) {
  const auto xs = reader.series(request.run, quantity.over);
  std::vector<std::pair<double, double>> points;
  auto x = xs.begin();
  reader.visit_series(request.run, quantity.series, [&](const store::Point& point) {
    while (x != xs.end() && x->step < point.step)
      ++x;
    if (x != xs.end() && x->step == point.step && std::isfinite(x->value))
      points.emplace_back(x->value, point.value * quantity.factor);
  });
  std::stable_sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  auto curve = std::make_shared<PointsCurve>();
  for (const auto& [at, value] : points)
    curve->append(at, value);
  return curve;
}

std::shared_ptr<const PointsCurve> read_curve(const store::RunReader& reader, const CurveReader::Request& request,
                                              const Quantity& quantity) {
  const auto names = reader.series_names(request.run);
  const auto has = [&](const std::string& wanted) {
    return std::find(names.begin(), names.end(), wanted) != names.end();
  };
  const char* along = x_series(quantity.axis);
  if (!has(quantity.series) || (along && !has(along)) || (!quantity.over.empty() && !has(quantity.over)))
    return nullptr;
  if (!quantity.over.empty())
    return read_over(reader, request, quantity);
  const auto xs = along ? reader.series(request.run, along) : std::vector<store::Point>{};
  auto curve = std::make_shared<PointsCurve>();
  double last = -HUGE_VAL;
  const auto add = [&](const store::Point& point) {
    double x = static_cast<double>(point.step);
    if (along) {
      auto at = std::upper_bound(xs.begin(), xs.end(), point.step,
                                 [](std::int64_t step, const store::Point& each) { return step < each.step; });
      if (at == xs.begin())
        return; // before the first known place
      x = std::prev(at)->value;
    }
    last = std::isfinite(x) ? std::max(last, x) : last;
    if (std::isfinite(last))
      curve->append(last, point.value * quantity.factor);
  };
  // All points of a long run go from the database straight into the curve: every copy of them takes as long again.
  if (request.most == 0)
    reader.visit_series(request.run, quantity.series, add);
  else
    for (const store::Point& point : thinned(reader.series(request.run, quantity.series), request.most))
      add(point);
  return curve;
}

} // namespace

/// The curves of the last request; those that the next one wants, too, are not read again.
class CurveReader::Cache {
public:
  using Curves = std::map<std::int64_t, std::shared_ptr<const PointsCurve>>;

  explicit Cache(const std::filesystem::path& database) : reader_(database) {}

  /// Forgets all but what a request of this quantity may use.
  void begin(const Quantity& quantity, const std::vector<Request>& runs) {
    if (!(quantity == quantity_))
      known_.clear();
    quantity_ = quantity;
    std::map<std::int64_t, Known> kept;
    for (const Request& request : runs)
      if (const auto found = known_.find(request.run); found != known_.end() && found->second.request == request)
        kept.insert(*found);
    known_ = std::move(kept);
  }
  void read(const Request& request) {
    if (known_.contains(request.run))
      return;
    std::shared_ptr<const PointsCurve> curve;
    try {
      curve = read_curve(reader_, request, quantity_);
    } catch (const Error&) {
      return; // deleted meanwhile, or damaged: the list of runs and `check` report that
    }
    known_[request.run] = {request, curve};
  }
  Curves curves() const {
    Curves curves;
    for (const auto& [run, known] : known_)
      if (known.curve)
        curves[run] = known.curve;
    return curves;
  }

private:
  struct Known {
    Request request;
    std::shared_ptr<const PointsCurve> curve; ///< null: the run does not have it
  };

  store::RunReader reader_;
  Quantity quantity_;
  std::map<std::int64_t, Known> known_;
};

CurveReader::CurveReader(std::filesystem::path database, QObject* parent)
    : QObject(parent), database_(std::move(database)) {}

CurveReader::~CurveReader() = default;

void CurveReader::read(const std::vector<Request>& runs, const std::string& series, double factor, series::Axis axis,
                       const std::string& over) {
  task_.start([this, runs, quantity = Quantity{series, factor, axis, over}](const LatestTask::Progress& progress) {
    try {
      if (!cache_)
        cache_ = std::make_shared<Cache>(database_);
    } catch (const Error&) {
      return; // no database: the page shows that there are no runs
    }
    cache_->begin(quantity, runs);
    QElapsedTimer since;
    since.start();
    for (const Request& request : runs) {
      if (progress.replaced())
        return;
      cache_->read(request);
      if (since.elapsed() > part_ms) {
        progress.post([this, curves = cache_->curves()] { Q_EMIT read_so_far(curves, false); });
        since.restart();
      }
    }
    progress.post([this, curves = cache_->curves()] { Q_EMIT read_so_far(curves, true); });
  });
}

} // namespace batchscope::ui

#include "moc_curve_reader.cpp"
