#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/data/data_pool.h"
#include "core/run/run_control.h"
#include "core/run/run_spec.h"
#include "core/run/run_start.h"
#include "core/run/run_summary.h"
#include "core/search/finder.h"
#include "core/telemetry/record.h"

namespace batchscope::run {

/// One run, made ready by whatever makes runs: start() says what it begins as, run() makes it and reports it. Who
/// stores, shows or steers runs knows this and nothing else of where they come from. Not thread-safe: used on one
/// thread; RunControl may be used from others.
class Source {
public:
  virtual ~Source() = default;

  /// What the run will start as, but for what only its surroundings know (memory, search).
  virtual RunStart start() const = 0;
  /// Makes the run to its end, or until it is stopped or fails; reports to `sink`. A failure of the run is a status,
  /// not an exception. Once.
  virtual RunSummary run(telemetry::Sink& sink, RunControl& control) = 0;
};

/// The engine's own runs: a device, data, model and optimizer made ready as a RunSpec says; searches and trains on
/// them. One at a time in a process, because LibTorch has one allocator for a device. Throws Error (failed) for what
/// goes wrong inside LibTorch.
class Session : public Source {
public:
  virtual const RunSpec& spec() const = 0;
  virtual std::int64_t examples() const = 0; ///< to train on
  /// Whoever holds it keeps the data read for the next session that shares the pool.
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
    /// Called for each stretch with what is known of its size by then.
    std::function<void(const search::Timing&)> on_timing;
    /// Asked between trials; true ends the search with Error (failed, "stopped").
    std::function<bool()> stop;
  };
  /// Finds the batch size. Leaves weights, optimizer, buffers, generator and data position bit-identical.
  virtual search::SearchResult find(const SearchOptions& options, const ProbeSink& on_probe) = 0;
  search::SearchResult find(const SearchOptions& options) { return find(options, {}); }

  /// The memory of a step at any size up to largest_batch(), from two small probes (16 and 8 examples, or less where
  /// these do not fit or are not there); nothing where not even two sizes fit, where the traces say nothing, or where
  /// `stop` said true between them. Leaves everything as find() does, and takes a few steps' time.
  virtual std::optional<predict::PeakCurve> predict_memory(const std::function<bool()>& stop) = 0;
  std::optional<predict::PeakCurve> predict_memory() { return predict_memory({}); }

  /// Fixes the first nominal batch where the spec left it to a search, which comes before start() and run(); `reason`
  /// is RunStart::batch_reason.
  virtual void choose_batch(std::int64_t batch, const std::string& reason) = 0;
  void choose_batch(std::int64_t batch) { choose_batch(batch, {}); }
};

} // namespace batchscope::run
