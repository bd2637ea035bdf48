#pragma once

#include <functional>

#include "core/job/job.h"

namespace batchscope::job {

/// Calls `work`, which writes to the store, and retries while another program has the database locked or the disk is
/// full: the job's results are worth the wait. Tells `watch` when retrying starts and when it ends. Throws Error
/// (failed) when `control` requests a stop; other errors pass through.
void retry_transient(Watch& watch, const run::JobControl& control, const std::function<void()>& work);

} // namespace batchscope::job
