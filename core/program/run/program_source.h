#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/program/process/verdict.h"
#include "core/run/run_spec.h"
#include "core/run/source.h"

namespace batchscope::program {

/// Surroundings of a program besides its spec: environment, limits, the kind of trial. Never stored, because they may
/// hold secrets.
struct Surroundings {
  std::vector<std::pair<std::string, std::string>> environment; ///< added to that of BatchScope
  /// For trials of a search: freed memory goes back to the system at once, so that peaks of equal steps are equal.
  bool returns_freed_memory = false;
  /// The program is only tried: files that its Python code writes go to a folder that is removed, and trackers are off.
  bool throws_away = false;
  /// The environment has a GPU that is pretended: sizes are tried in a process each, as a run has its allocator to
  /// itself, and a program that trains on another device is refused.
  bool on_pretended_gpu = false;
  /// The program reads this process's standard input, unless that is a terminal: its prompts would not be seen.
  bool reads_input = false;
  /// Bytes of this machine's memory, after which a program that is only tried is ended; nothing: no limit.
  std::optional<std::uint64_t> host_limit{};
};

/// A run of the user's own program.
class ProgramRun : public run::Source {
public:
  /// Process number of the program; 0 before run() has started it.
  virtual std::int64_t pid() const = 0;
  /// How its end was read. Call it after run().
  virtual const Verdict& verdict() const = 0;
  /// How the program itself ended, set by run(); nothing if it was not started.
  virtual const std::optional<Exit>& exit() const = 0;
  /// Highest memory in use that was seen or reported, bytes; nothing if none was.
  virtual std::optional<std::uint64_t> peak() const = 0;
  /// The out-of-memory error that the verdict is about, set by run(); nothing for another verdict, or if the error is
  /// not known.
  virtual const std::optional<telemetry::OutOfMemory>& shortage() const = 0;
  /// The end of the program's output, set by run(), see OutputFollower::tail().
  virtual const std::string& output_tail() const = 0;
};

/// A run of the spec's program. Checks what can be checked before the program starts: throws Error (input) for a
/// spec without a program, or one that is not valid. The program starts with run(), in a folder of the run beside the
/// database (`folder_of_program()`), where its output stays.
std::unique_ptr<ProgramRun> open_program(const run::RunSpec& spec, const Surroundings& surroundings = {});

/// Where a run keeps what belongs to it: FILE-programs/UID of the database FILE. It holds `output`, what the program
/// printed; `out`, the folder of {out}; and `spill`, what the program could not send.
std::filesystem::path folder_of_program(const std::filesystem::path& database, const std::string& uid);
/// The folder of {out} there.
std::filesystem::path out_of_program(const std::filesystem::path& database, const std::string& uid);

} // namespace batchscope::program
