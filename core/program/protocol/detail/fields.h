#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/telemetry/trace.h"

namespace batchscope::program {

/// The fields of a message. A field that is missing or null has no value; one of another type throws Error (input)
/// naming it and what is accepted.
class Fields {
public:
  /// `json`: an object that lives longer.
  explicit Fields(const Json& json) : json_(json) {}

  std::string text(const char* name) const; ///< empty for none
  bool truth(const char* name) const;       ///< false for none
  /// Throws for none, too.
  std::int64_t integer(const char* name, std::int64_t least) const;
  std::optional<std::int64_t> optional_integer(const char* name, std::int64_t least) const;
  /// A number, or one of the strings for NaN and infinities.
  std::optional<double> optional_number(const char* name) const;
  std::vector<std::pair<std::string, double>> numbers(const char* name) const; ///< of an object; empty for none
  const Json* object(const char* name) const;                                  ///< null for none, as array()
  const Json* array(const char* name) const;

private:
  const Json* find(const char* name) const;

  const Json& json_;
};

/// The value of an element of the field `name`; throws Error (input) for anything but an integer of at least `least`.
std::int64_t integer_in(const Json& value, const char* name, std::int64_t least);

/// The allocations of a `trace`, replayed for its peak. Throws Error (input), also for frees of blocks that are not
/// allocated.
telemetry::Trace trace_from(const Fields& fields);

} // namespace batchscope::program
