#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/data/data_pool.h"
#include "core/search/finder.h"
#include "core/telemetry/record.h"
#include "core/train/run_control.h"
#include "core/train/run_spec.h"
#include "core/train/run_start.h"

namespace batchscope::train {

struct Validation {
  double loss = 0;
  std::optional<double> accuracy; ///< 0..1; nothing where the target is a number
};

enum class Status { queued, running, finished, stopped, failed, interrupted };
std::string to_string(Status status);
Status status_from(const std::string& text); ///< throws Error (input)

/// What a run came to.
struct RunSummary {
  Status status = Status::finished;
  std::string reason; ///< for failed
  std::int64_t steps = 0;
  std::int64_t examples_seen = 0;
  double epoch = 0;
  double train_coverage = 0;
  std::int64_t oom_events = 0;
  double loss = 0;
  std::optional<Validation> validation;
  std::uint64_t peak_bytes = 0;
  double seconds = 0;             ///< as telemetry::RunClock has it
  double examples_per_second = 0; ///< likewise
};

/// A device, data, model and optimizer made ready as a RunSpec says; searches and runs on them.
/// One at a time in a process (LibTorch has one allocator for a device). Not thread-safe: construct, search and run
/// on one thread; only RunControl may be used from others.
class Session {
public:
  /// With `pool` the data are shared with others who use them.
  /// Throws Error: input (bad spec, bad data), unavailable (device), failed (budget below the model itself).
  explicit Session(const RunSpec& spec, const std::shared_ptr<data::DataPool>& pool = nullptr);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const RunSpec& spec() const;
  std::int64_t examples() const; ///< to train on
  /// Whoever holds it keeps the data read for the next session that shares the pool.
  const data::DataSplit& data() const;
  std::int64_t largest_batch() const; ///< min(--max-batch, N/R, --effective-batch)
  std::uint64_t budget_bytes() const;

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
  search::SearchResult find(const SearchOptions& options, const ProbeSink& on_probe = {});

  /// The memory of a step at any size up to largest_batch(), from two small probes (16 and 8 examples, or less where
  /// these do not fit or are not there); nothing where not even two sizes fit, where the traces say nothing, or where
  /// `stop` said true between them. Leaves everything as find() does, and takes a few steps' time.
  std::optional<predict::PeakCurve> predict_memory(const std::function<bool()>& stop = {});

  /// Fixes the first nominal batch where the spec left it to a search; `reason` is RunStart::batch_reason.
  void choose_batch(std::int64_t batch, const std::string& reason = {});
  /// What the run will start as, but for what only its surroundings know (memory, search); the batch must be a number
  /// by now.
  RunStart start() const;

  /// Trains to the end, or until stopped or failed; reports to `sink`. A failure of the job is a status, not an
  /// exception. Once.
  RunSummary run(telemetry::Sink& sink, RunControl& control);

private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace batchscope::train
