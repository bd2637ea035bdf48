#pragma once

#include "core/store/run_store.h"
#include "core/train/run_control.h"

namespace batchscope::sweep {

/// Does what another process asks of a run; what is no command is passed over. Any thread, returns at once.
/// An edit that cannot be read is left to the training loop to refuse, so that whoever sent it sees why.
void obey(train::RunControl& control, const store::Command& command);

} // namespace batchscope::sweep
