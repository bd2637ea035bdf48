#pragma once

#include "core/run/job_control.h"
#include "core/run/run_control.h"
#include "core/store/run_store.h"

namespace batchscope::job {

/// Applies a command from another process to a run and its job. Ignores unknown commands and commands that arrive after
/// the run has ended. The training loop rejects an invalid edit, so that the sender sees the reason. Any thread;
/// returns at once.
void apply_command(run::RunControl& run, run::JobControl& job, const store::Command& command);

} // namespace batchscope::job
