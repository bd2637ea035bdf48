#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/run/job_control.h"
#include "core/run/session.h"
#include "core/search/finder.h"
#include "core/store/run_store.h"
#include "core/telemetry/record.h"

namespace batchscope::job {

/// A run that is about to make its first step.
struct StartedRun {
  std::int64_t id = 0; ///< in the database
  run::RunSpec spec;
  run::RunStart start;
  std::string began;                        ///< UTC, ISO 8601; of a run that goes on, when it first started
  std::shared_ptr<run::RunControl> control; ///< controls this run only
};

/// Receives the progress of a job. All calls but not_stored() and files_replaced() come on the job's thread. All must
/// return at once.
class Watch : public telemetry::Sink {
public:
  virtual void probe(const search::Probe& /*probe*/, std::uint64_t /*budget_bytes*/) {}
  virtual void timing(const search::Timing& /*timing*/) {}
  /// A search was stored in the database under this number.
  virtual void search_stored(std::int64_t /*id*/) {}
  /// Whether to predict the memory of a run whose batch was not chosen by a search; takes milliseconds on `cpu`, a few
  /// small steps on a GPU.
  virtual bool wants_prediction() const { return false; }
  /// Whether record() and event() are to report what a resumed run has stored before it goes on.
  virtual bool wants_history() const { return false; }
  virtual void started(const StartedRun& /*run*/) {}
  /// The run has learnt more of itself: a program that has connected.
  virtual void start_changed(std::int64_t /*id*/, const run::RunStart& /*start*/) {}
  void record(const telemetry::StepRecord& /*record*/) override {}
  void event(telemetry::Event /*event*/) override {}
  /// Why the job's results cannot be stored. The store keeps retrying; an empty text means that it succeeded. Any
  /// thread.
  virtual void not_stored(const std::string& /*why*/) {}
  /// Called with a notice after another program has replaced the database's files. Any thread.
  virtual void files_replaced(const std::string& /*what*/) {}
  virtual void ended(std::int64_t /*id*/, const telemetry::RunOutcome& /*outcome*/) {}
};

struct Resumable;
struct Adoptable;

/// A run that was trained and stored.
struct JobResult {
  std::int64_t id = 0;
  std::optional<std::int64_t> search; ///< number of the search that chose the batch
  run::RunStart start;
  telemetry::RunOutcome outcome;
};

/// Answers of searches of this job, so that runs for which the answer is the same do not search again.
class KnownSearches {
public:
  /// The answer for the spec's batch choice; nothing if none is known.
  const search::SearchResult* find(const run::RunSpec& spec) const;
  void add(const run::RunSpec& spec, const search::SearchResult& result);

private:
  std::map<std::string, search::SearchResult> results_;
};

/// Throws Error (input) for a spec whose run cannot begin, before its batch is searched for: choose_batch() calls it,
/// and who opens a database that may not exist yet before.
void check_can_begin(const run::RunSpec& spec);

/// Finds the first batch with a search if the spec asks for one and `known` (unless null) has no answer yet; returns
/// the search, or nothing without one. Throws Error (failed) if no size fits, or when `control` requests a stop; only
/// then it stores the search, with what it has run until then.
std::optional<search::SearchResult> choose_batch(run::Session& session, store::RunStore& store, Watch& watch,
                                                 const run::JobControl& control, KnownSearches* known = nullptr);

/// A search with its number in the database.
struct StoredSearch {
  search::SearchResult result;
  std::int64_t id = 0;
};

/// Searches with these options.
using Find = std::function<search::SearchResult(const run::Session::SearchOptions&, const run::Session::ProbeSink&)>;

/// Searches and stores what was found; for a search that `control` stops, what it has run until then, or nothing if
/// that is no size. `budget_bytes`: for `watch`; 0: none. Throws what `find` and the store throw.
std::optional<StoredSearch> search_and_store(const run::RunSpec& spec, run::Session::SearchOptions options,
                                             std::uint64_t budget_bytes, const Find& find, store::RunStore& store,
                                             Watch& watch, const run::JobControl& control);

/// Stores a finished search and returns its number. Retries while the database is locked or the disk is full, until
/// `control` requests a stop. Throws what the store throws.
std::int64_t store_search(const run::RunSpec& spec, const search::SearchResult& result, store::RunStore& store,
                          Watch& watch, const run::JobControl& control);

/// Options for one run of a job.
struct RunOptions {
  std::optional<std::int64_t> sweep;   ///< number of its sweep
  std::optional<std::int64_t> claimed; ///< number of the waiting run that it is, see store::SweepQueue
  /// Called after each step; a text ends the run, which is then `stopped` for that reason. May be empty. Training
  /// loop's thread; must return at once.
  std::function<std::optional<std::string>(const telemetry::StepRecord&)> end_early;
  std::optional<telemetry::EventBody> first_event; ///< before all others of the run
  const Resumable* resumed = nullptr;              ///< the run goes on: the session is that of open_resumed()
  const Adoptable* adopted = nullptr;              ///< the run goes on: see adopt_and_store()
};

/// Makes a run whose batch is known (to a session that has one) and stores it, together with the search that chose the
/// batch. Retries as store_search() does. The run has its own RunControl and ends with the job. Throws what the store
/// throws; a failure of the run itself is in the result.
JobResult run_and_store(run::Source& source, const run::RunSpec& spec,
                        const std::optional<search::SearchResult>& search, store::RunStore& store,
                        const RunOptions& options, Watch& watch, const std::shared_ptr<run::JobControl>& control);

} // namespace batchscope::job
