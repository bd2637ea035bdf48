#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "core/run/run_spec.h"

namespace batchscope::run {

/// Upper bound of an integer that has no limit of its own.
inline constexpr std::int64_t unbounded = std::numeric_limits<std::int64_t>::max();

/// A check of one field, on its own and against the other fields.
struct RunCheck {
  const char* key;               ///< of the field, as in JSON
  void (*check)(const RunSpec&); ///< throws Error (input) naming the field's option
};

/// One per field that can be invalid, in the order in which check() runs them.
std::span<const RunCheck> run_checks();

} // namespace batchscope::run
