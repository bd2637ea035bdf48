#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/search/finder.h"

namespace batchscope::search {

/// A search strategy. A new one is a file that defines a Strategy and a line in strategies.def. A start above max_batch
/// is lowered to it; if the next size would be above max_batch, max_batch is tried instead. A probe with
/// Outcome::error ends every search.
struct Strategy {
  const char* name; ///< value of --strategy
  const char*
      help; ///< how it searches, one line, English: "double until out of memory, then bisect: exact, several errors"
  std::unique_ptr<Finder> (*make)(const FinderOptions& options); ///< the options are valid
  bool uses_factor = false;                                      ///< FinderOptions::factor
};

const std::vector<const Strategy*>& strategies();
/// Null if there is none of this name.
const Strategy* find_strategy(const std::string& name);
/// Throws Error (input) listing the strategies.
const Strategy& strategy(const std::string& name);

} // namespace batchscope::search
