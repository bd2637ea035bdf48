#pragma once

#include <cstdint>
#include <filesystem>

#include "core/job/job.h"
#include "core/program/run/left_run.h"
#include "core/run/run_spec.h"
#include "core/run/run_start.h"
#include "core/store/run_store.h"

namespace batchscope::job {

/// A stored run of a program whose BatchScope was killed.
struct Adoptable {
  store::RunRow row;
  run::RunSpec spec;
  run::RunStart start;
  program::LeftRun left;
};

/// Reads all that is stored of the run. Changes nothing. Throws Error (input), saying why, for a run that does not
/// exist, is no run of a program, still runs under a BatchScope, or has left nothing.
Adoptable find_adoptable(const std::filesystem::path& database, std::int64_t run);

/// Goes on with the run until its program has ended, as run_and_store() does with a new one. Throws as that.
JobResult adopt_and_store(const Adoptable& adoptable, store::RunStore& store, Watch& watch,
                          const std::shared_ptr<run::JobControl>& control);

/// Adopts all runs of the store whose programs have ended while no BatchScope watched them: takes in what they had
/// spilled, and how they ended. One that cannot be taken in is left as it is. Also tidies runs whose outcome is stored.
void adopt_ended(store::RunStore& store, const std::shared_ptr<run::JobControl>& control);

} // namespace batchscope::job
