#include "core/job/adopt.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/store/run_follower.h"

namespace batchscope::job {

namespace {

void read_all(const std::filesystem::path& database, Adoptable& adoptable) {
  adoptable.left.progress = telemetry::RunProgress(telemetry::RunStatus::running, adoptable.row.outcome.batch);
  store::RunFollower follower(database, adoptable.row.id);
  store::RunFollower::Update update;
  do {
    update = follower.poll();
    for (const telemetry::StepRecord& record : update.records)
      adoptable.left.take(record);
    for (const telemetry::Event& event : update.events)
      adoptable.left.take(event);
  } while (update.more);
}

} // namespace

Adoptable find_adoptable(const std::filesystem::path& database, std::int64_t run) {
  const store::RunReader reader(database);
  Adoptable adoptable;
  adoptable.row = reader.run(run);
  const auto spec = run::stored_spec(reader.spec_json(run));
  if (!spec || !spec->program)
    throw input_error(fmt::format("run {} is no run of a program of your own", run));
  const telemetry::RunStatus status = adoptable.row.outcome.status;
  if (telemetry::is_open(status))
    throw input_error(fmt::format("run {} is {}: a BatchScope watches its program; `watch {}` follows it", run,
                                  telemetry::to_string(status), run));
  if (!program::is_left(database, adoptable.row.uid))
    throw input_error(fmt::format("run {} is {} and has left nothing to take in", run, telemetry::to_string(status)));
  adoptable.spec = *spec;
  adoptable.start = run::stored_start(reader.start_json(run));
  read_all(database, adoptable);
  return adoptable;
}

JobResult adopt_and_store(const Adoptable& adoptable, store::RunStore& store, Watch& watch,
                          const std::shared_ptr<run::JobControl>& control) {
  const auto source = program::adopt_program(adoptable.spec, adoptable.start, adoptable.left);
  RunOptions options;
  options.adopted = &adoptable;
  return run_and_store(*source, adoptable.spec, {}, store, options, watch, control);
}

void adopt_ended(store::RunStore& store, const std::shared_ptr<run::JobControl>& control) {
  const std::filesystem::path database = store.file();
  if (!std::filesystem::exists(program::folder_of_program(database, {})))
    return;
  for (const store::RunRow& row : store::RunReader(database).list("status = interrupted")) {
    if (!program::is_left(database, row.uid) || program::program_lives(database, row.uid))
      continue;
    try {
      Watch nobody;
      adopt_and_store(find_adoptable(database, row.id), store, nobody, control);
    } catch (const Error&) {
      continue; // it stays interrupted; `run --adopt` says why
    }
  }
}

} // namespace batchscope::job
