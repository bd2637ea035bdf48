#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/sweep/recommend.h"
#include "core/sweep/sweep.h"

namespace batchscope::sweep {

/// What the demonstration does, in this order.
enum class DemoStage {
  search,    ///< three probes and an answer
  bisection, ///< the same answer by a search that has to run out of memory
  sweep,     ///< what each size costs and brings
  growing,   ///< a schedule: one example more every 5 steps
  greedy,    ///< a schedule that asks for more than fits
};

/// Sees the demonstration go on, besides what each of its runs does.
class DemoWatch : public SweepWatch {
public:
  virtual void stage(DemoStage /*stage*/) {}
  /// A search is through; not called for one that was stopped.
  virtual void searched(DemoStage /*stage*/, const search::SearchResult& /*result*/) {}
};

struct DemoResult {
  std::optional<std::int64_t> search_id; ///< nothing where it was stopped before
  search::SearchResult search;
  std::int64_t sweep_id = 0;
  SweepResult sweep;
  std::vector<job::JobResult> schedules;
  std::int64_t validation_examples = 0;
  bool stopped = false;

  std::vector<std::int64_t> runs() const; ///< of the sweep, then of the schedules
};

/// How many runs come after those of the sweep.
inline constexpr std::size_t demo_schedules = 2;

/// What all of its runs have in common: the cnn on the bundled images within a small budget.
run::RunSpec demo_spec();

/// Find, sweep, survive running out of memory: the main job on the bundled images, in about a minute. Stores it all.
/// Ends at the next boundary where `control` says stop. Throws what the store and the session throw. One thread.
DemoResult run_demo(store::RunStore& store, DemoWatch& watch, const std::shared_ptr<run::JobControl>& control,
                    const std::shared_ptr<data::DataPool>& pool = std::make_shared<data::DataPool>());

/// The size that its sweep speaks for; runs that were deleted meanwhile say nothing.
std::optional<Recommendation> recommend(const store::RunReader& reader, const DemoResult& result);

} // namespace batchscope::sweep
