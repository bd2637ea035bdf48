#include "core/sweep/variation.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/run/spec_fields.h"

namespace batchscope::sweep {

namespace {

using run::SpecField;

constexpr std::size_t max_values = 10'000;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  while (true) {
    const std::size_t end = text.find(separator, from);
    parts.emplace_back(trimmed(std::string_view(text).substr(from, end == std::string::npos ? end : end - from)));
    if (end == std::string::npos)
      return parts;
    from = end + 1;
  }
}

bool is_whole(const SpecField& field) {
  return field.kind == SpecField::Kind::integer || field.key == "batch";
}

/// The value as run::field_text() gives it, which makes equal values equal texts.
std::string normalized(const SpecField& field, const std::string& text) {
  if (!field.member) // a placeholder of a program, which takes any text
    return text;
  if (text.empty())
    throw input_error(fmt::format("{}: an empty value is not accepted; accepted: values separated by {}", field.option,
                                  has_commas(field) ? "semicolons" : "commas"));
  run::RunSpec spec;
  run::set_field(spec, field.key, text);
  return run::field_text(spec, field.key);
}

std::string number_text(const SpecField& field, double value) {
  return is_whole(field) ? fmt::format("{:.0f}", value) : fmt::format("{:.10g}", value);
}

/// `FROM..TO REST`, in parts.
struct RangeText {
  std::string from, to, rest;
};

std::optional<RangeText> range_in(const std::string& text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos)
    return std::nullopt;
  const std::string_view after = trimmed(std::string_view(text).substr(dots + 2));
  const std::size_t end = std::min(after.find_first_of(" xlu+"), after.size());
  return RangeText{std::string(trimmed(std::string_view(text).substr(0, dots))), std::string(after.substr(0, end)),
                   std::string(trimmed(after.substr(end)))};
}

[[noreturn]] void refuse_range(const SpecField& field, const std::string& text) {
  throw input_error(fmt::format("{}: {} is not accepted; accepted: ranges such as 16..1024 x2 or 16..64 +16, from the "
                                "smaller number to the larger one; in random sweeps 0.0001..0.1 log or 0..0.5 uniform",
                                field.option, in_quotes(text)));
}

Interval ends_of(const SpecField& field, const RangeText& range, const std::string& text) {
  const Interval ends{parse_number(range.from, field.option), parse_number(range.to, field.option),
                      range.rest == "log"};
  if (ends.from >= ends.to || (ends.log && ends.from <= 0))
    refuse_range(field, text);
  return ends;
}

void add_range(std::vector<std::string>& values, const SpecField& field, const RangeText& range,
               const std::string& text) {
  const Interval ends = ends_of(field, range, text);
  const bool times = range.rest.starts_with('x');
  if (!times && !range.rest.starts_with('+'))
    refuse_range(field, text);
  const double step = parse_number(trimmed(std::string_view(range.rest).substr(1)), field.option);
  if (times ? step <= 1 || ends.from <= 0 : step <= 0)
    refuse_range(field, text);
  // So that rounding does not lose the last one: 0.1 + 0.1 + 0.1 > 0.3.
  const double last = ends.to + 1e-9 * std::abs(ends.to);
  for (std::size_t i = 0; i <= max_values; ++i) {
    const double n = static_cast<double>(i);
    const double value = times ? ends.from * std::pow(step, n) : ends.from + step * n;
    if (value > last)
      return;
    std::string made = normalized(field, number_text(field, value));
    // Small whole numbers times 1.5 may round to the same one.
    if (values.empty() || values.back() != made)
      values.push_back(std::move(made));
  }
  throw input_error(fmt::format("{}: {} has more than {} values; accepted: a larger step", field.option,
                                in_quotes(text), max_values));
}

} // namespace

bool has_commas(const SpecField& field) {
  const auto& key = field.key;
  return key == "model" || key == "data" || key == "augment" || key == "schedule" || key == "shares";
}

bool is_numeric(const SpecField& field) {
  return field.kind == SpecField::Kind::real || is_whole(field);
}

Variation parse_values(const std::string& key, const std::string& text) {
  const SpecField& field = run::spec_field(key);
  if (key == "name")
    throw input_error("a sweep names its runs itself; accepted: --name for the sweep, and another field to vary");
  Variation variation{.field = key};
  const auto parts = split(text, has_commas(field) || text.find(';') != std::string::npos ? ';' : ',');
  for (const std::string& part : parts) {
    const auto range = is_numeric(field) ? range_in(part) : std::nullopt;
    if (!range) {
      variation.values.push_back(normalized(field, part));
    } else if (range->rest == "log" || range->rest == "uniform") {
      if (parts.size() > 1)
        refuse_range(field, text);
      variation.interval = ends_of(field, *range, part);
      normalized(field, number_text(field, variation.interval->from)); // both are values of the field
      normalized(field, number_text(field, variation.interval->to));
    } else {
      add_range(variation.values, field, *range, part);
    }
  }
  return variation;
}

Variation parse_variation(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw input_error(fmt::format("--vary: {} is not accepted; accepted: FIELD=VALUE,VALUE,... such as "
                                  "dropout=0,0.1,0.2 or \"batch=16..256 x2\"",
                                  in_quotes(text)));
  std::string key(trimmed(std::string_view(text).substr(0, equals)));
  if (run::placeholder_in(key))
    return parse_values(key, text.substr(equals + 1));
  std::replace(key.begin(), key.end(), '-', '_');
  const auto& fields = run::spec_fields();
  if (std::none_of(fields.begin(), fields.end(), [&](const SpecField& field) { return field.key == key; })) {
    std::string known;
    for (const SpecField& field : fields)
      if (field.key != "name")
        known += (known.empty() ? "" : ", ") + field.key;
    throw input_error(fmt::format("--vary: unknown field {}; fields are {}", in_quotes(key), known));
  }
  return parse_values(key, text.substr(equals + 1));
}

std::string draw(const Variation& variation, std::mt19937_64& random) {
  const SpecField& field = run::spec_field(variation.field);
  const Interval& interval = *variation.interval;
  // Not a distribution of the standard library: those differ between its implementations.
  const double place = static_cast<double>(random() >> 11) / static_cast<double>(1ULL << 53);
  const double value = interval.log ? interval.from * std::pow(interval.to / interval.from, place)
                                    : interval.from + (interval.to - interval.from) * place;
  if (is_whole(field))
    return number_text(field, std::round(value));
  return fmt::format("{:.4g}", value);
}

} // namespace batchscope::sweep
