#pragma once

#include "app/cli/context.h"
#include "app/cli/output.h"
#include "core/job/job.h"

namespace batchscope::cli {

/// Prints a run that has ended. `more`: further members of the JSON object.
void print_run(const job::JobResult& job, const Context& context, const Json& more = Json::object());

} // namespace batchscope::cli
