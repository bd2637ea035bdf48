#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/run/run_spec.h"
#include "core/run/source.h"
#include "core/telemetry/reason.h"

namespace batchscope::program {

/// Values of the placeholders of a program's command, besides those of `set`. A plain value.
struct Filling {
  std::optional<std::int64_t> batch; ///< nothing: the program's own
  std::int64_t accumulate = 1;
  std::uint64_t seed = 1;
  std::int64_t run = 0;      ///< number of the run; 0 for a trial of a search
  std::filesystem::path out; ///< a fresh folder of this run
};

/// Values for a run; `out` and `place` as the run has them.
Filling filling_of(const run::RunSpec& spec, const run::RunPlace& place, const std::filesystem::path& out);

/// The program and its arguments with every `{NAME}` replaced and `{{` as one brace. A brace that begins no name, as in
/// JSON, stays as it is. Throws Error (input) for a name that is not known, naming those that are, and for `{batch}`
/// without a batch.
std::vector<std::string> filled_command(const run::ProgramSpec& program, const Filling& filling);

/// The names in the braces of the command.
std::set<std::string> placeholders_of(const run::ProgramSpec& program);

/// Whether the run sets a batch size that reaches the program over the socket; one in its command is there already.
bool sends_batch(const run::RunSpec& spec);

/// The seed that a program that is attached to gets; nothing if it has its own.
std::optional<std::uint64_t> sent_seed(const run::RunSpec& spec);

/// Whether the program follows all that the run sends to it: a first batch size, or more.
bool follows_settings(const run::RunSpec& spec, int level, bool first_batch);
/// Why a program of this level, below 2, cannot be steered.
telemetry::Reason why_not_steered(int level);
/// Reason that the program does not follow the settings sent to it: why not, and what makes it follow them.
telemetry::Reason not_followed(const run::RunSpec& spec, int level);

/// Checks what can be checked without the file system: names in braces, patterns of metrics, and that a batch size that
/// is set, or may be with OnOom::restart, has a way to the program. Throws Error (input).
void check_command(const run::RunSpec& spec);
/// Whether a batch size has a way to the program.
bool takes_batch(const run::ProgramSpec& program);
/// The same as check_command() for a search or a sweep over batch sizes, which must reach the program.
void check_takes_batch(const run::ProgramSpec& program);
/// Error for a program of this level, below 2, which cannot be sent a size.
Error takes_no_batch(int level);

} // namespace batchscope::program
