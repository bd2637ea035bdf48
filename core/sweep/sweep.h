#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/job/job.h"
#include "core/sweep/sweep_spec.h"

namespace batchscope::sweep {

/// One combination, and its stored run if there is one.
struct PlannedRun {
  run::RunSpec spec;
  std::optional<std::int64_t> run;
};

/// A new or unfinished sweep.
struct SweepPlan {
  SweepSpec spec;
  std::vector<PlannedRun> runs;
  std::shared_ptr<data::DataPool> pool; ///< shared by the runs, so that the data are read once
  data::DataSplit data;                 ///< set if the data were read already
};

/// Plans a new sweep. Opens one session to detect errors that would affect every combination (unknown model, missing
/// data, no such device) before anything is stored. Throws Error (input, unavailable).
SweepPlan plan_sweep(const SweepSpec& spec, std::shared_ptr<data::DataPool> pool = std::make_shared<data::DataPool>());

/// Plans the rest of a stored sweep: combinations without a run that has finished, failed or is running now. Throws
/// Error (input) if the sweep does not exist.
SweepPlan plan_rest(const store::RunReader& reader, std::int64_t sweep,
                    std::shared_ptr<data::DataPool> pool = std::make_shared<data::DataPool>());

/// Receives the progress of a sweep and its runs.
class SweepWatch : public job::Watch {
public:
  virtual void combination(std::size_t /*index*/, std::size_t /*count*/, const run::RunSpec& /*spec*/) {}
  /// A combination that cannot run; it is stored as failed.
  virtual void refused(std::int64_t /*id*/, const std::string& /*reason*/) {}
};

struct SweepResult {
  std::vector<std::int64_t> runs; ///< one per combination that has one, in the order of the plan
  std::int64_t finished = 0;      ///< of the runs of this call
  std::int64_t failed = 0;
  bool stopped = false;
};

/// Runs all combinations without a run. A combination that cannot run or fails is stored as failed, and the sweep
/// continues, also after a single run is stopped; a stop of the job ends the whole sweep. Throws Error (failed) only
/// for errors of the store (transient ones are retried until a stop); the runs before are stored. One thread; see
/// Session.
SweepResult run_sweep(SweepPlan plan, std::int64_t sweep, store::RunStore& store, SweepWatch& watch,
                      const std::shared_ptr<run::JobControl>& control);

} // namespace batchscope::sweep
