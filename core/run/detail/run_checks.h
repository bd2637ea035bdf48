#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "core/run/run_spec.h"

namespace batchscope::run {

/// The most that a whole number without a bound of its own may be.
inline constexpr std::int64_t unbounded = std::numeric_limits<std::int64_t>::max();

/// What can be wrong with one field, on its own and beside the others.
struct RunCheck {
  const char* key;               ///< of the field, as in JSON
  void (*check)(const RunSpec&); ///< throws Error (input) naming the field's option
};

/// One for each field that can be wrong, in the order in which check() makes them.
std::span<const RunCheck> run_checks();

} // namespace batchscope::run
