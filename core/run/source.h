#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "core/predict/peak_curve.h"
#include "core/run/environment.h"
#include "core/run/run_control.h"
#include "core/run/run_start.h"
#include "core/telemetry/outcome.h"
#include "core/telemetry/record.h"

namespace batchscope::run {

/// Where a run is stored.
struct RunPlace {
  std::int64_t run = 0; ///< its number
  std::string uid;      ///< the same in every database that holds a copy of the run
  std::filesystem::path database;
  std::string spec_json;
  bool compared = false; ///< its result stands for its settings in a sweep
  /// Waits until all that the run has reported so far is stored. Throws Error if it cannot be. Any thread. May be
  /// empty.
  std::function<void()> flush;
  /// How many of the records and events that the run has reported are stored. Any thread; never waits. May be empty.
  std::function<std::uint64_t()> stored;
  /// Tells that start() has changed, once the run knows more about itself. The thread of run(). May be empty.
  std::function<void(const RunStart&)> start_changed;
};

/// One run, ready to start. start() describes it, run() executes and reports it. Code that stores, shows or steers runs
/// depends on this interface only. Not thread-safe: use it on one thread; its RunControl may be used from others.
class Source {
public:
  virtual ~Source() = default;

  /// The run's RunStart, without the fields that only the caller knows (memory, search).
  virtual RunStart start() const = 0;
  /// Environment of the run. The first call for a data set takes a while, see data::Dataset::checksum(): call it before
  /// the run starts.
  virtual Environment environment() const = 0;
  /// Predicts the memory of a step at any size. Nothing if it cannot, or if `stop` returns true before it knows.
  virtual std::optional<predict::PeakCurve> predict_memory(const std::function<bool()>& /*stop*/) {
    return std::nullopt;
  }
  std::optional<predict::PeakCurve> predict_memory() { return predict_memory({}); }
  /// Called before run(), if the run is stored; without it the run keeps nothing beside its records, such as
  /// checkpoints.
  virtual void set_place(const RunPlace& /*place*/) {}
  /// Executes the run until it ends, is stopped or fails, and reports to `sink`. A failure of the run is a status, not
  /// an exception. Call it once.
  virtual telemetry::RunOutcome run(telemetry::Sink& sink, RunControl& control) = 0;
  /// Called once the outcome of run() is stored: what the run has kept to be taken up after a kill is not needed any
  /// more.
  virtual void stored() {}
};

} // namespace batchscope::run
