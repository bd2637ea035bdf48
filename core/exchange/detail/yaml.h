#pragma once

#include <string_view>

#include "core/base/json.h"

namespace batchscope::exchange::detail {

/// Reads the YAML that programs write for themselves: mappings and lists in lines of their own, values plain, in quotes
/// or as `|` and `>` blocks, and lists in one line if they are JSON. There are no anchors, tags and documents; what it
/// cannot read becomes a text. null for an empty text. Never throws.
Json parse_yaml(std::string_view text);

} // namespace batchscope::exchange::detail
