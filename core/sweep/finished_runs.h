#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "core/store/run_reader.h"
#include "core/sweep/weak_runs.h"

namespace batchscope::sweep {

/// The loss curves of a sweep's finished runs, whichever program made them and when, read from the database.
class FinishedRuns {
public:
  /// With an interval, a thread looks for newly finished runs that often.
  FinishedRuns(const std::filesystem::path& database, std::int64_t sweep,
               const std::optional<std::chrono::milliseconds>& interval);
  ~FinishedRuns();
  FinishedRuns(const FinishedRuns&) = delete;
  FinishedRuns& operator=(const FinishedRuns&) = delete;

  /// Looks for newly finished runs. Reads from the disk, so not on the training loop's thread while it trains. What
  /// cannot be read is read the next time.
  void refresh();
  /// As they were read last. Any thread; never waits for the disk.
  std::shared_ptr<const WeakRuns> known() const;

private:
  void read_changes();
  LossCurve curve_of(std::int64_t run) const;
  void work(std::chrono::milliseconds interval);

  const std::filesystem::path database_;
  const std::int64_t sweep_;

  std::mutex reading_;
  // Guarded by reading_.
  std::unique_ptr<store::RunReader> reader_;
  store::ListCursor cursor_;
  std::set<std::int64_t> unread_; ///< finished runs whose curves are still to be read
  std::map<std::int64_t, LossCurve> curves_;
  bool is_known_ = true; ///< whether known_ has these curves

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::shared_ptr<const WeakRuns> known_ = std::make_shared<WeakRuns>();
  bool closing_ = false;

  std::thread thread_; ///< last: it uses all of the above
};

} // namespace batchscope::sweep
