#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace batchscope {

/// What a thread got of the processors since it began, as the Linux scheduler counts it (/proc/PID/task/TID/schedstat).
struct ThreadTime {
  std::int64_t id = 0;
  double ran_seconds = 0;
  double waited_seconds = 0; ///< ready to run, but did not: other threads had the processors
};

/// Of all threads of a process that have run, by id; `process`: its number, or `self`. Empty for one that has ended,
/// and where the system does not count it. Times of a thread that runs are up to a tick (1 to 10 ms) old. Any thread;
/// takes about 5 us for each thread of the process.
std::vector<ThreadTime> thread_times(const std::string& process = "self");

/// From so much of it on, a timing counts as disturbed: what a machine does on its own account takes less.
inline constexpr double disturbed_from = 0.05;

/// What the threads that compute got in a stretch of time.
struct ProcessorShare {
  double seconds = 0;        ///< of the stretch, on the clock; 0: the system does not say anything
  double ran_seconds = 0;    ///< of all threads that compute, together
  double waited_seconds = 0; ///< of the same: ready, but did not run
  /// What the stretch would have taken with the processors free, estimated: at least the time that the busiest thread
  /// ran; else the stretch without the waiting. Equal to `seconds` if nothing waited, however little was computed: who
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
