#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/job/job.h"
#include "core/sweep/sweep_spec.h"

namespace batchscope::sweep {

/// One combination and the run that is stored for it, if there is one.
struct PlannedRun {
  run::RunSpec spec;
  std::optional<std::int64_t> run;
};

/// A sweep before or in the middle of its runs.
struct SweepPlan {
  SweepSpec spec;
  std::vector<PlannedRun> runs;
  std::shared_ptr<data::DataPool> pool; ///< of the runs' data, which are read once
  data::DataSplit data;                 ///< where they were read already
};

/// Plans a new sweep. Makes one session ready, to refuse what would stop every combination (an unknown model, data
/// that is not there, no such device) before anything is stored. Throws Error (input, unavailable).
SweepPlan plan_sweep(const SweepSpec& spec, std::shared_ptr<data::DataPool> pool = std::make_shared<data::DataPool>());

/// Plans the rest of a stored sweep: combinations without a run that finished, failed or is running now.
/// Throws Error (input) where there is no such sweep.
SweepPlan plan_rest(const store::RunReader& reader, std::int64_t sweep,
                    std::shared_ptr<data::DataPool> pool = std::make_shared<data::DataPool>());

/// Sees a sweep's runs come and go, besides what each of them does.
class SweepWatch : public job::Watch {
public:
  virtual void combination(std::size_t /*index*/, std::size_t /*count*/, const run::RunSpec& /*spec*/) {}
  /// A combination that could not run; it is stored as failed.
  virtual void refused(std::int64_t /*id*/, const std::string& /*reason*/) {}
};

struct SweepResult {
  std::vector<std::int64_t> runs; ///< one for each combination that has one, in the order of the plan
  std::int64_t finished = 0;      ///< of those that ran now
  std::int64_t failed = 0;
  bool stopped = false;
};

/// Runs what the plan has no run for. A combination that cannot run or fails is stored as failed and the rest go on,
/// and so they do where one run is stopped; a stop of the job ends the whole sweep. Throws Error (failed) only for the
/// store, and not for what passes until a stop; the runs until then are stored. One thread; see Session.
SweepResult run_sweep(SweepPlan plan, std::int64_t sweep, store::RunStore& store, SweepWatch& watch,
                      const std::shared_ptr<run::JobControl>& control);

} // namespace batchscope::sweep
