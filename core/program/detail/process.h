#pragma once

#include <memory>
#include <optional>

#include "core/program/child.h"
#include "core/program/detail/descriptor.h"
#include "core/program/process_group.h"

namespace batchscope::program {

/// A program that runs: one that this process has started, or one that a BatchScope which was killed has left. One
/// thread.
class Process {
public:
  static Process started(std::shared_ptr<Child> child);
  /// Nothing if it has ended. How it ends is not told to anybody but its parent: its Exit is empty.
  static std::optional<Process> left(pid_t pid);
  /// One that has ended while nobody watched it.
  static Process gone() { return {}; }

  std::optional<Exit> poll(); ///< set once it has ended
  int ended_fd() const;       ///< readable once it has ended; -1 for one that is gone
  void signal(int number);    ///< to all of its processes
  std::optional<ProcessGroup> group() const;

private:
  Process() = default;

  std::shared_ptr<Child> child_;
  std::optional<ProcessGroup> group_; ///< of one that was left
  Descriptor ended_;                  ///< likewise: a pidfd
  bool killed_ = false;
};

} // namespace batchscope::program
