#pragma once

#include <string>

#include "core/base/json.h"
#include "core/telemetry/events.h"

// Facts that earlier versions, and clients of training programs, stored in English sentences only. Nothing else reads
// meaning from words. Each function completes a body whose fields were read already; `detail` is an object.
namespace batchscope::telemetry {

void complete_earlier(const Json& detail, OutOfMemory& event);
void complete_earlier(const Json& detail, BudgetChange& event);
void complete_earlier(const Json& detail, Resumed& event);
void complete_earlier(const Json& detail, SecondProgram& event);
void complete_earlier(const Json& detail, LeftBehind& event);
void complete_earlier(const Json& detail, TimeOver& event);
void complete_earlier(const Json& detail, Retry& event);
void complete_earlier(const Json& detail, RateBySteps& event);

} // namespace batchscope::telemetry
