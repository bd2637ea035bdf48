#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "core/predict/memory_model.h"
#include "core/run/run_spec.h"
#include "core/telemetry/trace.h"

namespace batchscope::run {

/// The optimizer steps of a run, executed without memory and without arithmetic: the trainer's own code, for `cpu` on
/// tensors that have shapes but no data, which takes milliseconds for any size of model and batch. Any number may
/// exist, also while a session trains. Use each on one thread at a time.
class DryRun {
public:
  virtual ~DryRun() = default;
  /// The allocations and frees of one step with this nominal batch (1 to the number of examples), as `cpu` counts them.
  /// Throws Error (failed) if an operator of the model has no kernel without data, naming it.
  virtual telemetry::Trace trace(std::int64_t batch) = 0;
  /// Whether there is such a trace: false for a step that needs more than any card has.
  virtual bool can_trace(std::int64_t /*batch*/) { return true; }
  /// Whether a run with this batch fits into so many bytes.
  virtual bool fits(std::int64_t batch, std::uint64_t bytes) { return trace(batch).peak_bytes <= bytes; }
  /// Whether all traces so far have the workspace of all kernels; see Engine::dry_run().
  virtual bool complete() const = 0;
  /// See predict::PeakPredictor. A caching allocator counts blocks that were larger for another size before.
  virtual double tolerance() const { return 1e-4; }
  virtual std::int64_t parameter_count() = 0;
  /// The largest nominal batch, at least 1, with which an epoch has enough examples for one full step. Up to it, the
  /// blocks of a step grow in proportion to the batch.
  virtual std::int64_t largest_whole_batch() const = 0;
};

/// See DryRun.
std::int64_t largest_whole_batch(const RunSpec& spec, std::int64_t examples);

/// Relative error of a dry run's peak, as an upper bound; exact at nearly all sizes.
inline constexpr double dry_run_error = 0.001;

/// The memory of a run's steps from dry runs: the sizes asked for are computed by a dry run each, and model() comes
/// from two of them. It answers where a later one fails. One thread.
class DryRunPredictor final : public predict::PeakPredictor {
public:
  /// The model is the most exact where the peak reaches `budget_bytes`, within 1 to `max_batch` (at least 2).
  DryRunPredictor(std::unique_ptr<DryRun> dry_run, std::uint64_t budget_bytes, std::int64_t max_batch);

  predict::Peak peak(std::int64_t batch) const override;
  std::int64_t largest_within(std::uint64_t bytes, std::int64_t lowest, std::int64_t highest) const override;
  double tolerance() const override { return dry_run_->tolerance(); }
  const predict::MemoryModel& model() const override { return model_; }
  /// Largest relative error of the model at the sizes asked for so far, at least dry_run_error: a caching allocator may
  /// leave the end of a block unused, at one size and not at the next.
  double error() const;

private:
  bool can_trace(std::int64_t batch) const;

  std::unique_ptr<DryRun> dry_run_;
  predict::MemoryModel model_;
  mutable std::map<std::int64_t, predict::Peak> peaks_; ///< of the sizes asked for so far
};

} // namespace batchscope::run
