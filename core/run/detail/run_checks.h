#pragma once

#include <span>

#include "core/run/run_spec.h"

namespace batchscope::run {

/// What can be wrong with one field, on its own and beside the others.
struct RunCheck {
  const char* key;               ///< of the field, as in JSON
  void (*check)(const RunSpec&); ///< throws Error (input) naming the field's option
};

/// One for each field that can be wrong, in the order in which check() makes them.
std::span<const RunCheck> run_checks();

} // namespace batchscope::run
