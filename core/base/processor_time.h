#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace batchscope {

/// Processor time of a thread since it began, as the Linux scheduler counts it (/proc/PID/task/TID/schedstat).
struct ThreadTime {
  std::int64_t id = 0;
  double ran_seconds = 0;
  double waited_seconds = 0; ///< ready to run, but did not: other threads had the processors
};

/// Processor times of all threads of a process that have run, by id; `process`: its number, or `self`. Empty for a
/// process that has ended, and where the system does not count them. Times of a running thread are up to a tick (1 to
/// 10 ms) old. Any thread; takes about 5 us for each thread of the process.
std::vector<ThreadTime> thread_times(const std::string& process = "self");

/// From so much of it on, a timing counts as disturbed: what a machine does on its own account takes less.
inline constexpr double disturbed_from = 0.05;

/// Processor time of the threads that compute, in a stretch of time.
struct ProcessorShare {
  double seconds = 0;        ///< of the stretch, on the clock; 0: the system does not say anything
  double ran_seconds = 0;    ///< of all threads that compute, together
  double waited_seconds = 0; ///< of the same: ready, but did not run
  /// Estimated duration of the stretch with the processors free: its duration without the waiting, but at least the
  /// time that the busiest thread ran. Equal to `seconds` if nothing waited, however little was computed: a thread that
  /// waits for a GPU, a loader or a disk is not ready.
  double undisturbed_seconds = 0;

  /// Fraction of the stretch that other work took, 0..1.
  double lost() const { return seconds > 0 ? 1 - undisturbed_seconds / seconds : 0; }
};

/// The share of a stretch from the times at its begin and its end. The threads that compute are the busiest one and all
/// that were ready or ran for at least a tenth of its time.
ProcessorShare processor_share(const std::vector<ThreadTime>& begin, const std::vector<ThreadTime>& end,
                               double seconds);

/// Measures stretches of a process, one after another; they should be much longer than a tick. One thread.
class ProcessorWatch {
public:
  explicit ProcessorWatch(std::string process = "self") : process_(std::move(process)) { begin(); }
  void begin();                 ///< a stretch
  double seconds() const;       ///< since then
  ProcessorShare share() const; ///< of the stretch so far

private:
  std::string process_;
  std::chrono::steady_clock::time_point began_;
  std::vector<ThreadTime> times_;
};

} // namespace batchscope
