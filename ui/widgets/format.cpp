#include "ui/widgets/format.h"

#include <array>
#include <cmath>

#include <QCoreApplication>
#include <QLocale>

namespace batchscope::ui {

namespace {

const QString nothing = QStringLiteral("–");

/// The user's locale; English for the C locale, which has no thousands separators.
QLocale reader() {
  const QLocale locale;
  return locale.language() == QLocale::C ? QLocale(QLocale::English, QLocale::UnitedStates) : locale;
}

/// NaN and infinities as text; nothing for other numbers.
QString unusual(double value) {
  if (std::isnan(value))
    return QStringLiteral("NaN");
  if (std::isinf(value))
    return value > 0 ? QStringLiteral("∞") : QStringLiteral("-∞");
  return {};
}

} // namespace

QString format_count(std::int64_t count) {
  return reader().toString(static_cast<qlonglong>(count));
}

QString format_bytes(double bytes) {
  constexpr std::array<const char*, 5> units{"B", "kB", "MB", "GB", "TB"};
  if (!std::isfinite(bytes))
    return nothing;
  std::size_t unit = 0;
  // 999.95 would be printed as 1,000.0 of the smaller unit.
  for (; unit + 1 < units.size() && std::abs(bytes) >= (unit == 0 ? 1000 : 999.95); ++unit)
    bytes /= 1000;
  return QStringLiteral("%1 %2").arg(reader().toString(bytes, 'f', unit == 0 ? 0 : 1), QLatin1String(units[unit]));
}

QString format_megabytes(double bytes) {
  const double value = bytes / 1e6;
  return std::isfinite(value) ? reader().toString(value, 'f', value > 0 && value < 0.95 ? 2 : 1) : nothing;
}

QString format_clock(double seconds) {
  constexpr double longest = 1e9; // thirty years: longer durations count as unknown
  if (!(seconds >= 0 && seconds < longest))
    return nothing;
  const auto whole = static_cast<qlonglong>(seconds);
  const QLatin1Char zero('0');
  const auto two = [zero](qlonglong number) { return QStringLiteral("%1").arg(number, 2, 10, zero); };
  if (whole < 3600)
    return QStringLiteral("%1:%2").arg(whole / 60).arg(two(whole % 60));
  return QStringLiteral("%1:%2:%3").arg(reader().toString(whole / 3600), two(whole / 60 % 60), two(whole % 60));
}

QString format_duration(double seconds) {
  constexpr double long_enough = 19.95;
  constexpr double second = 0.9995; // shorter ones in milliseconds
  constexpr double ten = 0.00995;   // milliseconds; shorter ones with two digits
  if (!(seconds >= 0 && seconds < long_enough))
    return format_clock(std::round(seconds));
  return seconds < second
             ? QCoreApplication::translate("batchscope::ui::Format", "%1 ms")
                   .arg(reader().toString(seconds * 1e3, seconds < ten ? 'g' : 'f', seconds < ten ? 2 : 0))
             : QCoreApplication::translate("batchscope::ui::Format", "%1 s").arg(reader().toString(seconds, 'f', 1));
}

QString format_number(double value, int digits) {
  if (QString text = unusual(value); !text.isEmpty())
    return text;
  const QLocale locale = reader();
  const double size = std::abs(value);
  // Large numbers are written in full, which is easier to read than an exponent.
  if (size >= std::pow(10, digits) - 0.5 && size < 1e12)
    return locale.toString(value, 'f', 0);
  if (size != 0 && (size < 1e-3 || size >= 1e12)) {
    QString text = QString::number(value, 'e', digits - 1);
    const qsizetype mark = text.indexOf(QLatin1Char('e'));
    const double mantissa = text.left(mark).toDouble();
    return QStringLiteral("%1e%2").arg(locale.toString(mantissa, 'g', digits)).arg(text.mid(mark + 1).toInt());
  }
  return locale.toString(value, 'g', digits);
}

QString format_percent(double fraction, int decimals) {
  if (QString text = unusual(fraction); !text.isEmpty())
    return text;
  return QCoreApplication::translate("batchscope::ui::Format", "%1 %")
      .arg(reader().toString(fraction * 100, 'f', decimals));
}

QString format_parts(std::int64_t parts, std::int64_t size) {
  return parts == 1 ? format_count(size) : QStringLiteral("%1 × %2").arg(format_count(parts), format_count(size));
}

} // namespace batchscope::ui
