#pragma once

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/run/spec_fields.h"

namespace batchscope::sweep {

/// An interval from which a random sweep draws numbers.
struct Interval {
  double from = 0;
  double to = 0;
  bool log = false; ///< uniform in the logarithm of the number

  bool operator==(const Interval&) const = default;
};

/// A field of the runs of a sweep that differs between them. A plain value.
struct Variation {
  std::string field;                ///< key of a run::SpecField; not `name`
  std::vector<std::string> values;  ///< as run::field_text() gives them
  std::optional<Interval> interval; ///< instead of values; random sweeps only

  bool operator==(const Variation&) const = default;
};

/// Whether values of the field are numbers, so that ranges of it make sense.
bool is_numeric(const run::SpecField& field);
/// Whether values of the field have commas themselves, so that semicolons separate them.
bool has_commas(const run::SpecField& field);

/// Parses `FIELD=VALUES`. VALUES are separated by commas, or by semicolons, which fields with commas in their values
/// need. Of a number, a value may be a range: `16..1024 x2` (16, 32, ...), `0.1..0.5 +0.1`; for random sweeps
/// `0.0001..0.1 log` or `0..0.5 uniform` alone. Throws Error (input) naming the field, the value and what is accepted.
Variation parse_variation(const std::string& text);
/// The same for the values of one field; messages name the field's option.
Variation parse_values(const std::string& field, const std::string& values);

/// A value of the interval, as text for run::set_field(): rounded to 4 digits, or to a whole number for such a field.
std::string draw(const Variation& variation, std::mt19937_64& random);

} // namespace batchscope::sweep
