#pragma once

#include <cstdint>
#include <string>

namespace batchscope::store::detail {

/// Identifies an open store among all stores: in this and other processes, on this and other machines, before and after
/// a reboot.
struct ProcessIdentity {
  std::string host;
  std::string boot;
  std::string pids; ///< the kernel's name of the PID namespace of `pid`; empty: unknown
  std::int64_t pid = 0;
  std::int64_t started = 0; ///< clock ticks after the boot; 0: unknown
  std::int64_t store = 0;   ///< number of the store in its process, from 1; 0: unknown

  bool operator==(const ProcessIdentity&) const = default;
};

/// The identity of this process, without a store.
ProcessIdentity this_process();

/// Boot, PID namespace and store as the one text that the database keeps, and the inverse. A text with the boot alone,
/// the first format, leaves the other two unknown.
std::string boot_text(const ProcessIdentity& process);
void set_boot_text(ProcessIdentity& process, const std::string& text);

/// True if the process has certainly ended or has closed that store. False if that cannot be known: on another machine,
/// in a container with its own PID namespace, or for a process that we may not inspect. Any thread.
bool is_gone(const ProcessIdentity& process);

/// An open store of this process, from construction to destruction. Any thread.
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
