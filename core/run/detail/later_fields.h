#pragma once

#include <string>

#include "core/base/json.h"

// Fields of stored specs that only a later version knows.
namespace batchscope::run {

/// Adds them to the object to which they belong.
void add_later(const std::string& later_json, Json& object);
/// Throws Error (input) if there are any: a run is made with all of its settings, or not at all.
void refuse_later(const std::string& later_json);

} // namespace batchscope::run
