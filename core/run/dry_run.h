#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/predict/memory_model.h"
#include "core/telemetry/trace.h"

namespace batchscope::run {

/// The optimizer steps of a run, executed without memory and without arithmetic: the trainer's own code on tensors that
/// have shapes but no data. Takes milliseconds for any size of model and batch. Any number may exist, also while a
/// session trains. Use each on one thread at a time.
class DryRun {
public:
  virtual ~DryRun() = default;
  /// The allocations and frees of one step with this nominal batch (1 to the number of examples), as `cpu` counts them.
  /// Throws Error (failed) if an operator of the model has no kernel without data, naming it.
  virtual telemetry::Trace trace(std::int64_t batch) = 0;
  /// The trace from an empty allocator on: the model, the optimizer's state and two steps with this batch. For
  /// allocators whose answer depends on what came before. It ends with what is held between steps still allocated.
  virtual telemetry::Trace trace_from_start(std::int64_t batch) = 0;
  /// Whether all traces so far have the workspace of all kernels; see Engine::dry_run().
  virtual bool complete() const = 0;
  virtual std::int64_t parameter_count() const = 0;
  /// The largest nominal batch, at least 1, with which an epoch has enough examples for one full step. Up to it, the
  /// blocks of a step grow in proportion to the batch.
  virtual std::int64_t largest_whole_batch() const = 0;
};

/// Bytes of the blocks that a run holds between its steps, in the order in which they are allocated.
std::vector<std::uint64_t> held_blocks(DryRun& dry_run);

/// Relative error of a dry run's peak, as an upper bound; exact at nearly all sizes.
inline constexpr double dry_run_error = 0.001;

/// The memory of a run's steps from dry runs: the sizes asked for are computed by a dry run each, and model() comes
/// from two of them. One thread.
class DryRunPredictor final : public predict::PeakPredictor {
public:
  /// The model is the most exact where the peak reaches `budget_bytes`, within 1 to `max_batch` (at least 2).
  DryRunPredictor(std::unique_ptr<DryRun> dry_run, std::uint64_t budget_bytes, std::int64_t max_batch);

  predict::Peak peak(std::int64_t batch) const override;
  std::int64_t largest_within(std::uint64_t bytes, std::int64_t lowest, std::int64_t highest) const override;
  const predict::MemoryModel& model() const override { return model_; }

private:
  std::unique_ptr<DryRun> dry_run_;
  predict::MemoryModel model_;
  mutable std::map<std::int64_t, predict::Peak> peaks_; ///< of the sizes asked for so far
};

} // namespace batchscope::run
