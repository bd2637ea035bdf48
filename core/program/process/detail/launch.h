#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "core/program/process/child.h"

namespace batchscope::program::detail {

/// Starts the program and returns once it runs. Between fork and exec only async-signal-safe functions run, so this
/// process may have threads. Throws as Child's constructor does. Any thread.
pid_t launch(const ChildStart& start, const std::string& token);

/// How many processes the kernel has ended for want of memory so far, on this machine or in this process's control
/// group, as far as the system reports it. Any thread.
std::uint64_t kernel_oom_kills();

} // namespace batchscope::program::detail
