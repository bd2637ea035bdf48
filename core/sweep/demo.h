#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/compare/answer.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "core/sweep/sweep.h"

namespace batchscope::sweep {

/// The parts of the demonstration, in order.
enum class DemoStage {
  search,    ///< a prediction, two trials and an answer
  bisection, ///< the same search by bisection, which has to run out of memory
  sweep,     ///< speed and accuracy of each batch size
  growing,   ///< a schedule that adds one example every 5 steps
  greedy,    ///< a schedule that asks for more than fits
};

/// Receives the progress of the demonstration.
class DemoWatch : public SweepWatch {
public:
  virtual void stage(DemoStage /*stage*/) {}
  /// A search is done; not called for a search that was stopped.
  virtual void searched(DemoStage /*stage*/, const search::SearchResult& /*result*/) {}
};

struct DemoResult {
  std::optional<std::int64_t> search_id; ///< nothing if stopped before the search was stored
  search::SearchResult search;
  std::int64_t sweep_id = 0;
  SweepResult sweep;
  std::vector<job::JobResult> schedules;
  bool stopped = false;

  std::vector<std::int64_t> runs() const; ///< those of the sweep, then those of the schedules
};

/// Number of runs after those of the sweep.
inline constexpr std::size_t demo_schedules = 2;

/// The common spec of its runs: the cnn on the bundled images with a small budget.
run::RunSpec demo_spec();

/// Runs the demonstration and stores it: search, sweep and recovery from out-of-memory errors on the bundled images, in
/// about a minute. Ends at the next boundary when `control` requests a stop. Throws what the store and the session
/// throw. One thread.
DemoResult run_demo(store::RunStore& store, DemoWatch& watch, const std::shared_ptr<run::JobControl>& control,
                    const std::shared_ptr<data::DataPool>& pool = std::make_shared<data::DataPool>());

/// The answer of its sweep: which batch size has the best validation accuracy. Ignores runs that were deleted
/// meanwhile.
compare::Answer answer_of(const store::RunReader& reader, const DemoResult& result);

} // namespace batchscope::sweep
