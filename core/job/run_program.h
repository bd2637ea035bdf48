#pragma once

#include <memory>

#include "core/job/job.h"
#include "core/program/run/program_source.h"
#include "core/store/run_store.h"

namespace batchscope::job {

/// The last run of a program, and its program.
struct ProgramJob {
  JobResult job;
  std::unique_ptr<program::ProgramRun> source;
};

/// Runs the spec's own program and stores it, as run_and_store() does. With OnOom::restart a program that has ended for
/// want of memory is started again, as a run of its own: with the largest smaller batch that has made a step, or else
/// half of that which did not fit, until it ends otherwise. The first event of such a run says what is made again. It
/// is not started again if its evaluation did not fit, it takes no batch size, or one example was too many. Throws what
/// open_program() and run_and_store() throw.
ProgramJob run_program(const run::RunSpec& spec, const program::Surroundings& surroundings, store::RunStore& store,
                       Watch& watch, const std::shared_ptr<run::JobControl>& control);

} // namespace batchscope::job
