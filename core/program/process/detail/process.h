#pragma once

#include <memory>
#include <optional>

#include "core/base/descriptor.h"
#include "core/program/process/child.h"
#include "core/program/process/process_group.h"

namespace batchscope::program {

/// A program that runs: one that this process has started, or one that a BatchScope which was killed has left. One
/// thread.
class Process {
public:
  static Process started(std::shared_ptr<Child> child);
  /// It may have ended since. How it ends is told to nobody but its parent: its Exit is empty.
  static Process left(ProcessGroup group);

  std::optional<Exit> poll();                ///< set once it has ended
  int ended_fd() const;                      ///< readable once it has ended; -1 for one that had ended already
  void signal(int number);                   ///< to all of its processes, also after its end
  std::optional<ProcessGroup> group() const; ///< nothing for a program that had ended already

private:
  Process() = default;

  std::shared_ptr<Child> child_;
  std::optional<ProcessGroup> group_; ///< of one that was left
  Descriptor ended_;                  ///< likewise: a pidfd
  bool killed_ = false;
};

} // namespace batchscope::program
