#pragma once

#include "core/store/run_store.h"
#include "core/train/job_control.h"
#include "core/train/run_control.h"

namespace batchscope::sweep {

/// Does what another process asks of a run, and of the job that it is part of; what is no command is passed over, and
/// so is what comes too late for the run. Any thread, returns at once. An edit that cannot be read is left to the
/// training loop to refuse, so that whoever sent it sees why.
void obey(train::RunControl& run, train::JobControl& job, const store::Command& command);

} // namespace batchscope::sweep
