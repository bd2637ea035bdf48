#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace batchscope::run {

/// A series that is read from a program's output.
struct Metric {
  std::string name;
  std::string pattern; ///< PCRE2: the group named `value`, or the first without a name, is the value; `step` the step

  bool operator==(const Metric&) const = default;
};

/// Someone's own training program: a run whose steps are made by a child process. A plain value. Its environment is
/// never part of it, because it may hold secrets.
struct ProgramSpec {
  /// The program and its arguments. No shell is involved. `{batch}`, `{accumulate}`, `{seed}`, `{run}`, `{out}` and the
  /// names of `set` are replaced in each argument; `{{` is a brace.
  std::vector<std::string> command;
  std::string folder;                     ///< in which it runs; empty: the present one
  std::map<std::string, std::string> set; ///< texts for placeholders of the user's own, by name
  bool attach = false;                    ///< to its training loop or Trainer, in Python with torch
  /// Whether a program that is attached to gets the run's seed, even if it is the default one; else it has its own.
  bool seeded = false;
  std::vector<Metric> metrics;
  std::vector<std::string> reads; ///< files with series: `tensorboard:DIR`, `csv:FILE`, `trainer-state:DIR`
  std::int64_t probe_steps = 3;   ///< at least 1: a size fits when so many steps were reported
  double probe_seconds = 120;     ///< above 0: or when it ran so long without an error
  double grace = 30;              ///< seconds, at least 0, that an orderly stop may take
  std::string later_json{};       ///< as RunSpec::later_json

  bool operator==(const ProgramSpec&) const = default;
};

/// Names that `set` cannot have: those of the placeholders that stand for something else.
const std::vector<std::string>& reserved_placeholders();

/// Checks every field. Throws Error (input) naming the option, its value and what is accepted.
void check(const ProgramSpec& program);

Json to_json(const ProgramSpec& program);
/// Fields that the object leaves out keep their defaults. Throws Error (input) for unknown fields and wrong types.
ProgramSpec program_spec_from_json(const Json& json);
/// The same, but fields that are not known are kept in later_json.
ProgramSpec stored_program_from_json(const Json& json);

/// Short name of the program: the script or module that an interpreter runs (`train.py`, `package.train`), else the
/// file name of the command; empty without one.
std::string program_name(const ProgramSpec& program);
/// The command for display, quoted for a shell.
std::string command_text(const ProgramSpec& program);
/// The arguments of `batchscope-cli run` for the same program: options that differ from the defaults, `--`, the
/// command.
std::string options_text(const ProgramSpec& program);

} // namespace batchscope::run
