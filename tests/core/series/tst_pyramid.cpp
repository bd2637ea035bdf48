#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "core/series/pyramid.h"
#include "test_program.h"

using namespace batchscope::series;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr unsigned seed = 4711;

using Values = std::vector<double>;

Pyramid pyramid_of(const Values& values) {
  Pyramid pyramid;
  for (const double value : values)
    pyramid.append(value);
  return pyramid;
}

Column<double> column_of(const Values& values) {
  Column<double> column;
  for (const double value : values)
    column.append(value);
  return column;
}

/// Few different values, so that ties are common; here and there NaN and infinity, alone and in stretches.
Values random_values(std::mt19937_64& random, std::size_t count) {
  Values values;
  while (values.size() < count) {
    const std::uint64_t kind = random() % 40;
    const double value = kind == 0   ? no_number
                         : kind == 1 ? infinity
                         : kind == 2 ? -infinity
                                     : static_cast<double>(random() % 50) - 25;
    const std::size_t repeats = random() % 10 == 0 ? 1 + random() % 200 : 1;
    values.insert(values.end(), std::min(repeats, count - values.size()), value);
  }
  return values;
}

/// Never falls; with stretches where it stands still and jumps.
Values random_x(std::mt19937_64& random, std::size_t count) {
  Values x;
  double at = static_cast<double>(random() % 100) - 50;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t kind = random() % 20;
    at += kind < 4 ? 0 : kind == 4 ? static_cast<double>(random() % 300) : 0.25 * static_cast<double>(random() % 8);
    x.push_back(at);
  }
  return x;
}

Extremes brute_extremes(const Values& values, std::size_t first, std::size_t end) {
  Extremes e;
  for (std::size_t i = first; i < end; ++i) {
    if (!std::isfinite(values[i])) {
      if (e.infinite++ == 0)
        e.infinite_at = i;
      continue;
    }
    if (e.finite == 0 || values[i] < e.min) {
      e.min = values[i];
      e.min_at = i;
    }
    if (e.finite == 0 || values[i] > e.max) {
      e.max = values[i];
      e.max_at = i;
    }
    e.sum += values[i];
    ++e.finite;
  }
  return e;
}

bool same(const Extremes& a, const Extremes& b) {
  return a.min == b.min && a.max == b.max && a.min_at == b.min_at && a.max_at == b.max_at && a.sum == b.sum &&
         a.finite == b.finite && a.infinite == b.infinite && a.infinite_at == b.infinite_at;
}

bool same(const Values& a, const Values& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](double left, double right) {
           return left == right || (std::isnan(left) && std::isnan(right));
         });
}

bool same(const Samples& a, const Samples& b) {
  return same(a.x, b.x) && same(a.y, b.y) && same(a.bad_x, b.bad_x) && same(a.bad_y, b.bad_y);
}

Samples sampled(const Values& x, const Values& y, double from, double to, int pixels, double scale = 1) {
  Samples samples;
  batchscope::series::sample(column_of(x), pyramid_of(y), from, to, pixels, scale, samples);
  return samples;
}

int pixel_of(double x, double from, double to, int pixels) {
  return to > from ? std::min(pixels - 1, static_cast<int>((x - from) / (to - from) * pixels)) : 0;
}

/// What of the values [first, end) of a pixel is drawn with it: whole buckets of 16, 256, ... values where there are
/// eight of them and more.
std::size_t end_of_pixel(std::size_t first, std::size_t end, bool last) {
  std::size_t width = 1;
  while (end - first >= 8 * 16 * width)
    width *= 16;
  return last ? end : end / width * width;
}

