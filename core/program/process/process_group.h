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
  /// Group of a process that another program started at that time (ProcessStat::started). The process may have ended
  /// since, and its number may be another's. Unlike the processes that it started, it needs no variable: programs may
  /// overwrite theirs.
  ProcessGroup(pid_t leader, std::uint64_t started, std::string token);
  /// Group of the living process with this token that leads a session; nothing if there is none.
  static std::optional<ProcessGroup> find(const std::string& token);

  pid_t leader() const { return leader_; }
  std::uint64_t started() const { return leader_started_; } ///< when the leader was, ProcessStat::started
  /// Whether the leader has not ended.
  bool leader_lives() const;
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
