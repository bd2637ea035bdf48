#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

#include "core/run/job_control.h"

namespace batchscope::cli {

/// Further processes of this program that work at a sweep (`sweep --join`), each with its share of the processor's
/// cores. A process that dies gives its run back; the others go on.
class SweepWorkers {
public:
  /// Starts none if `count` is 0. `cards`: of all workers, see cards_of_workers(); the first is that of this process,
  /// and empty if each may use any. Throws Error (failed) if a process cannot be started.
  SweepWorkers(const std::filesystem::path& database, std::int64_t sweep, std::int64_t count,
               const std::vector<std::string>& cards);
  ~SweepWorkers(); ///< waits for those that are left
  SweepWorkers(const SweepWorkers&) = delete;
  SweepWorkers& operator=(const SweepWorkers&) = delete;

  /// Waits for them; once the job is stopped, asks them to stop at their next step boundary, as Ctrl-C does.
  void wait(const run::JobControl& control);

private:
  void stop();

  std::vector<pid_t> processes_;
};

/// Divides the cores among `workers` processes, this one and those that it starts: sets OpenMP's number of threads,
/// unless the user has. Call it before the engine is loaded, while there is one thread.
void share_cores(std::int64_t workers);

} // namespace batchscope::cli
