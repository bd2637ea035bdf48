#include "ui/plot/ticks.h"

#include <QDateTime>
#include <QLocale>

#include <algorithm>
#include <cmath>

namespace batchscope::ui {

namespace {

constexpr double plain_from = 1e-4; ///< smaller values are written as powers of ten
constexpr double plain_to = 1e10;   ///< and larger ones

QLocale locale() {
  QLocale locale;
  locale.setNumberOptions(locale.numberOptions() & ~QLocale::OmitGroupSeparator);
  return locale;
}

QString raised(int exponent) {
  static constexpr char16_t digits[] = u"⁰¹²³⁴⁵⁶⁷⁸⁹";
  QString text;
  for (const QChar digit : QString::number(std::abs(exponent)))
    text += QChar(digits[digit.digitValue()]);
  return (exponent < 0 ? QStringLiteral("⁻") : QString()) + text;
}

QString power_text(double mantissa, int exponent, int decimals) {
  const QString power = QStringLiteral("10") + raised(exponent);
  if (mantissa == 1)
    return power;
  return locale().toString(mantissa, 'f', decimals) + QStringLiteral("·") + power;
}

int exponent_of(double value) {
  return static_cast<int>(std::floor(std::log10(std::abs(value)) + 1e-9));
}

/// A tick's label, for ticks `step` apart.
QString tick_text(double value, double step, double greatest) {
  if (value == 0)
    return QStringLiteral("0");
  const int last = exponent_of(step); // the place of the last significant digit
  if (greatest < plain_from || greatest >= plain_to) {
    const int exponent = exponent_of(value);
    return power_text(value / std::pow(10, exponent), exponent, std::max(0, exponent - last));
  }
  constexpr double many = 1e7;
  if (greatest >= many && last >= 5)
    return locale().toString(value / 1e6, 'f', last >= 6 ? 0 : 1) + QStringLiteral("M");
  return locale().toString(value, 'f', std::max(0, -last));
}

} // namespace

Ticks linear_ticks(const Range& range, int most, bool integer) {
  Ticks ticks;
  const double width = range.second - range.first;
  if (!(width > 0) || !std::isfinite(width))
    return ticks;
  const double raw = width / std::max(1, most);
  const double power = std::pow(10, std::floor(std::log10(raw)));
  double step = 10 * power;
  for (const double factor : {5, 2, 1})
    if (factor * power >= raw * (1 - 1e-9))
      step = factor * power;
  if (integer)
    step = std::max(1.0, step);
  const double first = std::ceil(range.first / step - 1e-9);
  const double last = std::floor(range.second / step + 1e-9);
  const double greatest = std::max(std::abs(first), std::abs(last)) * step;
  for (double i = first; i <= last && ticks.places.size() < 1000; ++i) {
    const double value = i == 0 ? 0 : i * step;
    ticks.places.push_back(std::clamp(value, range.first, range.second));
    ticks.labels.push_back(tick_text(value, step, greatest));
  }
  return ticks;
}

Ticks log_ticks(const Range& range, int most) {
  Ticks ticks;
  if (!(range.first > 0) || !(range.second > range.first))
    return ticks;
  const double decades = std::log10(range.second / range.first);
  if (decades < 0.7)
    return linear_ticks(range, most, false);
  const int every = std::max(1, static_cast<int>(std::ceil(decades / std::max(1, most))));
  const bool between = decades * 3 <= most + 1;
  const int first = static_cast<int>(std::floor(std::log10(range.first)));
  const int last = static_cast<int>(std::ceil(std::log10(range.second)));
  for (int exponent = first; exponent <= last; ++exponent) {
    if (exponent % every != 0)
      continue;
    for (const double mantissa : {1.0, 2.0, 5.0}) {
      const double value = mantissa * std::pow(10, exponent);
      if ((mantissa > 1 && !between) || value < range.first * (1 - 1e-9) || value > range.second * (1 + 1e-9))
        continue;
      ticks.places.push_back(std::clamp(value, range.first, range.second));
      ticks.labels.push_back(value >= plain_from && value < 1e6 ? locale().toString(value, 'f', std::max(0, -exponent))
                                                                : power_text(mantissa, exponent, 0));
    }
  }
  return ticks;
}

Ticks clock_ticks(const Range& range, int most, const QTimeZone& zone) {
  constexpr qint64 minute = 60, hour = 60 * minute, day = 24 * hour;
  constexpr qint64 steps[] = {1,       2,          5,          10,          15,          30,
                              minute,  2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute,
                              hour,    2 * hour,   3 * hour,   6 * hour,    12 * hour,   day,
                              2 * day, 7 * day,    14 * day,   28 * day,    91 * day,    364 * day};
  Ticks ticks;
  const double width = range.second - range.first;
  if (!(width > 0) || !std::isfinite(width) || std::abs(range.first) > 1e11 || std::abs(range.second) > 1e11)
    return ticks;
  const double raw = width / std::max(1, most);
  const auto* found = std::find_if(std::begin(steps), std::end(steps) - 1, [&](qint64 step) { return step >= raw; });
  const qint64 step = *found;
  const auto ahead = [&zone](qint64 at) -> qint64 {
    return zone.offsetFromUtc(QDateTime::fromSecsSinceEpoch(at, Qt::UTC));
  };
  // In seconds of the zone, which jump when its clocks are changed.
  const double from = range.first + static_cast<double>(ahead(std::llround(range.first)));
  qint64 local = static_cast<qint64>(std::ceil(from / static_cast<double>(step))) * step;
  for (; ticks.places.size() < 1000; local += step) {
    const qint64 at = local - ahead(local - ahead(local));
    if (static_cast<double>(at) > range.second)
      break;
    if (static_cast<double>(at) < range.first)
      continue;
    const QDateTime time = QDateTime::fromSecsSinceEpoch(at, zone);
    const bool midnight = time.time() == QTime(0, 0);
    const char* format = step >= day || midnight ? "d MMM" : step < minute ? "HH:mm:ss" : "HH:mm";
    ticks.places.push_back(static_cast<double>(at));
    ticks.labels.push_back(locale().toString(time, QLatin1String(format)));
  }
  return ticks;
}

QString clock_text(double unix_seconds) {
  return locale().toString(QDateTime::fromSecsSinceEpoch(std::llround(unix_seconds)), QStringLiteral("d MMM HH:mm:ss"));
}

QString number_text(double value, int digits) {
  if (std::isnan(value))
    return QStringLiteral("NaN");
  if (std::isinf(value))
    return value > 0 ? QStringLiteral("∞") : QStringLiteral("-∞");
  if (value == 0)
    return QStringLiteral("0");
  const int exponent = exponent_of(value);
  if (std::abs(value) < plain_from || std::abs(value) >= plain_to)
    return locale().toString(value, 'e', std::max(0, digits - 1));
  if (value == std::floor(value))
    return locale().toString(value, 'f', 0);
  QString text = locale().toString(value, 'f', std::max(0, digits - 1 - exponent));
  const QString point = locale().decimalPoint();
  if (text.contains(point)) {
    while (text.endsWith(locale().zeroDigit()))
      text.chop(1);
    if (text.endsWith(point))
      text.chop(point.size());
  }
  return text;
}

QString x_text(double x, XValues values) {
  return values == XValues::clock ? clock_text(x) : number_text(x);
}

} // namespace batchscope::ui
