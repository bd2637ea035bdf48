#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/program/process/process_group.h"

namespace batchscope::program {

/// A program to start. A plain value.
struct ChildStart {
  std::vector<std::string> command; ///< filled in; command[0] is looked up in PATH unless it has a slash
  std::filesystem::path folder;     ///< where it runs; empty: the present one
  /// Added to the environment of this process, which they replace where the names are the same.
  std::vector<std::pair<std::string, std::string>> environment;
  std::filesystem::path output; ///< file for stdout and stderr, made with mode 0600 or appended to
  std::string token;            ///< by which its processes are known, ProcessGroup::variable; empty: a random one
  std::optional<std::uint64_t> data_limit; ///< of the whole process (RLIMIT_DATA), bytes
  /// Makes glibc give every freed block of 128 KiB or more back to the system at once, so that peaks of equal steps are
  /// equal and twice the batch fits into a limit; a step takes 1.2 to 2 times as long.
  bool returns_freed_memory = false;
  bool reads_input = false; ///< stdin is that of this process, unless that is a terminal; else /dev/null
};

/// Throws as Child does, if the command or the folder does not exist. Starts nothing.
void check_can_start(const ChildStart& start);

/// How a process ended: `code` or `signal` is set, or none where the system does not say.
struct Exit {
  std::optional<int> code;
  std::optional<int> signal;
  bool killed_by_us = false; ///< a SIGKILL was sent by Child::signal()
  bool kernel_oom = false; ///< the kernel's out-of-memory killer ended a process of this machine or container meanwhile
};

/// A running program, in a session and process group of its own, together with all processes that it starts, daemons
/// included. It has no death signal: it goes on when this process dies. This process becomes the parent of orphans
/// below it (PR_SET_CHILD_SUBREAPER). The environment has PYTHONUNBUFFERED=1 besides, and none of the variables that
/// BatchScope gave to this process itself. One thread at a time.
class Child {
public:
  /// Returns once the program runs. Throws Error: input if there is no such command or folder, or the output cannot be
  /// written; failed if the system cannot start a process.
  explicit Child(const ChildStart& start);
  /// Ends all that is left of the group (SIGKILL) and reaps it; at most 5 seconds, which only processes that wait for a
  /// device take.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  /// Set once the process has ended, which is reaped; others of its group may live. Never waits.
  std::optional<Exit> poll();
  /// A descriptor that poll(2) finds readable once the process has ended; closed by the destructor.
  int ended_fd() const { return ended_fd_; }
  /// Sends SIGINT, SIGTERM, SIGKILL, SIGSTOP or SIGCONT to all processes of the group.
  void signal(int number);
  /// The processes of the group, for a measurement of its memory on another thread too.
  ProcessGroup group() const { return group_; }
  /// The destructor then ends nothing: this process goes, the program stays.
  void leave() { left_ = true; }

private:
  pid_t pid_ = -1;
  int ended_fd_ = -1;
  ProcessGroup group_;
  std::optional<Exit> exit_;
  std::uint64_t oom_kills_at_start_ = 0;
  bool killed_ = false;
  bool left_ = false;

  struct Started {
    pid_t pid;
    std::string token;
    std::uint64_t oom_kills;
  };
  static Started launch(const ChildStart& start);
  explicit Child(Started started);
};

} // namespace batchscope::program
