#pragma once

#include <cstdint>
#include <string>

namespace batchscope::store::detail {

/// What tells one open store from every other: of this process and others, on this machine and others, before and after
/// a reboot.
struct ProcessIdentity {
  std::string host;
  std::string boot;
  std::string pids; ///< the kernel's name of the numbers' space that `pid` counts in; empty: not known
  std::int64_t pid = 0;
  std::int64_t started = 0; ///< clock ticks after the boot; 0: not known
  std::int64_t store = 0;   ///< number of the store in its process, from 1; 0: not known

  bool operator==(const ProcessIdentity&) const = default;
};

/// Without a store.
ProcessIdentity this_process();

/// Boot, number space and store as the one text that the database keeps, and the way back. A text of the boot alone, as
/// it was written first, leaves the other two unknown.
std::string boot_text(const ProcessIdentity& process);
void set_boot_text(ProcessIdentity& process, const std::string& text);

/// True when the process has surely ended, or has closed that store. Where nothing can be known it is false: of another
/// machine, of a container with numbers of its own, of a process that the system does not let us look at. Any thread.
bool is_gone(const ProcessIdentity& process);

/// A store of this process that is open, from construction to destruction. Any thread.
class OpenStore {
public:
  OpenStore();
  ~OpenStore();
  OpenStore(const OpenStore&) = delete;
  OpenStore& operator=(const OpenStore&) = delete;

  std::int64_t number() const { return number_; }

private:
  std::int64_t number_;
};

} // namespace batchscope::store::detail
