#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/sweep/sweep_spec.h"

namespace batchscope::sweep {

/// Additions to a sweep.
struct Extension {
  std::vector<Variation> values;       ///< further values of fields; of one that does not vary yet, beside its own
  std::optional<std::int64_t> repeats; ///< of each combination, the old ones included
  std::optional<std::int64_t> random;  ///< combinations of a random sweep, the old ones included

  bool empty() const { return values.empty() && !repeats && !random; }
};

/// The sweep with what is added. All combinations of the old one are among its own, apart from their names. Throws
/// Error (input) naming the option if that is not possible, and as check() does.
SweepSpec extended(const SweepSpec& spec, const Extension& extension);

} // namespace batchscope::sweep