/// What sample() promises, in the plainest way.
Samples brute_sample(const Values& x, const Values& y, double from, double to, int pixels) {
  const auto all_end = x.begin() + static_cast<std::ptrdiff_t>(y.size());
  const auto first = static_cast<std::size_t>(std::lower_bound(x.begin(), all_end, from) - x.begin());
  const auto end = static_cast<std::size_t>(std::upper_bound(x.begin(), all_end, to) - x.begin());
  std::vector<std::size_t> picked;
  Samples result;
  if (first > 0 && from <= to)
    picked.push_back(first - 1);
  std::size_t drawn = first;
  for (std::size_t begin = first, next = first; begin < end; begin = next) {
    while (next < end && pixel_of(x[next], from, to, pixels) == pixel_of(x[begin], from, to, pixels))
      ++next;
    const std::size_t stop = end_of_pixel(begin, next, next == end);
    const Extremes e = brute_extremes(y, drawn, stop);
    if (e.infinite > 0) {
      result.bad_x.push_back(x[e.infinite_at]);
      result.bad_y.push_back(y[e.infinite_at]);
    }
    for (std::size_t i = drawn; i < stop; ++i)
      if (stop - drawn <= 4 || i == drawn || i == stop - 1 || (e.finite > 0 && (i == e.min_at || i == e.max_at)) ||
          (e.infinite > 0 && i == e.infinite_at))
        picked.push_back(i);
    drawn = stop;
  }
  if (end < y.size())
    picked.push_back(end);
  for (const std::size_t i : picked) {
    result.x.push_back(x[i]);
    result.y.push_back(std::isfinite(y[i]) ? y[i] : no_number);
  }
  return result;
}

} // namespace

class TestPyramid : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void a_column_keeps_every_value();
  void extremes_are_exact_for_every_range();
  void extremes_are_exact_in_a_long_series();
  void a_sum_stays_true_beside_constant_stretches();
  void samples_are_what_brute_force_finds();
  void every_pixel_shows_its_smallest_and_greatest();
  void no_spike_is_ever_lost();
  void samples_do_not_depend_on_earlier_ones();
  void few_points_are_all_there();
  void neighbours_run_to_the_border();
  void lines_break_at_values_that_are_not_finite();
  void one_bad_value_a_pixel_is_given();
  void ranges_without_a_sense_give_nothing();
  void an_index_is_found_by_x();
};

