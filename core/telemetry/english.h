#pragma once

#include <string>

#include "core/telemetry/events.h"
#include "core/telemetry/message.h"

// Messages in English, for the terminal and for files: one line, numbers as core/base/text.h formats them.
namespace batchscope::telemetry {

std::string english(const Message& message);
std::string english(const Reason& reason);

/// An event without its step: `out of memory with a micro batch of 96: tried to allocate 20.1 MB; ...`.
std::string english(const Event& event);

} // namespace batchscope::telemetry
