#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/store/run_store.h"

namespace batchscope::store::detail {

/// A field of a run by its name in lists and files: either a number or a text.
struct RunField {
  const char* name;
  std::optional<double> (*number)(const RunRow&); ///< null for a text
  std::string (*text)(const RunRow&);             ///< null for a number
};

const std::vector<RunField>& run_fields();

} // namespace batchscope::store::detail
