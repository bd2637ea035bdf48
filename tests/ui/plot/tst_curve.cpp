#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "plot_test.h"
#include "test_program.h"
#include "ui/plot/curve.h"
#include "ui/plot/held_curve.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

namespace {

constexpr std::size_t all = 1'000'000;

telemetry::StepRecord record_at(std::int64_t step, double loss) {
  telemetry::StepRecord record;
  record.step = step;
  record.examples_seen = step * 10;
  record.epoch = static_cast<double>(step) / 100;
  record.seconds = static_cast<double>(step) / 4;
  record.loss = loss;
  record.peak_bytes = step * 1'000'000;
  return record;
}

std::shared_ptr<series::History> history_of(const std::vector<double>& losses) {
  auto history = std::make_shared<series::History>();
  for (std::size_t i = 0; i < losses.size(); ++i)
    history->append(record_at(static_cast<std::int64_t>(i) + 1, losses[i]));
  return history;
}

/// The smoothed series as its definition says.
std::vector<double> smoothed(const std::vector<double>& values, double weight) {
  std::vector<double> result;
  double sum = 0;
  int seen = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) {
      result.push_back(not_a_number);
      continue;
    }
    sum = weight * sum + (1 - weight) * value;
    result.push_back(sum / (1 - std::pow(weight, ++seen)));
  }
  return result;
}

series::Samples all_of(const CurveSource& curve) {
  series::Samples samples;
  curve.sample(-10, 2000, 1'000'000, samples);
  return samples;
}

} // namespace

class TestCurve : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void points_answer_as_if_counted();
  void points_replaced_are_another_generation();
  void nothing_is_there();
  void a_history_is_followed();
  void what_changes_rarely_is_held();
  void any_axis_and_scale();
  void smoothing_is_as_defined_data();
  void smoothing_is_as_defined();
  void smoothing_goes_on_in_parts();
  void another_weight_shows_once_it_has_come_as_far();
  void more_points_in_view_are_smoothed_by_more();
};

void TestCurve::points_answer_as_if_counted() {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> place(-5, 105);
  std::normal_distribution<double> value;
  std::vector<double> x, y;
  for (int i = 0; i < 400; ++i) {
    x.push_back(std::floor(i / 4.0)); // several at one place
    y.push_back(i % 37 == 5 ? not_a_number : i % 91 == 6 ? infinity : value(random));
  }
  const PointsCurve curve(x, y);
  QCOMPARE(*curve.extent(), std::pair(0.0, 99.0));
  for (int round = 0; round < 500; ++round) {
    double from = place(random), to = place(random);
    if (from > to)
      std::swap(from, to);
    std::vector<double> inside, finite;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (x[i] >= from && x[i] <= to)
        inside.push_back(y[i]);
    std::copy_if(inside.begin(), inside.end(), std::back_inserter(finite), [](double v) { return std::isfinite(v); });
    const auto range = curve.range(from, to);
    const auto summary = curve.summary(from, to);
    QCOMPARE(range.has_value(), !finite.empty());
    QCOMPARE(summary.has_value(), !finite.empty());
    if (finite.empty())
      continue;
    QCOMPARE(range->first, *std::min_element(finite.begin(), finite.end()));
    QCOMPARE(range->second, *std::max_element(finite.begin(), finite.end()));
    QCOMPARE(summary->count, finite.size());
    QCOMPARE(summary->min, range->first);
    QCOMPARE(summary->max, range->second);
    QCOMPARE(summary->first, inside.front());
    QCOMPARE(summary->last, inside.back());
    const double mean = std::accumulate(finite.begin(), finite.end(), 0.0) / static_cast<double>(finite.size());
    QVERIFY(std::abs(summary->mean - mean) < 1e-12);
    const auto at = curve.value_at(from);
    QCOMPARE(at.has_value(), from >= 0 && from <= 99);
    if (at) {
      // On the straight line between the points on both sides.
      const auto next = static_cast<std::size_t>(std::upper_bound(x.begin(), x.end(), from) - x.begin());
      const double left = y[next - 1];
      QCOMPARE(*at, next < x.size() && from > x[next - 1]
                        ? left + (y[next] - left) * (from - x[next - 1]) / (x[next] - x[next - 1])
                        : left);
    }
  }
}

void TestCurve::points_replaced_are_another_generation() {
  PointsCurve curve({1, 2}, {3, 4});
  const auto revision = curve.revision();
  const auto generation = curve.generation();
  curve.set({1, 2, 3}, {5, 6, 7});
  QVERIFY(curve.revision() != revision);
  QVERIFY(curve.generation() != generation);
  QCOMPARE(all_of(curve).y, std::vector<double>({5, 6, 7}));
}

