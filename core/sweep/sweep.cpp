#include "core/sweep/sweep.h"
#include "core/run/engine.h"

#include <map>

#include "core/base/error.h"
#include "core/job/retry_transient.h"

namespace batchscope::sweep {

namespace {

using telemetry::RunStatus;

/// Whether a combination with a run of this status is done.
bool is_done(RunStatus status) {
  return status == RunStatus::finished || status == RunStatus::failed || status == RunStatus::running;
}

std::int64_t store_refused(store::RunStore& store, const run::RunSpec& spec, std::int64_t sweep,
                           const std::string& reason) {
  store::NewRun run;
  run.name = spec.name;
  run.spec_json = run::to_json(spec);
  run.sweep = sweep;
  if (spec.batch.kind == run::BatchChoice::Kind::number)
    run.batch = spec.batch.number;
  telemetry::RunOutcome outcome;
  outcome.status = RunStatus::failed;
  outcome.reason = reason;
  outcome.batch = run.batch;
  return store.add_finished(run, outcome);
}

/// A session whose batch is known; empty, with `reason` set, if this combination cannot run.
struct Ready {
  std::unique_ptr<run::Session> session;
  std::optional<search::SearchResult> search;
  std::string reason;
};

Ready make_ready(const run::RunSpec& spec, const std::shared_ptr<data::DataPool>& pool, job::Watch& watch,
                 const run::JobControl& control) {
  Ready ready;
  try {
    check(spec);
    ready.session = run::open_session(spec, pool);
    ready.search = job::settle_batch(*ready.session, watch, control);
    // Detects a first batch that exceeds the data before the run is stored as started.
    ready.session->start();
  } catch (const Error& error) {
    ready.session.reset();
    ready.reason = error.what();
  }
  return ready;
}

} // namespace

SweepPlan plan_sweep(const SweepSpec& spec, std::shared_ptr<data::DataPool> pool) {
  check(spec);
  SweepPlan plan{spec, {}, std::move(pool), {}};
  for (auto& run : combinations(spec))
    plan.runs.push_back({std::move(run), std::nullopt});
  run::RunSpec shared = spec.base;
  if (!spec.batches.empty())
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

SweepPlan plan_rest(const store::RunReader& reader, std::int64_t sweep, std::shared_ptr<data::DataPool> pool) {
  SweepPlan plan{sweep_spec_from_json(reader.sweep_json(sweep)), {}, std::move(pool), {}};
  std::map<std::string, std::int64_t> done;
  reader.at_one_moment([&] {
    for (const std::int64_t id : reader.runs_of_sweep(sweep))
      if (is_done(reader.run(id).outcome.status))
        done[run::to_json(run::run_spec_from_json(reader.spec_json(id)))] = id;
  });
  for (auto& run : combinations(plan.spec)) {
    const auto found = done.find(run::to_json(run));
    plan.runs.push_back({std::move(run), found == done.end() ? std::nullopt : std::optional(found->second)});
  }
  return plan;
}

namespace {

/// Runs the whole plan in order.
SweepResult run_all(SweepPlan& plan, std::int64_t sweep, store::RunStore& store, SweepWatch& watch,
                    const std::shared_ptr<run::JobControl>& control) {
  SweepResult result;
  for (std::size_t index = 0; index < plan.runs.size(); ++index) {
    const auto& [spec, run] = plan.runs[index];
    if (run) {
      result.runs.push_back(*run);
      continue;
    }
    if (control->stopping())
      continue;
    watch.combination(index, plan.runs.size(), spec);
    Ready ready = make_ready(spec, plan.pool, watch, *control);
    if (control->stopping())
      continue;
    if (!ready.session) {
      ++result.failed;
      job::retry_transient(watch, *control,
                           [&] { result.runs.push_back(store_refused(store, spec, sweep, ready.reason)); });
      watch.refused(result.runs.back(), ready.reason);
      continue;
    }
    plan.data = ready.session->data(); // kept until the next run uses them or has read others
    const job::JobResult job = job::run_and_store(*ready.session, spec, ready.search, store, sweep, watch, control);
    result.runs.push_back(job.id);
    result.finished += job.outcome.status == RunStatus::finished ? 1 : 0;
    result.failed += job.outcome.status == RunStatus::failed ? 1 : 0;
  }
  result.stopped = control->stopping();
  return result;
}

} // namespace

SweepResult run_sweep(SweepPlan plan, std::int64_t sweep, store::RunStore& store, SweepWatch& watch,
                      const std::shared_ptr<run::JobControl>& control) {
  try {
    return run_all(plan, sweep, store, watch, control);
  } catch (const Error& error) {
    // Runs were made already, so a database that became unusable is not bad input.
    throw Error(Error::Kind::failed, error.what());
  }
}

} // namespace batchscope::sweep
