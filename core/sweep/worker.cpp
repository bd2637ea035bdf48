#include "core/sweep/worker.h"

#include <chrono>
#include <thread>

#include "core/base/error.h"
#include "core/job/retry_transient.h"
#include "core/run/engine.h"
#include "core/run/run_plan.h"
#include "core/store/run_store.h"

namespace batchscope::sweep {

namespace {

using telemetry::RunOutcome;
using telemetry::RunStatus;

/// Between two looks at the queue while others work.
constexpr std::chrono::milliseconds pause{100};
/// Between two looks for runs that other programs have finished.
constexpr std::chrono::milliseconds look_for_finished{1000};

/// Whether the run takes no more memory than one step at its first batch: a search before it takes all that there is,
/// and a schedule may.
bool keeps_its_batch(const run::RunSpec& spec) {
  return spec.batch.kind == run::BatchChoice::Kind::number && spec.schedule == run::RunSpec{}.schedule;
}

} // namespace

Worker::Worker(const SweepSpec& sweep, std::int64_t id, std::shared_ptr<data::DataPool> pool, store::RunStore& store,
               SweepWatch& watch, const std::shared_ptr<run::JobControl>& control, const WorkOptions& options)
    : sweep_(sweep), id_(id), pool_(std::move(pool)), store_(store), queue_(store, id), watch_(watch),
      control_(control), options_(options) {
  if (sweep_.stop_weak == StopWeak::median)
    finished_runs_.emplace(store_.file(), id_, options_.shared ? std::optional(look_for_finished) : std::nullopt);
}

void Worker::work() {
  while (!control_->stopping() && left_.empty()) {
    const auto claim = this->claim();
    if (claim.run) {
      const auto spec = run::stored_spec_from_json(claim.run->spec_json);
      watch_.combination(made_, made_ + static_cast<std::size_t>(claim.waiting) + 1, spec);
      ++made_;
      make(*claim.run, spec);
    } else if (is_done(claim)) {
      return;
    } else {
      std::this_thread::sleep_for(pause);
    }
  }
}

// Runs of other programs may come back, if one of them dies, and what waits may be waiting for their memory.
bool Worker::is_done(const store::SweepQueue::Claim& claim) const {
  return claim.waiting == 0 && (!options_.shared || claim.open == 0);
}

store::SweepQueue::Claim Worker::claim() {
  while (true) {
    store::SweepQueue::Claim claim;
    unknown_need_.reset();
    job::retry_transient(watch_, *control_, [&] {
      claim = queue_.claim([this](const store::WaitingRun& run, const store::SweepQueue::Load& load) {
        return options_.shared && !options_.own_card ? reserve(run, load) : std::optional<std::uint64_t>(0);
      });
    });
    if (claim.run || !unknown_need_)
      return claim;
    add_need(*unknown_need_);
  }
}

// A dry run takes longer than the store's thread may be kept, so it is made between two claims.
void Worker::add_need(const std::string& spec_json) {
  const run::RunSpec spec = run::stored_spec_from_json(spec_json);
  Need need;
  if (spec.program) { // each has a budget of its own
    needs_[spec_json] = need;
    return;
  }
  try {
    const run::MemoryPrediction prediction = run::predict_memory(spec, *pool_);
    need.budget = prediction.budget_bytes;
    need.peak = keeps_its_batch(spec) ? std::min(prediction.peak.bytes, need.budget) : need.budget;
  } catch (const Error&) {
    // A run without a dry run gets the memory for itself; a run that cannot be made at all fails when it starts.
    need.budget = spec.memory_budget.value_or(1);
    need.peak = need.budget;
  }
  needs_[spec_json] = need;
}

std::optional<std::uint64_t> Worker::reserve(const store::WaitingRun& run, const store::SweepQueue::Load& load) {
  const auto need = needs_.find(run.spec_json);
  if (need == needs_.end()) {
    if (!unknown_need_)
      unknown_need_ = run.spec_json;
    return std::nullopt;
  }
  const auto [peak, budget] = need->second;
  if (peak == 0)
    return 0;
  return load.reserved_bytes + peak <= budget ? std::optional(peak) : std::nullopt;
}

void Worker::make_of_program(const store::WaitingRun& waiting, const run::RunSpec& spec) {
  std::unique_ptr<run::Source> source;
  try {
    source = program::open_program(spec, options_.surroundings);
  } catch (const Error& error) {
    return refuse(waiting, spec, error.what());
  }
  train(*source, std::nullopt, waiting, spec);
}

void Worker::make(const store::WaitingRun& waiting, const run::RunSpec& spec) {
  if (spec.program)
    return make_of_program(waiting, spec);
  std::unique_ptr<run::Session> session;
  std::optional<search::SearchResult> search;
  std::string refused;
  try {
    check(spec);
    session = run::open_session(spec, pool_);
    search = job::choose_batch(*session, store_, watch_, *control_, &searches_);
    // Detects a first batch that exceeds the data before the run is stored as started.
    session->start();
  } catch (const Error& error) {
    if (error.kind() == Error::Kind::device_lost || (options_.own_card && error.kind() == Error::Kind::unavailable)) {
      queue_.release(waiting.id); // another process can make it
      if (error.kind() == Error::Kind::device_lost)
        throw;
      left_ = error.what();
      return;
    }
    refused = error.what();
  }
  if (control_->stopping())
    queue_.release(waiting.id);
  else if (!refused.empty())
    refuse(waiting, spec, refused);
  else {
    data_ = session->data();
    train(*session, search, waiting, spec);
  }
}

void Worker::refuse(const store::WaitingRun& waiting, const run::RunSpec& spec, const std::string& reason) {
  store::NewRun run;
  run.name = spec.name;
  run.spec_json = waiting.spec_json;
  run.sweep = id_;
  run.claimed = waiting.id;
  if (spec.batch.kind == run::BatchChoice::Kind::number)
    run.batch = spec.batch.number;
  RunOutcome outcome;
  outcome.status = RunStatus::failed;
  outcome.reason = reason;
  outcome.batch = run.batch;
  ++failed_;
  std::unique_ptr<store::RunWriter> writer;
  job::retry_transient(watch_, *control_, [&] { writer = store_.begin(run); });
  job::retry_transient(watch_, *control_, [&] { writer->finish(outcome); });
  watch_.refused(writer->id(), reason);
}

void Worker::train(run::Source& source, const std::optional<search::SearchResult>& search,
                   const store::WaitingRun& waiting, const run::RunSpec& spec) {
  LossCurve curve(run::countable_length(spec, source.start().batch));
  job::RunOptions options{.sweep = id_, .claimed = waiting.id, .end_early = {}};
  if (finished_runs_) {
    finished_runs_->refresh();
    options.end_early = [&](const telemetry::StepRecord& record) {
      const auto part = curve.take(record);
      return part ? finished_runs_->known()->judge(curve, *part) : std::nullopt;
    };
  }
  const job::JobResult job = job::run_and_store(source, spec, search, store_, options, watch_, control_);
  finished_ += job.outcome.status == RunStatus::finished ? 1 : 0;
  failed_ += job.outcome.status == RunStatus::failed ? 1 : 0;
}

} // namespace batchscope::sweep
