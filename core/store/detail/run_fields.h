#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/store/run_store.h"

namespace batchscope::store::detail {

/// Type of a field's values, which decides what they may be compared with.
enum class FieldKind {
  text,
  number,  ///< any
  count,   ///< whole, 0 or more
  amount,  ///< 0 or more
  share,   ///< from 0 to 1
  bytes,   ///< whole, 0 or more
  seconds, ///< 0 or more
};

/// A field of a run by its name in lists and files; its value is either a number or a text.
struct RunField {
  const char* name;
  FieldKind kind;
  std::optional<double> (*number)(const RunRow&); ///< null for a text
  std::string (*text)(const RunRow&);             ///< null for a number
  const char* short_name = nullptr;               ///< title in the run table; null: none
};

const std::vector<RunField>& run_fields();

} // namespace batchscope::store::detail
