#pragma once

#include "core/base/json.h"
#include "core/telemetry/message.h"

namespace batchscope::telemetry {

/// The arguments of messages by name, as numbers and texts in their units (bytes, seconds, shares from 0 to 1). A
/// message among them is {"id", "arguments"}, several are a list.
Json arguments_json(const std::vector<Message>& messages);

} // namespace batchscope::telemetry
