#pragma once

#include <functional>

#include "core/job/job.h"

namespace batchscope::job {

/// Calls `work`, which writes to the store, again and again while another program has the database locked or the disk
/// has no room: what a job has come to is worth more than the time that this takes. `watch` is told when it begins and
/// when it is over. Gives up when `control` says stop: throws Error (failed) then. Other errors pass through.
void retry_transient(Watch& watch, const run::JobControl& control, const std::function<void()>& work);

} // namespace batchscope::job
