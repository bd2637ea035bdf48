#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace batchscope::program {

/// A program and all that it has started and that still lives: the processes of its session, their children, and those
/// that left the session (daemons), which are known by a variable in their environment. Never any other process. A
/// plain value; one thread at a time.
class ProcessGroup {
public:
  /// Variable of the environment that says to which group a process belongs.
  static constexpr const char* variable = "BATCHSCOPE_GROUP";

  /// `leader`: the process that was started first, alive or not reaped yet; `token`: the value of its variable.
  ProcessGroup(pid_t leader, std::string token);
  /// The group of a process that another program started; nothing if it has ended or is of no group.
  static std::optional<ProcessGroup> of(pid_t leader);

  pid_t leader() const { return leader_; }
  /// Those that live, the leader first if it does. Reads /proc (about 10 us for each process of the machine). Reaps
  /// ended processes that lost their parent and were given to this one.
  std::vector<pid_t> members();
  /// Sends a signal to all members. Errors are ignored: a process may end at any time.
  void signal(int number);

private:
  struct Process;
  static std::vector<Process> processes();
  bool is_root(const Process& process, bool our_session);
  bool has_token(pid_t pid) const;

  pid_t leader_;
  std::string token_;
  std::uint64_t leader_started_ = 0;       ///< clock ticks since the system's start
  std::map<pid_t, std::uint64_t> members_; ///< with their starts; a number may be another process later
  std::map<pid_t, std::uint64_t> others_;  ///< known to be of no concern, by their environment
};

} // namespace batchscope::program
