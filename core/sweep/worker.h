#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/run/memory_prediction.h"
#include "core/store/run_store.h"
#include "core/store/sweep_queue.h"
#include "core/sweep/finished_runs.h"
#include "core/sweep/sweep.h"

namespace batchscope::sweep {

/// Takes waiting runs of a sweep and makes them, one after the other. One thread.
class Worker {
public:
  Worker(const SweepSpec& sweep, std::int64_t id, std::shared_ptr<data::DataPool> pool, store::RunStore& store,
         SweepWatch& watch, const std::shared_ptr<run::JobControl>& control, const WorkOptions& options);

  /// Works until nothing is left or the job is stopped.
  void work();

  std::int64_t finished() const { return finished_; }
  std::int64_t failed() const { return failed_; }
  /// Why it has ended with runs left: its own GPU is not there. Empty: it is.
  const std::string& left() const { return left_; }

private:
  /// Whether the claim may leave something to wait for.
  bool is_done(const store::SweepQueue::Claim& claim) const;
  store::SweepQueue::Claim claim();
  void add_need(const std::string& spec_json);
  std::optional<std::uint64_t> reserve(const store::WaitingRun& run, const store::SweepQueue::Load& load);
  void make(const store::WaitingRun& waiting, const run::RunSpec& spec);
  void make_of_program(const store::WaitingRun& waiting, const run::RunSpec& spec);
  void refuse(const store::WaitingRun& waiting, const run::RunSpec& spec, const std::string& reason);
  void train(run::Source& source, const std::optional<search::SearchResult>& search, const store::WaitingRun& waiting,
             const run::RunSpec& spec);

  const SweepSpec& sweep_;
  const std::int64_t id_;
  const std::shared_ptr<data::DataPool> pool_;
  store::RunStore& store_;
  store::SweepQueue queue_;
  SweepWatch& watch_;
  const std::shared_ptr<run::JobControl> control_;
  const WorkOptions options_;

  data::DataSplit data_; ///< of the last run, kept until the next one uses them or has read others
  job::KnownSearches searches_;
  /// Memory that a run needs by its spec's JSON, once it was computed: the peak of a dry run and the budget.
  struct Need {
    std::uint64_t peak = 0;
    std::uint64_t budget = 0;
  };
  std::map<std::string, Need> needs_;
  std::optional<std::string> unknown_need_;   ///< the first spec that the last claim passed over for want of its need
  std::optional<FinishedRuns> finished_runs_; ///< if weak runs end early
  std::size_t made_ = 0;
  std::int64_t finished_ = 0;
  std::int64_t failed_ = 0;
  std::string left_;
};

} // namespace batchscope::sweep
