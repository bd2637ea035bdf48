#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/checkpoint/keeper.h"
#include "core/train/detail/learner.h"
#include "core/train/detail/loop_state.h"

namespace batchscope::train {

/// When and of what a run makes checkpoints, and where it keeps them.
struct CheckpointOptions {
  std::filesystem::path folder;
  checkpoint::Label label; ///< what all of them have in common: run, spec_json, data_checksum
  /// Called before each is written, on a thread of its own: waits until all that the run has reported is stored, so
  /// that no checkpoint is ahead of the records. If it throws Error, the checkpoint is not written. May be empty.
  std::function<void()> before_writing;
  std::optional<std::int64_t> every;
  std::optional<double> minutes;
};

/// Makes the checkpoints of a run: copies the state on the loop's thread, and leaves the disk to another one. While two
/// copies wait for the disk, the next one is postponed, so the loop never waits and memory is bounded. One thread.
class Checkpoints {
public:
  Checkpoints(const CheckpointOptions& options, Learner& learner);

  /// Whether a checkpoint is to be made after this step; `score`: of its evaluation, higher is better, if it had one.
  bool due(std::int64_t step, std::optional<double> score);
  /// Copies the state; a copy for which there is no memory becomes a report.
  void make(const LoopState& state);
  /// Step of the last one; -1 before.
  std::int64_t last_step() const { return last_step_; }
  std::optional<double> best_score() const { return best_score_; }
  void set_best_score(std::optional<double> score) { best_score_ = score; }

  /// Result of making a checkpoint.
  struct Report : checkpoint::Keeper::Report {
    double copy_seconds = 0; ///< for which training stood still
  };
  std::vector<Report> take_reports();
  /// Waits for the disk; for the end of a run.
  void wait() { keeper_.wait(); }

private:
  using Clock = std::chrono::steady_clock;
  checkpoint::Checkpoint copy(const LoopState& state) const;

  CheckpointOptions options_;
  Learner& learner_;
  std::int64_t last_step_ = -1;
  Clock::time_point last_time_ = Clock::now();
  bool wanted_ = false; ///< one is due, or was postponed
  std::optional<double> best_score_;
  std::vector<std::pair<std::int64_t, double>> copied_; ///< step and seconds of those that wait
  std::vector<Report> failed_;                          ///< could not be copied
  checkpoint::Keeper keeper_;
};

} // namespace batchscope::train
