#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "core/store/run_follower.h"
#include "ui/database/file_identity.h"
#include "ui/database/stored.h"

namespace batchscope::ui {

/// The runs that the window reads from their beginning on while they are written. The database's thread.
class FollowedRuns {
public:
  /// Receives the batches on the UI thread. Released there only, so that nothing is called after that.
  struct Follower {
    std::function<void(RunBatch&&)> take;
  };
  /// Runs a function on the UI thread.
  using Post = std::function<void(std::function<void()>)>;

  FollowedRuns(std::filesystem::path file, Post post) : file_(std::move(file)), post_(std::move(post)) {}

  void add(std::int64_t run, std::weak_ptr<Follower> follower);
  /// Reads the next part of each run. Returns whether more can be read at once.
  bool read_on();

private:
  struct Followed {
    std::int64_t run = 0;
    std::weak_ptr<Follower> follower;
    /// A batch is being delivered; the next one waits for it.
    std::shared_ptr<std::atomic<bool>> busy = std::make_shared<std::atomic<bool>>(false);
    std::unique_ptr<store::RunFollower> reader = nullptr;
    FileIdentity file{}; ///< the file that the reader has open
  };

  bool read_on(Followed& followed);
  void begin_reading(Followed& followed) const;

  const std::filesystem::path file_;
  const Post post_;
  std::vector<Followed> followed_;
};

} // namespace batchscope::ui