void TestPyramid::a_column_keeps_every_value() {
  std::mt19937_64 random(seed);
  Values values;
  Column<double> column;
  while (values.size() < 60'000) {
    // Stretches of one value, across the borders of blocks; -0 and NaN count as values like any other.
    const double choices[] = {0.0, -0.0, no_number, infinity, static_cast<double>(random() % 3), 1e300};
    const double value = choices[random() % 6];
    for (std::size_t i = 0, repeats = 1 + random() % 5000; i < repeats; ++i) {
      values.push_back(value);
      column.append(value);
      if (const double back = column.back(); std::memcmp(&back, &value, sizeof value) != 0)
        QFAIL(qPrintable(QStringLiteral("value %1").arg(values.size())));
    }
  }
  QCOMPARE(column.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (const double value = column[i]; std::memcmp(&value, &values[i], sizeof value) != 0)
      QFAIL(qPrintable(QStringLiteral("value %1").arg(i)));
  QVERIFY(Column<double>().empty());
}

void TestPyramid::extremes_are_exact_for_every_range() {
  std::mt19937_64 random(seed);
  for (const std::size_t count : {1, 15, 16, 17, 255, 256, 257, 300}) {
    const Values values = random_values(random, count);
    const Pyramid pyramid = pyramid_of(values);
    QCOMPARE(pyramid.size(), count);
    QVERIFY(same(Values{pyramid.back()}, Values{values.back()}));
    for (std::size_t first = 0; first <= count; ++first)
      for (std::size_t end = first; end <= count; ++end)
        QVERIFY2(same(pyramid.extremes(first, end), brute_extremes(values, first, end)),
                 qPrintable(QStringLiteral("[%1, %2) of %3").arg(first).arg(end).arg(count)));
  }
}

void TestPyramid::extremes_are_exact_in_a_long_series() {
  std::mt19937_64 random(seed);
  const std::size_t count = 70'000 + random() % 5000; // more than 16^4, and no multiple of anything
  const Values values = random_values(random, count);
  const Pyramid pyramid = pyramid_of(values);
  QVERIFY(same(pyramid.extremes(0, count), brute_extremes(values, 0, count)));
  for (int number = 0; number < 500; ++number) {
    const std::size_t first = random() % count;
    const std::size_t end = first + random() % (count - first + 1);
    QVERIFY2(same(pyramid.extremes(first, end), brute_extremes(values, first, end)),
             qPrintable(QStringLiteral("[%1, %2) of seed %3").arg(first).arg(end).arg(seed)));
  }
}

void TestPyramid::a_sum_stays_true_beside_constant_stretches() {
  Pyramid pyramid;
  for (int i = 0; i < 100'000; ++i)
    pyramid.append(i < 50'000 ? 0.5 : i == 77'777 ? no_number : 2);
  const Extremes e = pyramid.extremes(10'000, 90'000);
  QCOMPARE(e.sum, 40'000 * 0.5 + 39'999 * 2.0);
  QCOMPARE(e.min_at, std::size_t{10'000});
  QCOMPARE(e.max_at, std::size_t{50'000});
  QCOMPARE(e.infinite, std::size_t{1});
  QCOMPARE(e.infinite_at, std::size_t{77'777});
}

void TestPyramid::samples_are_what_brute_force_finds() {
  std::mt19937_64 random(seed);
  for (int number = 0; number < 2000; ++number) {
    const std::size_t count = 1 + random() % (number % 100 == 0 ? 20'000 : 1500);
    const Values y = random_values(random, count);
    const Values x = random_x(random, count + random() % 3); // x may be ahead of y
    const double reach = x.back() - x.front() + 20;
    double from = x.front() - 10 + reach * static_cast<double>(random() % 1000) / 1000;
    double to = x.front() - 10 + reach * static_cast<double>(random() % 1000) / 1000;
    if (random() % 4 == 0)
      from = x[random() % count]; // exactly at a point
    if (random() % 4 == 0)
      to = x[random() % count];
    if (from > to)
      std::swap(from, to);
    const int pixels = 1 + static_cast<int>(random() % 300);
    QVERIFY2(same(sampled(x, y, from, to, pixels), brute_sample(x, y, from, to, pixels)),
             qPrintable(QStringLiteral("case %1 of seed %2").arg(number).arg(seed)));
  }
}

void TestPyramid::every_pixel_shows_its_smallest_and_greatest() {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise;
  constexpr std::size_t count = 200'000;
  Values x, y;
  for (std::size_t i = 0; i < count; ++i) {
    x.push_back(static_cast<double>(i + 1));
    y.push_back(noise(random));
  }
  const double from = 12'345.5, to = 187'654.5;
  for (const int pixels : {100, 640, 1500}) { // 1753, 274 and 117 values a pixel: the last are cut exactly
    const Samples samples = sampled(x, y, from, to, pixels);
    QVERIFY(std::is_sorted(samples.x.begin(), samples.x.end()));
    QCOMPARE(samples.x.front(), 12'345.0);
    QCOMPARE(samples.x.back(), 187'655.0);
    QVERIFY(samples.x.size() <= 4 * static_cast<std::size_t>(pixels) + 2);
    // An eighth of a pixel at most counts for the next one: the inner seven eighths are drawn within the pixel and
    // that.
    Values low(static_cast<std::size_t>(pixels), infinity), high(low.size(), -infinity);
    Values drawn_low = low, drawn_high = high;
    const auto place = [&](double at) { return (at - from) / (to - from) * pixels; };
    for (std::size_t i = 0; i < count; ++i) {
      const double within = place(x[i]) - std::floor(place(x[i]));
      if (x[i] < from || x[i] > to || (within >= 0.875 && pixels != 1500))
        continue;
      const auto pixel = static_cast<std::size_t>(place(x[i]));
      low[pixel] = std::min(low[pixel], y[i]);
      high[pixel] = std::max(high[pixel], y[i]);
    }
    for (std::size_t i = 1; i + 1 < samples.x.size(); ++i) {
      QCOMPARE(samples.y[i], y[static_cast<std::size_t>(samples.x[i]) - 1]); // a point of the series, nothing made up
      const auto pixel = static_cast<std::size_t>(place(samples.x[i]));
      drawn_low[pixel] = std::min(drawn_low[pixel], samples.y[i]);
      drawn_high[pixel] = std::max(drawn_high[pixel], samples.y[i]);
    }
    if (pixels == 1500) {
      QCOMPARE(drawn_low, low);
      QCOMPARE(drawn_high, high);
      continue;
    }
    for (std::size_t pixel = 0; pixel < low.size(); ++pixel) {
      // What is drawn of a pixel's values may lie just before its border, in the last eighth of the one before.
      const double lowest = std::min(drawn_low[pixel], drawn_low[pixel > 0 ? pixel - 1 : 0]);
      const double highest = std::max(drawn_high[pixel], drawn_high[pixel > 0 ? pixel - 1 : 0]);
      QVERIFY2(lowest <= low[pixel] && highest >= high[pixel], std::to_string(pixel).c_str());
    }
  }
}

void TestPyramid::no_spike_is_ever_lost() {
  constexpr std::size_t count = 300'000;
  Column<double> x;
  for (std::size_t i = 0; i < count; ++i)
    x.append(static_cast<double>(i));
  std::mt19937_64 random(seed);
  for (int number = 0; number < 20; ++number) {
    const std::size_t spike = random() % count;
    Pyramid y;
    for (std::size_t i = 0; i < count; ++i)
      y.append(i == spike ? -5 : 1);
    for (const int pixels : {1, 7, 333, 1200}) {
      Samples samples;
      batchscope::series::sample(x, y, 0, static_cast<double>(count), pixels, 10, samples);
      const auto found = std::find(samples.y.begin(), samples.y.end(), -50.0); // `scale` is 10
      QVERIFY(found != samples.y.end());
      QCOMPARE(samples.x[static_cast<std::size_t>(found - samples.y.begin())], static_cast<double>(spike));
    }
  }
}

void TestPyramid::samples_do_not_depend_on_earlier_ones() {
  std::mt19937_64 random(seed);
  const Values y = random_values(random, 20'000);
  const Values x = random_x(random, y.size());
  Column<double> growing_x;
  Pyramid growing_y;
  Samples samples;
  for (std::size_t i = 0; i < y.size(); ++i) {
    growing_x.append(x[i]);
    growing_y.append(y[i]);
    if (random() % 100 == 0)
      batchscope::series::sample(growing_x, growing_y, x.front(), x[i], 50, 1, samples);
  }
  batchscope::series::sample(growing_x, growing_y, x.front(), x.back(), 500, 1, samples);
  QVERIFY(same(samples, sampled(x, y, x.front(), x.back(), 500)));
}

void TestPyramid::few_points_are_all_there() {
  const Samples samples = sampled({1, 2, 2, 2, 3, 9}, {5, 4, 6, 4, 7, 8}, 0, 10, 10);
  QCOMPARE(samples.x, (Values{1, 2, 2, 2, 3, 9}));
  QCOMPARE(samples.y, (Values{5, 4, 6, 4, 7, 8}));
  QVERIFY(samples.bad_x.empty());
  // Five on one pixel: first, smallest, greatest, last, as they come.
  QCOMPARE(sampled({1, 2, 3, 4, 5}, {3, 9, 3, 1, 3}, 0, 10, 1).y, (Values{3, 9, 1, 3}));
  QCOMPARE(sampled({1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}, 0, 10, 1).y, (Values{1, 5}));
}

void TestPyramid::neighbours_run_to_the_border() {
  const Values x = {1, 2, 5, 6, 6, 9}, y = {10, 20, 50, 60, 61, 90};
  QCOMPARE(sampled(x, y, 4, 6, 100).x, (Values{2, 5, 6, 6, 9}));
  QCOMPARE(sampled(x, y, 3, 4, 100).x, (Values{2, 5})); // a line through a range without a point
  QCOMPARE(sampled(x, y, 5, 5, 100).x, (Values{2, 5, 6}));
  QCOMPARE(sampled(x, y, 20, 30, 100).x, Values{9});
  QCOMPARE(sampled(x, y, -2, 0, 100).x, Values{1});
  // What x is ahead of y does not exist yet.
  QCOMPARE(sampled(x, {10, 20}, 0, 100, 100).x, (Values{1, 2}));
}

void TestPyramid::lines_break_at_values_that_are_not_finite() {
  const Samples raw = sampled({1, 2, 3, 4}, {1, no_number, infinity, 4}, 0, 5, 100);
  QVERIFY(same(raw.y, {1, no_number, no_number, 4}));
  QCOMPARE(raw.bad_x, (Values{2, 3}));
  QVERIFY(same(raw.bad_y, {no_number, infinity}));
  // Crowded: inside of a pixel, at its end, and nothing but bad values.
  QVERIFY(same(sampled({1, 2, 3, 4, 5, 6}, {1, 0, no_number, 9, 2, 3}, 0, 10, 1).y, {1, 0, no_number, 9, 3}));
  QVERIFY(same(sampled({1, 2, 3, 4, 5, 6}, {1, 0, 3, 9, 2, -infinity}, 0, 10, 1).y, {1, 0, 9, no_number}));
  const Samples bad =
      sampled({1, 2, 3, 4, 5, 6}, {-infinity, no_number, no_number, no_number, no_number, no_number}, 0, 10, 1);
  QVERIFY(same(bad.y, {no_number, no_number}));
  QVERIFY(same(bad.bad_y, {-infinity}));
  // A product too great for a number breaks the line as well, but the series has no bad value.
  const Samples scaled = sampled({1, 2}, {1e300, 1}, 0, 10, 100, 1e10);
  QVERIFY(same(scaled.y, {no_number, 1e10}));
  QVERIFY(scaled.bad_x.empty());
}

void TestPyramid::one_bad_value_a_pixel_is_given() {
  const Samples samples = sampled({0.1, 0.2, 0.3, 1.5, 2.5}, {no_number, infinity, 1, -infinity, 2}, 0, 3, 3);
  QCOMPARE(samples.bad_x, (Values{0.1, 1.5}));
  QVERIFY(same(samples.bad_y, {no_number, -infinity}));
  // A neighbour that lies outside is none of the range.
  QVERIFY(sampled({1, 2, 3}, {no_number, 2, no_number}, 1.5, 2.5, 10).bad_x.empty());
}

void TestPyramid::ranges_without_a_sense_give_nothing() {
  const Values x = {1, 2, 3}, y = {1, 2, 3};
  const std::pair<double, double> ranges[] = {{3, 1}, {no_number, 2}, {1, no_number}, {-infinity, 2}, {1, infinity}};
  for (const auto& [from, to] : ranges)
    QVERIFY(sampled(x, y, from, to, 10).x.empty());
  QVERIFY(sampled(x, y, 1, 3, 0).x.empty());
  QVERIFY(sampled({}, {}, 1, 3, 10).x.empty());
  // What was in the samples before is gone.
  Samples samples{{1}, {1}, {1}, {1}};
  batchscope::series::sample(column_of(x), pyramid_of(y), 3, 1, 10, 1, samples);
  QVERIFY(same(samples, Samples{}));
}

void TestPyramid::an_index_is_found_by_x() {
  std::mt19937_64 random(seed);
  QCOMPARE(index_at(Column<double>(), 1), std::size_t{SIZE_MAX});
  for (int number = 0; number < 200; ++number) {
    const Values x = random_x(random, 1 + random() % 5000);
    const Column<double> column = column_of(x);
    for (int i = 0; i < 20; ++i) {
      const double value = x[random() % x.size()] + static_cast<double>(random() % 3) - 1;
      const auto above = std::upper_bound(x.begin(), x.end(), value);
      QCOMPARE(index_at(column, value), static_cast<std::size_t>(above - x.begin()) - 1);
    }
    QCOMPARE(index_at(column, x.front() - 1), std::size_t{SIZE_MAX});
    QCOMPARE(index_at(column, infinity), x.size() - 1);
  }
}

BATCHSCOPE_TEST(TestPyramid)
#include "tst_pyramid.moc"
