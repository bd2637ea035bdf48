#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/checkpoint/checkpoint.h"

namespace batchscope::checkpoint {

/// Writes the checkpoints of one run on a thread of its own and keeps the newest two and the best. The best is the one
/// with the highest validation accuracy, or without accuracy the lowest validation loss, of those that were evaluated.
/// A checkpoint that cannot be written (a full disk) is reported and dropped; those before it stay. One thread uses it.
class Keeper {
public:
  /// Creates nothing yet. `before_writing` is called before each is written, on the keeper's thread; if it throws, that
  /// checkpoint is not written. It may be empty.
  explicit Keeper(std::filesystem::path folder, std::function<void()> before_writing = {});
  ~Keeper(); ///< writes what waits
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  /// Whether as many wait as may: then keep() must not be called.
  bool full() const;
  void keep(Checkpoint checkpoint);

  /// Result of writing a checkpoint.
  struct Report {
    std::int64_t step = 0;
    std::uint64_t bytes = 0;
    double seconds = 0;  ///< to write it
    std::string problem; ///< why it was not written; empty if it was
  };
  std::vector<Report> take_reports(); ///< those since the last call, in order
  void wait();                        ///< until all are written

  static constexpr std::size_t newest = 2;       ///< how many are kept, besides the best
  static constexpr std::size_t most_waiting = 2; ///< in memory at the same time, that being written included

private:
  void work();
  Report write_one(const Checkpoint& checkpoint);
  void remove_superseded();

  const std::filesystem::path folder_;
  const std::function<void()> before_writing_;
  bool prepared_ = false; ///< writer thread only

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Checkpoint> waiting_; ///< guarded by mutex_; the first is being written
  std::vector<Report> reports_;    ///< guarded by mutex_
  bool stopping_ = false;          ///< guarded by mutex_

  std::thread thread_; ///< last: it uses all of the above
};

} // namespace batchscope::checkpoint
