#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

// Readings of a process from /proc. The process may end at any time, also while it is read. `process`: its number, or
// `self`. Any thread; throws nothing.
namespace batchscope {

/// A whole file of a process; what could be read of it, empty for a process that has ended.
std::string process_file(const std::string& process, const char* file);

struct ProcessStat {
  char state = '?';
  pid_t parent = 0;
  pid_t session = 0;
  std::uint64_t started = 0; ///< clock ticks since the system's start

  /// Whether it runs no more and waits for its parent to take note.
  bool has_ended() const { return state == 'Z' || state == 'X'; }
};
/// Nothing if it cannot be read.
std::optional<ProcessStat> process_stat(const std::string& process);

/// The number of a line `NAME:   123 kB` of a file, in bytes; nothing if there is none. `name`: with the colon.
std::optional<std::uint64_t> process_bytes(const std::string& process, const char* file, const std::string& name);

} // namespace batchscope
