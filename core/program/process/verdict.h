#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/program/process/child.h"
#include "core/telemetry/outcome.h"
#include "core/telemetry/record.h"

namespace batchscope::program {

/// Known facts about a program that has ended. A plain value.
struct Ending {
  Exit exit;
  std::string output_tail;                   ///< OutputFollower::tail()
  bool stop_requested = false;               ///< it was asked to stop, or killed
  bool listened = false;                     ///< it was connected, and would say how it ends
  bool said_finished = false;                ///< over the socket: it has done all that it had to
  std::optional<telemetry::OutOfMemory> oom; ///< said over the socket, which it did not survive
  std::optional<std::uint64_t> limit;        ///< RLIMIT_DATA that it had, bytes
  std::optional<std::uint64_t> peak;         ///< highest memory in use that was seen, bytes
};

/// Outcome of the run that follows from its program's end.
struct Verdict {
  /// finished, stopped or failed; interrupted if it is not known how the program ended
  telemetry::RunStatus status = telemetry::RunStatus::failed;
  telemetry::Reason reason{}; ///< of a failed or interrupted run
  bool out_of_memory = false; ///< the end was for want of memory
  /// For an end for want of memory: device, host, kernel or loader_worker.
  telemetry::OutOfMemory::Cause cause = telemetry::OutOfMemory::Cause::none;

  /// One line in English; empty without a reason.
  std::string reason_text() const;
};

/// Reads an end, in this order: what was asked for, unless the program was through before, exit status 0, `oom` over
/// the socket, the text of an exception at the end of the output, the exit. Of a program that ended while its
/// BatchScope was gone the exit is not known: it has failed if it would have said its end, or printed an exception.
Verdict verdict_on(const Ending& ending);

} // namespace batchscope::program
