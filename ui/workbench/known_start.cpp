#include "ui/workbench/known_start.h"

#include <ranges>

#include "core/program/trial/tryout.h"

namespace batchscope::ui {

namespace {

/// Whether what a program said when it was started with one spec holds for the other. Its own batch size is not known
/// from a start with another one, and it accumulates as often as it was told to.
bool says_the_same(const run::RunSpec& started, const run::RunSpec& other) {
  return started.program && other.program && same_program(*started.program, *other.program) &&
         started.accumulate == other.accumulate &&
         (other.batch.kind == run::BatchChoice::Kind::number || started.batch.kind != run::BatchChoice::Kind::number);
}

bool can_be_planned(const std::optional<run::RunStart>& start) {
  return start && start->program && start->program->level >= 2 && start->train_examples > 0;
}

} // namespace

bool same_program(const run::ProgramSpec& one, const run::ProgramSpec& other) {
  return one.command == other.command && one.folder == other.folder && one.attach == other.attach &&
         one.set == other.set;
}

std::optional<run::RunStart> known_start(Workbench& workbench, const run::RunSpec& spec) {
  for (const Job* job : std::ranges::reverse_view(workbench.job_queue().jobs()))
    if (job->tried() && can_be_planned(job->tried()->start) && says_the_same(job->spec(), spec))
      return job->tried()->start;
  for (const OpenRun* run : workbench.opened())
    if (run->spec() && can_be_planned(run->start()) && says_the_same(*run->spec(), spec))
      return run->start();
  return std::nullopt;
}

} // namespace batchscope::ui
