#pragma once

#include "core/run/job_control.h"
#include "core/run/run_control.h"
#include "core/store/run_store.h"

namespace batchscope::job {

/// Does what another process asks of a run, and of the job that it is part of; what is no command is passed over, and
/// so is what comes too late for the run. Any thread, returns at once. An edit that cannot be read is left to the
/// training loop to refuse, so that whoever sent it sees why.
void apply_command(run::RunControl& run, run::JobControl& job, const store::Command& command);

} // namespace batchscope::job
