#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/run/run_spec.h"
#include "core/run/run_start.h"
#include "core/telemetry/outcome.h"
#include "core/telemetry/reason.h"

namespace batchscope::program {

/// Result of a few steps of a program. A plain value.
struct Tryout {
  std::optional<run::RunStart> start; ///< what it has said of itself, with its `program`; nothing: it has not connected
  telemetry::Reason limited_by;       ///< why its level is not higher; empty if it did not say
  std::vector<telemetry::Reason> remarks;    ///< what it found unusual about itself
  std::int64_t steps = 0;                    ///< reported
  double seconds = 0;                        ///< from its start to its end
  std::optional<double> step_seconds;        ///< median of the steps after the first
  std::optional<std::int64_t> batch;         ///< of its first step
  std::optional<std::int64_t> changed_batch; ///< of the first step with another size, as it was asked for
  std::optional<std::uint64_t> peak_bytes;   ///< highest memory in use that was reported or seen
  std::string output;                        ///< the last that it wrote
  /// `stopped` after the steps, or for a reason: it was waited for in vain; `finished` if it has fewer, else `failed`
  /// with the reason.
  telemetry::RunStatus status = telemetry::RunStatus::stopped;
  std::string reason;

  int level() const { return start ? start->program->level : 0; } ///< what works on it, 0 to 3
};

/// Runs the spec's program until it has made `spec.program->probe_steps` steps, at least 3, or makes none for
/// `silent_seconds` after its start, after it has connected or after its last step, and stops it. A program that can
/// change its size is asked for a smaller one after the first step. Nothing is stored. `stop`: true ends it early, with
/// what is known by then. `on_progress` is called after each step and when the program has connected. Throws Error
/// (input) for a program that cannot be started.
Tryout try_out(const run::RunSpec& spec, double silent_seconds, const std::function<bool()>& stop,
               const std::function<void(const Tryout&)>& on_progress = {});

} // namespace batchscope::program
