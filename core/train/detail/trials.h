#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/search/finder.h"
#include "core/search/throughput.h"
#include "core/train/detail/learner.h"
#include "core/train/detail/window.h"

namespace batchscope::train {

struct TrialOptions {
  data::SamplerOptions sampler;
  std::uint64_t seed = 1;
  double learning_rate = 0;
  double weight_decay = 0;
  std::optional<double> clip;
  std::function<bool()> stop; ///< called before each trial; true ends it with Error (failed, "stopped")
};

/// Steps until a caching allocator has split its blocks as it goes on to: what fits in the first ones of a size may not
/// find a piece that is large enough in the third.
inline constexpr int steps_to_settle = 3;

/// With a given effective batch, the number of micro batches depends on their size. Two of exactly the proposed size
/// have the same peak as any number: the second already finds the gradients of the first.
data::SamplerOptions probe_options(data::SamplerOptions options, std::int64_t batch);

/// Trials of a search: runs the trainer's own optimizer step at a size twice and measures the second. After each trial,
/// weights, optimizer, buffers and generator are restored to their state at construction.
class LearnerTrials final : public search::Trial {
public:
  LearnerTrials(Learner& learner, const TrialOptions& options);
  search::Probe run(const search::Proposal& proposal) override;
  /// Measures the throughput of a size known to fit: runs whole steps until enough time has passed. Nothing if it did
  /// not fit after all (another process took memory).
  std::optional<search::TimedSteps> time(std::int64_t batch);

private:
  void fill_window(std::int64_t batch, const data::SamplerOptions& options);
  bool run_steps(bool trace, search::Probe& probe);
  bool step();

  Learner& learner_;
  TrialOptions options_;
  std::unique_ptr<Learner::Snapshot> before_;
  data::StepOrder order_;
  Window window_;
  std::int64_t examples_ = 0;           ///< in the window
  std::optional<std::int64_t> longest_; ///< for tokens: the longest example, placed in every micro batch
  bool warm_ = false;
};

} // namespace batchscope::train
