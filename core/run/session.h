#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/checkpoint/checkpoint.h"
#include "core/data/data_pool.h"
#include "core/run/run_spec.h"
#include "core/run/source.h"
#include "core/search/finder.h"
#include "core/telemetry/events.h"

namespace batchscope::run {

/// The engine's own runs: device, data, model and optimizer as a RunSpec says, for searching and training. Only one may
/// exist in a process at a time, because LibTorch has one allocator per device. Throws Error (failed) for errors inside
/// LibTorch.
class Session : public Source {
public:
  virtual const RunSpec& spec() const = 0;
  virtual std::int64_t examples() const = 0; ///< training examples
  /// Holding the split keeps the data in memory for the next session that uses the same pool.
  virtual const data::DataSplit& data() const = 0;
  virtual std::int64_t largest_batch() const = 0; ///< min(--max-batch, N/R, --effective-batch)
  virtual std::uint64_t budget_bytes() const = 0;

  using ProbeSink = std::function<void(const search::Probe&)>;
  struct SearchOptions {
    std::string strategy = "predictive";
    std::optional<std::int64_t> start;
    double factor = 0.9;
    double margin = 0.2;
    bool timings = true;
    bool evaluation = false; ///< also search the size of a program's evaluation
    /// Called after each timed stretch with the results so far of that size.
    std::function<void(const search::Timing&)> on_timing;
    /// Called between trials; true ends the search, whose result is then `interrupted`.
    std::function<bool()> stop;
  };
  /// Searches for the batch size. Weights, optimizer, buffers, generator and data position stay bit-identical.
  virtual search::SearchResult find(const SearchOptions& options, const ProbeSink& on_probe) = 0;
  search::SearchResult find(const SearchOptions& options) { return find(options, {}); }

  /// On `cpu` from a dry run, which runs nothing and takes milliseconds; on a GPU, or if the model has an operator
  /// without a kernel for dry runs, from two small probes (16 and 8 examples, or fewer if these do not fit or the data
  /// have fewer), which take as long as a few steps and restore all state as find() does. Up to largest_batch().
  /// Nothing if not even two sizes fit, or if the traces do not match.
  std::optional<predict::PeakCurve> predict_memory(const std::function<bool()>& stop) override = 0;
  using Source::predict_memory;

  /// Sets the first nominal batch if the spec leaves it to a search. Call it before start() and run(); `reason` is
  /// RunStart::batch_reason.
  virtual void choose_batch(std::int64_t batch, const std::string& reason) = 0;
  void choose_batch(std::int64_t batch) { choose_batch(batch, {}); }

  /// Makes run() go on after the checkpoint's step, bit for bit as if it had not ended. Call it after choose_batch().
  /// run() then begins with `report`. Throws Error (input) for a checkpoint of another model or with parts that cannot
  /// be read.
  virtual void restore(const checkpoint::Checkpoint& checkpoint, const telemetry::Resumed& report) = 0;
};

} // namespace batchscope::run
