#pragma once

#include <cstdint>
#include <string>

namespace batchscope::store::detail {

/// What tells one process from every other, on this machine and others, before and after a reboot.
struct ProcessIdentity {
  std::string host;
  std::string boot;
  std::int64_t pid = 0;
  std::int64_t started = 0; ///< clock ticks after the boot

  bool operator==(const ProcessIdentity&) const = default;
};

ProcessIdentity this_process();

/// True when the process has surely ended. Of a process on another machine nothing is known: false.
bool is_gone(const ProcessIdentity& process);

} // namespace batchscope::store::detail