void TestCurve::nothing_is_there() {
  const PointsCurve empty;
  const HistoryCurve unknown(history_of({1, 2}), "no_such_series", series::Axis::step);
  SmoothedCurve smooth(history_of({}), "loss", series::Axis::step);
  QVERIFY(smooth.catch_up(all));
  for (const CurveSource* curve : {static_cast<const CurveSource*>(&empty), static_cast<const CurveSource*>(&unknown),
                                   static_cast<const CurveSource*>(&smooth)}) {
    QVERIFY(all_of(*curve).x.empty());
    QVERIFY(!curve->extent());
    QVERIFY(!curve->range(0, 10));
    QVERIFY(!curve->value_at(1));
    QVERIFY(!curve->summary(0, 10));
  }
}

void TestCurve::a_history_is_followed() {
  const auto history = history_of({3, 2});
  const HistoryCurve curve(history, "loss", series::Axis::step);
  const auto revision = curve.revision();
  const auto generation = curve.generation();
  QCOMPARE(all_of(curve).y, std::vector<double>({3, 2}));
  QCOMPARE(curve.revision(), revision);
  history->append(record_at(3, not_a_number));
  history->append(record_at(4, 1));
  QVERIFY(curve.revision() != revision);
  QCOMPARE(curve.generation(), generation); // what was sampled is still right
  const series::Samples samples = all_of(curve);
  QCOMPARE(samples.x, std::vector<double>({1, 2, 3, 4}));
  QVERIFY(std::isnan(samples.y[2]));
  QCOMPARE(samples.bad_x, std::vector<double>({3}));
  QCOMPARE(*curve.extent(), std::pair(1.0, 4.0));
  QCOMPARE(*curve.value_at(4), 1.0);
  QVERIFY(std::isnan(*curve.value_at(3.5)));
  QCOMPARE(curve.summary(1, 4)->count, std::size_t(3));
}

void TestCurve::what_changes_rarely_is_held() {
  const auto history = history_of({3, 2, 1});
  const HeldCurve curve(history, "level", series::Axis::step, 10);
  QVERIFY(!curve.extent());
  QVERIFY(!curve.value_at(1));
  const auto append = [&](std::int64_t step, std::optional<double> level) {
    telemetry::StepRecord record = record_at(step, 0);
    if (level)
      record.more = {{"level", *level}};
    history->append(record);
  };
  append(4, 2.0);
  for (const std::int64_t step : {5, 6, 7})
    append(step, std::nullopt);
  append(8, 5.0);
  append(9, std::nullopt);
  QCOMPARE(*curve.extent(), std::pair(4.0, 9.0));
  QCOMPARE(all_of(curve).x, (std::vector<double>{4, 8, 9}));
  QCOMPARE(all_of(curve).y, (std::vector<double>{20, 50, 50}));
  QCOMPARE(curve.value_at(7), std::optional(20.0));
  QCOMPARE(curve.value_at(9), std::optional(50.0));
  QVERIFY(!curve.value_at(9.5) && !curve.value_at(3));
  QCOMPARE(*curve.range(5, 7), std::pair(20.0, 20.0)); // no value of its own
  QCOMPARE(*curve.range(6, 9), std::pair(20.0, 50.0));
  QVERIFY(!curve.range(1, 3));
  series::Samples left;
  curve.sample(1, 3, 100, left); // the neighbour alone
  QVERIFY(left.x.size() <= 1);
  const std::uint64_t before = curve.revision();
  append(10, std::nullopt);
  QVERIFY(curve.revision() != before && curve.generation() == curve.revision()); // its end has moved
  QCOMPARE(all_of(curve).x.back(), 10.0);
}

void TestCurve::any_axis_and_scale() {
  const auto history = history_of({3, 2, 1});
  const HistoryCurve by_seconds(history, "peak_bytes", series::Axis::seconds, 1e-6);
  const series::Samples samples = all_of(by_seconds);
  QCOMPARE(samples.x, std::vector<double>({0.25, 0.5, 0.75}));
  QCOMPARE(samples.y, std::vector<double>({1, 2, 3}));
  QCOMPARE(*by_seconds.range(0.3, 0.8), std::pair(2.0, 3.0));
  QCOMPARE(by_seconds.summary(0, 1)->mean, 2.0);
  const HistoryCurve turned(history, "loss", series::Axis::examples, -1);
  QCOMPARE(*turned.range(0, 100), std::pair(-3.0, -1.0));
  QCOMPARE(turned.summary(0, 100)->max, -1.0);
  QCOMPARE(*turned.value_at(29), -2.0);
}

void TestCurve::smoothing_is_as_defined_data() {
  QTest::addColumn<double>("weight");
  for (const double weight : {0.0, 0.5, 0.9, 0.99})
    QTest::addRow("%g", weight) << weight;
}

