#include "core/compare/mean_text.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/base/text.h"

namespace batchscope::compare {

namespace {

using telemetry::ValueKind;

constexpr int most_digits = 5;

/// How numbers of a size are written.
struct Unit {
  double factor = 1;
  std::string suffix;
  int least_decimals = 0;
  bool of_both = false; ///< the suffix belongs to the interval, too
};

int exponent_of(double value) {
  return value == 0 ? 0 : static_cast<int>(std::floor(std::log10(std::abs(value))));
}

Unit unit_of_bytes(double mean) {
  constexpr std::array<const char*, 6> units{" B", " kB", " MB", " GB", " TB", " PB"};
  const int index = std::clamp(exponent_of(mean) / 3, 0, static_cast<int>(units.size()) - 1);
  return {std::pow(1000.0, -index), units[static_cast<std::size_t>(index)]};
}

Unit unit_of_number(double mean) {
  constexpr int least_plain = -4, most_plain = 6;
  const int exponent = exponent_of(mean);
  return exponent < least_plain || exponent >= most_plain
             ? Unit{std::pow(10.0, -exponent), fmt::format("e{}", exponent), 0, true}
             : Unit{};
}

Unit unit_of(ValueKind kind, double mean) {
  switch (kind) {
  case ValueKind::fraction:
    return {100, " %", 1};
  case ValueKind::bytes:
    return unit_of_bytes(mean);
  case ValueKind::seconds:
    return mean < 1 ? Unit{1000, " ms"} : Unit{1, " s"};
  case ValueKind::count:
    return {};
  default:
    return unit_of_number(mean);
  }
}

/// With commas between thousands.
std::string fixed(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  for (std::size_t at = std::min(text.find('.'), text.size()); at > first + 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

/// So many that the first digit of `half` is the last one written, or the second after a 1 or 2.
int decimals_for(double half) {
  const int exponent = exponent_of(half);
  const bool begins_low = half * std::pow(10.0, -exponent) < 2.95;
  return std::max(0, (begins_low ? 1 : 0) - exponent);
}

} // namespace

std::string MeanText::whole() const {
  return half.empty() ? mean : mean + " ± " + half;
}

std::string value_text(ValueKind kind, double value) {
  switch (kind) {
  case ValueKind::bytes:
    return format_bytes(static_cast<std::uint64_t>(std::max(value, 0.0)));
  case ValueKind::seconds:
    return format_duration(value);
  case ValueKind::fraction:
    return fmt::format("{:.2f} %", 100 * value);
  case ValueKind::count:
    return format_count(std::llround(value));
  default:
    return fmt::format("{:.4g}", value);
  }
}

MeanText mean_text(ValueKind kind, const Summary& summary) {
  constexpr double minutes = 100; // from here on, seconds
  const std::optional<double> half = half_interval(summary);
  if (kind == ValueKind::seconds && summary.mean >= minutes)
    return {value_text(kind, summary.mean), half && *half >= 0.5 ? format_duration(*half) : std::string()};
  const Unit unit = unit_of(kind, summary.mean);
  const double mean = summary.mean * unit.factor, of_mean = half.value_or(0) * unit.factor;
  const int most_decimals = std::max(0, most_digits - 1 - exponent_of(mean));
  const int decimals = std::max(std::min(decimals_for(of_mean), most_decimals), unit.least_decimals);
  const std::string half_text = fixed(of_mean, decimals);
  if (half_text.find_first_of("123456789") == std::string::npos)
    return {value_text(kind, summary.mean), {}};
  return {fixed(mean, decimals) + unit.suffix, unit.of_both ? half_text + unit.suffix : half_text};
}

} // namespace batchscope::compare
