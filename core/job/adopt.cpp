#include "core/job/adopt.h"

#include <set>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/store/run_follower.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"

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
  // One that has ended is stored whole, whatever it had no time to tidy.
  if (status != telemetry::RunStatus::interrupted || !program::is_left(database, adoptable.row.uid))
    throw input_error(fmt::format("run {} is {} and has left nothing to recover", run, telemetry::to_string(status)));
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
  const std::vector<std::string> left = program::left_runs(database);
  std::set<std::string> others(left.begin(), left.end());
  if (others.empty())
    return;
  const store::RunReader reader(database);
  for (const store::RunRow& row : reader.list("status = running"))
    others.erase(row.uid);
  for (const store::RunRow& row : reader.list("status = interrupted")) {
    if (others.erase(row.uid) == 0 || program::program_lives(database, row.uid))
      continue;
    try {
      Watch nobody;
      adopt_and_store(find_adoptable(database, row.id), store, nobody, control);
    } catch (const Error&) {
      continue; // it stays interrupted; `run --adopt` says why
    }
  }
  if (others.empty())
    return;
  // A BatchScope that was killed after it had stored how they ended.
  for (const store::RunRow& row : reader.list())
    if (others.contains(row.uid) && !telemetry::is_open(row.outcome.status))
      program::tidy_stored(database, row.uid);
}

} // namespace batchscope::job
