#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/run/job_control.h"
#include "core/run/session.h"
#include "core/search/finder.h"
#include "core/store/run_store.h"
#include "core/telemetry/record.h"

namespace batchscope::job {

/// Sees what a job does while it does it. Every call but not_stored() and files_replaced() comes on the job's thread.
/// All must return at once.
class Watch : public telemetry::Sink {
public:
  virtual void probe(const search::Probe& /*probe*/, std::uint64_t /*budget_bytes*/) {}
  virtual void timing(const search::Timing& /*timing*/) {}
  /// A search is in the database now, under this number.
  virtual void search_stored(std::int64_t /*id*/) {}
  /// Whether a run whose batch no search has settled is to foretell its memory too; costs it a few small steps.
  virtual bool wants_prediction() const { return false; }
  /// A run is about to make its first step; `id` is its number in the database, `control` steers it and no other.
  virtual void started(std::int64_t /*id*/, const run::RunSpec& /*spec*/, const run::RunStart& /*start*/,
                       const std::shared_ptr<run::RunControl>& /*control*/) {}
  void record(const telemetry::StepRecord& /*record*/) override {}
  void event(telemetry::Event /*event*/) override {}
  /// Why the database does not take what the job has for it; it is tried again until it does, and told then with an
  /// empty text. On any thread.
  virtual void not_stored(const std::string& /*why*/) {}
  /// What was done where another program replaced the database's files. On any thread.
  virtual void files_replaced(const std::string& /*what*/) {}
  virtual void ended(std::int64_t /*id*/, const run::RunSummary& /*summary*/) {}
};

/// A run that was trained and stored.
struct JobResult {
  std::int64_t id = 0;
  std::optional<std::int64_t> search; ///< number of the search that chose its batch
  run::RunStart start;
  run::RunSummary summary;
};

/// Fixes the first batch by a search where the spec leaves it to one; nothing where it names a number. Stores nothing.
/// Throws Error (failed) where no size fits, or where `control` says stop.
std::optional<search::SearchResult> settle_batch(run::Session& session, Watch& watch, const run::JobControl& control);

/// Stores a search that is through, and returns its number. What a lock or a full disk refuses is tried again until
/// `control` says stop. Throws what the store throws.
std::int64_t store_search(const run::RunSpec& spec, const search::SearchResult& result, store::RunStore& store,
                          Watch& watch, const run::JobControl& control);

/// Runs a session whose batch is settled and stores it, with the search that settled it; insists as store_search()
/// does. The run has a control of its own and ends with the job. Throws what the store throws; a failure of the run
/// itself is in the result.
JobResult run_and_store(run::Session& session, const run::RunSpec& spec,
                        const std::optional<search::SearchResult>& search, store::RunStore& store,
                        std::optional<std::int64_t> sweep, Watch& watch,
                        const std::shared_ptr<run::JobControl>& control);

/// A summary as the store keeps it.
store::RunOutcome outcome_of(const run::RunSummary& summary, std::optional<std::int64_t> batch);

} // namespace batchscope::job
