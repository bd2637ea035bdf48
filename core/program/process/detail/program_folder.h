#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/base/json.h"
#include "core/program/process/process_group.h"

namespace batchscope::program {

/// The files of one run of a program. A plain value.
class ProgramFolder {
public:
  explicit ProgramFolder(std::filesystem::path path) : path_(std::move(path)) {}
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path output() const { return path_ / "output"; } ///< what the program prints
  std::filesystem::path spill() const { return path_ / "spill"; }   ///< what it could not send
  std::filesystem::path out() const { return path_ / "out"; }       ///< of {out}
  std::filesystem::path python() const { return path_ / "python"; } ///< of the client, to attach

  std::filesystem::path thrown_away() const { return path_ / "trial"; } ///< what a program writes that is only tried
  std::filesystem::path temporary() const { return thrown_away() / "tmp"; }

  /// Contents of the folder that a program needs.
  struct Needs {
    bool client = false; ///< of Python
    bool trial = false;  ///< it is only tried
  };
  /// Makes the folder. Throws Error (failed) naming what cannot be made.
  void make(const Needs& needs) const;
  /// Removes all but the output and what is in out(): the run is stored with its outcome.
  void tidy() const;

  /// The process of the run, for a BatchScope that comes after one that was killed.
  struct Note {
    pid_t pid = 0;             ///< 0: it is being started
    std::uint64_t started = 0; ///< ProcessStat::started: another process may get the number
    std::filesystem::path socket;
    Json reads; ///< ReadFiles::position() before it was started
  };
  /// Throws Error (failed) if it cannot be written.
  void write_note(const Note& note) const;
  std::optional<Note> note() const; ///< nothing if there is none that can be read
  /// The processes of the note.
  static ProcessGroup group_of(const Note& note, const std::string& uid);

private:
  std::filesystem::path path_;
};

} // namespace batchscope::program
