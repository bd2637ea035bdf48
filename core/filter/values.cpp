#include "core/filter/values.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace batchscope::filter {

namespace {

constexpr double min_bytes = 1e6; ///< smallest budget of a run: a smaller number is meant as MB

struct Domain {
  double lowest = -std::numeric_limits<double>::infinity();
  double highest = std::numeric_limits<double>::infinity();
  bool whole = false;
};

Domain domain_of(telemetry::ValueKind kind) {
  constexpr double unbounded = std::numeric_limits<double>::infinity();
  switch (kind) {
  case telemetry::ValueKind::count:
  case telemetry::ValueKind::bytes:
    return {0, unbounded, true};
  case telemetry::ValueKind::amount:
  case telemetry::ValueKind::seconds:
    return {0, unbounded, false};
  case telemetry::ValueKind::fraction:
    return {0, 1, false};
  case telemetry::ValueKind::text:
  case telemetry::ValueKind::number:
    break;
  }
  return {};
}

bool outside(const Domain& domain, const std::string& operation, double bound) {
  if (operation == "=")
    return bound < domain.lowest || bound > domain.highest || (domain.whole && bound != std::trunc(bound));
  if (operation == "<")
    return bound <= domain.lowest;
  if (operation == "<=")
    return bound < domain.lowest;
  if (operation == ">")
    return bound >= domain.highest && std::isfinite(domain.highest);
  return operation == ">=" && bound > domain.highest;
}

std::optional<double> in_bytes(double value, std::string_view unit) {
  try {
    return value * static_cast<double>(parse_size(fmt::format("1{}", unit), "unit"));
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<double> in_seconds(double value, std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, double>, 4> units{
      {{"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}}};
  for (const auto& [name, seconds] : units)
    if (unit == name)
      return value * seconds;
  return std::nullopt;
}

} // namespace

std::optional<double> value_of(telemetry::ValueKind kind, std::string_view text) {
  if (text.size() > 1 && text.front() == '+')
    text.remove_prefix(1);
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc())
    return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(stop - text.data()));
  if (unit.empty())
    return value;
  if (unit.front() == ' ')
    unit.remove_prefix(1);
  if (kind == telemetry::ValueKind::fraction && unit == "%")
    return value / 100;
  if (kind == telemetry::ValueKind::bytes && !unit.empty())
    return in_bytes(value, unit);
  return kind == telemetry::ValueKind::seconds ? in_seconds(value, unit) : std::nullopt;
}

std::string accepted_values(telemetry::ValueKind kind) {
  switch (kind) {
  case telemetry::ValueKind::fraction:
    return "is compared with a fraction or a percentage, such as 0.97 or 97%";
  case telemetry::ValueKind::bytes:
    return "is compared with bytes, such as 90000000, 90MB or 1.5GiB";
  case telemetry::ValueKind::seconds:
    return "is compared with a time, such as 90, 90s, 1.5min or 2h";
  default:
    return "is compared with a number";
  }
}

std::string never_holds(telemetry::ValueKind kind, const std::string& operation, double bound,
                        const std::string& text) {
  const Domain domain = domain_of(kind);
  const bool never = outside(domain, operation, bound);
  const bool bare = value_of(telemetry::ValueKind::number, text).has_value(); // without a unit
  if (kind == telemetry::ValueKind::fraction && (never || (bound > domain.highest && std::isfinite(bound)))) {
    const bool percentage = bare && bound >= domain.highest && bound <= 100;
    return "is a fraction from 0 to 1" + (percentage ? fmt::format("; did you mean {}%?", text) : std::string());
  }
  if (kind == telemetry::ValueKind::bytes && bare && bound > 0 && bound < min_bytes)
    return fmt::format("is in bytes; did you mean {}MB?", text);
  if (!never)
    return {};
  return domain.whole && bound != std::trunc(bound) ? "is a whole number" : "is never below 0";
}

} // namespace batchscope::filter