void TestCurve::smoothing_is_as_defined() {
  QFETCH(double, weight);
  std::mt19937 random(3);
  std::normal_distribution<double> noise(2, 1);
  std::vector<double> losses;
  for (int i = 0; i < 300; ++i)
    losses.push_back(i == 20 || i == 21 ? not_a_number : i == 50 ? infinity : noise(random));
  SmoothedCurve curve(history_of(losses), "loss", series::Axis::step);
  curve.set_weight(weight);
  QVERIFY(curve.catch_up(all));
  const series::Samples samples = all_of(curve);
  const std::vector<double> expected = smoothed(losses, weight);
  QCOMPARE(samples.y.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    QVERIFY2(std::isnan(expected[i]) ? std::isnan(samples.y[i]) : std::abs(samples.y[i] - expected[i]) < 1e-12,
             qPrintable(QString("value %1").arg(i)));
  QCOMPARE(samples.bad_x, std::vector<double>({21, 22, 51}));
}

void TestCurve::smoothing_goes_on_in_parts() {
  std::vector<double> losses(1000, 1);
  losses.back() = 11;
  const auto history = history_of(losses);
  SmoothedCurve curve(history, "loss", series::Axis::step);
  QVERIFY(!curve.catch_up(400));
  QCOMPARE(curve.extent()->second, 400.0);
  QVERIFY(!curve.catch_up(400));
  const auto revision = curve.revision();
  QVERIFY(curve.catch_up(400));
  QVERIFY(curve.revision() != revision);
  QVERIFY(std::abs(*curve.value_at(1000) - 2) < 1e-9); // 0.9 * 1 + 0.1 * 11
  const auto complete = curve.revision();
  const auto generation = curve.generation();
  QVERIFY(curve.catch_up(all));
  QCOMPARE(curve.revision(), complete); // nothing came, nothing is to be drawn
  history->append(record_at(1001, 2));
  QVERIFY(curve.catch_up(all));
  QCOMPARE(curve.extent()->second, 1001.0);
  QCOMPARE(curve.generation(), generation);
}

void TestCurve::more_points_in_view_are_smoothed_by_more() {
  std::mt19937 random(5);
  std::normal_distribution<double> noise(2, 1);
  std::vector<double> losses(4000);
  for (double& loss : losses)
    loss = noise(random);
  SmoothedCurve curve(history_of(losses), "loss", series::Axis::step);
  const auto smoothed_with = [&](double from, double to, double weight) {
    curve.set_points_in_view(curve.points_in(from, to));
    if (!curve.catch_up(all))
      return false;
    const std::vector<double> expected = smoothed(losses, weight);
    for (const double step : {1.0, 77.0, 2000.0, 4000.0})
      if (std::abs(*curve.value_at(step) - expected[static_cast<std::size_t>(step) - 1]) > 1e-12)
        return false;
    return true;
  };
  QVERIFY(smoothed_with(100, 300, 0.9)); // the usual number of points, or fewer
  QVERIFY(smoothed_with(1, 4000, std::pow(0.9, 1.0 / 16)));
  const auto generation = curve.generation();
  QVERIFY(smoothed_with(1, 3000, std::pow(0.9, 1.0 / 16))); // not anew for each step of a zoom
  QCOMPARE(curve.generation(), generation);
  QVERIFY(smoothed_with(1, 1000, std::pow(0.9, 1.0 / 4)));
  QVERIFY(smoothed_with(3990, 9000, 0.9));
  curve.set_weight(0);
  QVERIFY(smoothed_with(1, 4000, 0));

  for (std::size_t i = 0; i < losses.size(); ++i)
    if (i % 100 != 0)
      losses[i] = not_a_number; // it is known for some steps only
  const SmoothedCurve sparse(history_of(losses), "loss", series::Axis::step);
  QCOMPARE(sparse.points_in(1, 4000), 40.0);
  QCOMPARE(sparse.points_in(-10, 0), 0.0);
  QCOMPARE(sparse.points_in(3000, 9000), 10.0);
}

void TestCurve::another_weight_shows_once_it_has_come_as_far() {
  std::vector<double> losses(1000, 4);
  losses[999] = 8;
  SmoothedCurve curve(history_of(losses), "loss", series::Axis::step);
  QVERIFY(curve.catch_up(all));
  const double before = *curve.value_at(1000);
  const auto generation = curve.generation();
  curve.set_weight(0);
  QVERIFY(!curve.catch_up(600));
  QCOMPARE(*curve.value_at(1000), before);
  QVERIFY(curve.catch_up(600));
  QCOMPARE(*curve.value_at(1000), 8.0);
  QVERIFY(curve.generation() != generation);
  const auto revision = curve.revision();
  curve.set_weight(0);
  QVERIFY(curve.catch_up(all));
  QCOMPARE(curve.revision(), revision);
}

BATCHSCOPE_TEST(TestCurve)
#include "tst_curve.moc"
