#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/job/job.h"
#include "core/program/run/program_source.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "core/sweep/extend.h"

namespace batchscope::sweep {

/// One combination, and its stored run if there is one that has ended, trains or waits.
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

/// Plans a new sweep. Opens one session (of a program, none) to detect errors that would affect every combination
/// (unknown model, missing data, no such device) before anything is stored. Throws Error (input, unavailable).
SweepPlan plan_sweep(const SweepSpec& spec, std::shared_ptr<data::DataPool> pool = std::make_shared<data::DataPool>());

/// Plans the rest of a stored sweep, and what is added to it: combinations without a run that has finished, failed, was
/// ended early or skipped, trains or waits. Stores nothing: RunStore::set_sweep() does. Throws Error (input) if the
/// sweep does not exist or cannot be extended so.
SweepPlan plan_rest(const store::RunReader& reader, std::int64_t sweep, const Extension& extension = {},
                    std::shared_ptr<data::DataPool> pool = std::make_shared<data::DataPool>());

/// Adds the plan's combinations that have no run as waiting runs, which any program can then make. Throws what the
/// store throws.
void enqueue(const SweepPlan& plan, std::int64_t sweep, store::RunStore& store);

/// Receives the progress of a sweep and its runs.
class SweepWatch : public job::Watch {
public:
  /// The sweep of this number is in the database, and work at it begins.
  virtual void sweep_began(std::int64_t /*sweep*/) {}
  /// A run is about to be prepared; `index` of `count`, in the order in which they are made.
  virtual void combination(std::size_t /*index*/, std::size_t /*count*/, const run::RunSpec& /*spec*/) {}
  /// A combination that cannot run; it is stored as failed.
  virtual void refused(std::int64_t /*id*/, const std::string& /*reason*/) {}
};

/// How one program works at a sweep.
struct WorkOptions {
  /// Whether other programs work at it too: their runs share the memory budget, and before this one is done it waits
  /// for theirs, which it makes again if their program dies.
  bool shared = false;
  /// Whether this process has a GPU that no other program of the sweep uses: then memory is shared with none, and a GPU
  /// that is missing ends the work, which the others can do.
  bool own_card = false;
  bool add_missing = true;                 ///< whether run_sweep() begins with enqueue()
  program::Surroundings surroundings = {}; ///< of the programs that a sweep over the user's own program starts
};

struct SweepResult {
  std::vector<std::int64_t> runs; ///< one per combination that has begun, in the order of the plan
  std::int64_t finished = 0;      ///< of the runs of this call
  std::int64_t failed = 0;
  bool stopped = false;
  std::string left; ///< why this process made no more runs: WorkOptions::own_card is not there; empty: it is
};

/// The newest run of each combination that has begun, in the order of the plan.
std::vector<std::int64_t> begun_runs(const SweepPlan& plan, std::int64_t sweep, store::RunStore& store);

/// Makes the waiting runs of a sweep until none waits. A
/// combination that cannot run or fails is stored as failed, and the sweep continues, also after a single run is
/// stopped. A stop of the job ends the work; waiting runs are then removed, unless another program works at the sweep,
/// and plan_rest() finds them again. Throws Error (failed) only for errors of the
/// store (transient ones are retried until a stop); the runs before are stored. One thread; see Session.
SweepResult run_sweep(SweepPlan plan, std::int64_t sweep, store::RunStore& store, SweepWatch& watch,
                      const std::shared_ptr<run::JobControl>& control, const WorkOptions& options = {});

} // namespace batchscope::sweep
