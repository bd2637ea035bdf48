#include "core/sweep/sweep.h"

#include <map>

#include "core/base/error.h"
#include "core/job/retry_transient.h"
#include "core/run/engine.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "core/store/sweep_queue.h"
#include "core/sweep/settings_key.h"
#include "core/sweep/worker.h"

namespace batchscope::sweep {

namespace {

using telemetry::RunStatus;

/// Whether a combination with this run is done or in somebody's hands. A reason tells a run that was ended early or
/// skipped from one that was stopped in the middle of the work.
bool is_done(const telemetry::RunOutcome& outcome) {
  switch (outcome.status) {
  case RunStatus::finished:
  case RunStatus::failed:
  case RunStatus::running:
  case RunStatus::queued:
    return true;
  case RunStatus::stopped:
    return !outcome.reason.empty();
  default:
    return false;
  }
}

void add_missing_keys(std::int64_t sweep, store::RunStore& store) {
  store::SweepQueue(store, sweep).add_missing_keys([](const std::string& spec) { return settings_key_of(spec); });
}

} // namespace

SweepPlan plan_sweep(const SweepSpec& spec, std::shared_ptr<data::DataPool> pool) {
  check(spec);
  SweepPlan plan{spec, {}, std::move(pool), {}};
  for (auto& run : combinations(spec))
    plan.runs.push_back({std::move(run), std::nullopt});
  if (spec.base.program) {
    if (spec.base.on_oom == run::OnOom::restart)
      throw input_error(
          "--on-oom: restart is not accepted in a sweep, whose runs have the sizes that they are compared "
          "by; accepted: shrink, fail");
    for (const PlannedRun& planned : plan.runs)
      program::open_program(planned.spec);
    return plan;
  }
  // With the values of the first combination, but not its batch, which may be too large for the data.
  run::RunSpec shared = plan.runs.front().spec;
  shared.batch = {};
  try {
    const auto session = run::open_session(shared, plan.pool);
    plan.data = session->data();
  } catch (const Error& error) {
    // A budget below the model makes each run fail; the sweep itself is valid.
    if (error.kind() != Error::Kind::failed)
      throw;
  }
  return plan;
}

SweepPlan plan_rest(const store::RunReader& reader, std::int64_t sweep, const Extension& extension,
                    std::shared_ptr<data::DataPool> pool) {
  SweepPlan plan{stored_sweep_from_json(reader.sweep_json(sweep)), {}, std::move(pool), {}};
  if (!plan.spec.base.later_json.empty())
    run::check(plan.spec.base); // refuses it: its combinations are not known
  if (!extension.empty())
    plan.spec = extended(plan.spec, extension);
  std::map<std::string, std::int64_t> done;
  reader.at_one_moment([&] {
    for (const std::int64_t id : reader.runs_of_sweep(sweep))
      if (is_done(reader.run(id).outcome))
        done[settings_key_of(reader, id)] = id;
  });
  for (auto& run : combinations(plan.spec)) {
    const auto found = done.find(settings_key(run));
    plan.runs.push_back({std::move(run), found == done.end() ? std::nullopt : std::optional(found->second)});
  }
  return plan;
}

void enqueue(const SweepPlan& plan, std::int64_t sweep, store::RunStore& store) {
  std::vector<store::WaitingRun> waiting;
  for (const PlannedRun& planned : plan.runs)
    if (!planned.run)
      waiting.push_back({.id = 0,
                         .name = planned.spec.name,
                         .spec_json = run::to_json(planned.spec),
                         .settings_key = settings_key(planned.spec)});
  add_missing_keys(sweep, store);
  if (!waiting.empty())
    store::SweepQueue(store, sweep).add(waiting);
}

std::vector<std::int64_t> begun_runs(const SweepPlan& plan, std::int64_t sweep, store::RunStore& store) {
  std::map<std::string, std::int64_t> newest;
  for (const auto& [id, key] : store::SweepQueue(store, sweep).begun())
    newest[key] = id;
  std::vector<std::int64_t> runs;
  for (const PlannedRun& planned : plan.runs)
    if (const auto found = newest.find(settings_key(planned.spec)); found != newest.end())
      runs.push_back(found->second);
  return runs;
}

SweepResult run_sweep(SweepPlan plan, std::int64_t sweep, store::RunStore& store, SweepWatch& watch,
                      const std::shared_ptr<run::JobControl>& control, const WorkOptions& options) {
  watch.sweep_began(sweep);
  try {
    job::retry_transient(watch, *control, [&] {
      if (options.add_missing)
        enqueue(plan, sweep, store);
      else
        add_missing_keys(sweep, store);
    });
    Worker worker(plan.spec, sweep, plan.pool, store, watch, control, options);
    worker.work();
    SweepResult result;
    result.left = worker.left();
    if (control->stopping())
      store::SweepQueue(store, sweep).withdraw();
    result.runs = begun_runs(plan, sweep, store);
    result.finished = worker.finished();
    result.failed = worker.failed();
    result.stopped = control->stopping();
    return result;
  } catch (const Error& error) {
    // Runs were made already, so a database that became unusable is not bad input.
    throw Error(Error::Kind::failed, error.what());
  }
}

} // namespace batchscope::sweep
