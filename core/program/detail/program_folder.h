#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/run/program_spec.h"

namespace batchscope::program {

/// The files of one run of a program. A plain value.
class ProgramFolder {
public:
  explicit ProgramFolder(std::filesystem::path path) : path_(std::move(path)) {}
  /// A new one for a run that is not stored; sets its uid. Throws Error (failed) if it cannot be made.
  static ProgramFolder temporary(std::string& uid);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path output() const { return path_ / "output"; } ///< what the program prints
  std::filesystem::path spill() const { return path_ / "spill"; }   ///< what it could not send
  std::filesystem::path out() const { return path_ / "out"; }       ///< of {out}
  std::filesystem::path python() const { return path_ / "python"; } ///< of the client, to attach

  /// Makes the folder, and what the program needs in it. Throws Error (failed) naming what cannot be made.
  void make(const run::ProgramSpec& program) const;
  /// Removes all but the output and what is in out(), or everything of a run that is not stored.
  void tidy(bool stored) const;

  /// The process of the run, for a BatchScope that takes over from one that was killed.
  struct Note {
    pid_t pid = 0;
    std::uint64_t started = 0; ///< clock ticks after the boot: another process may get the number
    std::filesystem::path socket;
  };
  void note(pid_t pid, const std::filesystem::path& socket) const;
  std::optional<Note> note() const; ///< nothing if there is none that can be read

private:
  std::filesystem::path path_;
};

/// When a process was started, in clock ticks after the boot; nothing if there is none.
std::optional<std::uint64_t> start_of_process(pid_t pid);

} // namespace batchscope::program
