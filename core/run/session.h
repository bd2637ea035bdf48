#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/checkpoint/checkpoint.h"
#include "core/data/data_pool.h"
#include "core/run/environment.h"
#include "core/run/run_control.h"
#include "core/run/run_spec.h"
#include "core/run/run_start.h"
#include "core/search/finder.h"
#include "core/telemetry/outcome.h"
#include "core/telemetry/record.h"

namespace batchscope::run {

/// One run, ready to start. start() describes it, run() executes and reports it. Code that stores, shows or steers runs
/// depends on this interface only. Not thread-safe: use it on one thread; its RunControl may be used from others.
class Source {
public:
  virtual ~Source() = default;

  /// The run's RunStart, without the fields that only the caller knows (memory, search).
  virtual RunStart start() const = 0;
  /// Executes the run until it ends, is stopped or fails, and reports to `sink`. A failure of the run is a status, not
  /// an exception. Call it once.
  virtual telemetry::RunOutcome run(telemetry::Sink& sink, RunControl& control) = 0;
};

/// Where a run keeps its checkpoints.
struct CheckpointPlace {
  std::filesystem::path folder;
  checkpoint::Label label; ///< what all of them have in common: run, spec_json, data_checksum
  /// Called before each is written, on a thread of its own: waits until all that the run has reported is stored, so
  /// that no checkpoint is ahead of the records. If it throws Error, the checkpoint is not written. May be empty.
  std::function<void()> before_writing;
};

/// The engine's own runs: device, data, model and optimizer as a RunSpec says, for searching and training. Only one may
/// exist in a process at a time, because LibTorch has one allocator per device. Throws Error (failed) for errors inside
/// LibTorch.
class Session : public Source {
public:
  virtual const RunSpec& spec() const = 0;
  virtual std::int64_t examples() const = 0; ///< training examples
  /// Holding the split keeps the data in memory for the next session that uses the same pool.
  virtual const data::DataSplit& data() const = 0;
  /// The first call for a data set takes a while, see data::Dataset::checksum(): call it before the run starts.
  virtual Environment environment() const = 0;
  virtual std::int64_t largest_batch() const = 0; ///< min(--max-batch, N/R, --effective-batch)
  virtual std::uint64_t budget_bytes() const = 0;

  using ProbeSink = std::function<void(const search::Probe&)>;
  struct SearchOptions {
    std::string strategy = "predictive";
    std::optional<std::int64_t> start;
    double factor = 0.9;
    double margin = 0.2;
    bool timings = true;
    /// Called after each timed stretch with the results so far of that size.
    std::function<void(const search::Timing&)> on_timing;
    /// Called between trials; true ends the search with Error (failed, "stopped").
    std::function<bool()> stop;
  };
  /// Searches for the batch size. Weights, optimizer, buffers, generator and data position stay bit-identical.
  virtual search::SearchResult find(const SearchOptions& options, const ProbeSink& on_probe) = 0;
  search::SearchResult find(const SearchOptions& options) { return find(options, {}); }

  /// Predicts the memory of a step at any size up to largest_batch(): on `cpu` from a dry run, which runs nothing and
  /// takes milliseconds; on a GPU, or if the model has an operator without a kernel for dry runs, from two small probes
  /// (16 and 8 examples, or fewer if these do not fit or the data have fewer), which take as long as a few steps and
  /// restore all state as find() does. Nothing if not even two sizes fit, if the traces do not match, or if `stop`
  /// returns true between the probes.
  virtual std::optional<predict::PeakCurve> predict_memory(const std::function<bool()>& stop) = 0;
  std::optional<predict::PeakCurve> predict_memory() { return predict_memory({}); }

  /// Sets the first nominal batch if the spec leaves it to a search. Call it before start() and run(); `reason` is
  /// RunStart::batch_reason.
  virtual void choose_batch(std::int64_t batch, const std::string& reason) = 0;
  void choose_batch(std::int64_t batch) { choose_batch(batch, {}); }

  /// Makes run() keep checkpoints, as often as the spec says. Call it before run(); without it none are kept.
  virtual void keep_checkpoints(const CheckpointPlace& place) = 0;
  /// Makes run() go on after the checkpoint's step, bit for bit as if it had not ended. Call it after choose_batch().
  /// `detail_json`: of the event `resumed` that run() then reports first. Throws Error (input) for a checkpoint of
  /// another model or with parts that cannot be read.
  virtual void restore(const checkpoint::Checkpoint& checkpoint, const std::string& detail_json) = 0;
};

} // namespace batchscope::run
