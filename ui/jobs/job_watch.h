#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "core/sweep/demo.h"
#include "ui/jobs/job_queue.h"

namespace batchscope::ui {

/// Forwards reports about a job from the worker thread to the Job on the UI thread. Constructed on the UI thread, then
/// used by the worker only, except where noted.
class JobWatch : public sweep::DemoWatch {
public:
  /// `reports` outlives it.
  JobWatch(Job& job, std::shared_ptr<run::JobControl> control, UiQueue& reports);

  const std::shared_ptr<run::JobControl>& control() const { return control_; } ///< of the job
  bool wants_prediction() const override { return true; }
  bool wants_history() const override { return true; }

  // --- the worker's thread ---
  void probe(const search::Probe& probe, std::uint64_t budget_bytes) override;
  void timing(const search::Timing& timing) override;
  void search_stored(std::int64_t id) override;
  void started(const job::StartedRun& run) override;
  void start_changed(std::int64_t id, const run::RunStart& start) override;
  void record(const telemetry::StepRecord& record) override;
  void event(telemetry::Event event) override;
  void ended(std::int64_t id, const telemetry::RunOutcome& outcome) override;
  void sweep_began(std::int64_t sweep) override;
  void combination(std::size_t index, std::size_t count, const run::RunSpec& spec) override;
  void stage(sweep::DemoStage stage) override;
  void searched(sweep::DemoStage stage, const search::SearchResult& result) override;

  void begin_search(); ///< its probes are shown
  void found(const search::SearchResult& result);
  void answered(const compare::Answer& answer);
  void predicted(const predict::PeakCurve& curve);
  void trying(const program::Tryout& so_far);
  void tried(const program::Tryout& tried);
  /// `savings`: those that are known so far.
  void fitted(const search::SearchResult& result, const std::vector<program::CardSaving>& savings);
  void limit(std::uint64_t budget_bytes);
  void say(const QString& activity);

  // --- any thread ---
  void not_stored(const std::string& why) override;
  /// Share of the work done, 0..1; nothing if unknown.
  std::optional<double> progress() const;

private:
  /// Runs `change` on the job in the UI thread.
  void post(std::function<void(Job&)> change);
  void show(const QString& activity);

  Job& job_;
  std::shared_ptr<run::JobControl> control_;
  UiQueue& reports_;
  /// Owned by the view of the run; without a view, records go only to the store.
  std::weak_ptr<telemetry::RecordQueue> queue_;
  std::vector<search::Probe> probes_;
  std::int64_t farthest_ = 1; ///< largest batch for which the prediction is drawn
  bool drawn_ = false;        ///< probes belong to the search that is shown

  std::mutex mutex_;
  QString activity_; ///< guarded by mutex_; the latest text

  std::atomic<std::int64_t> step_{0};
  std::atomic<std::int64_t> expected_steps_{0}; ///< 0: unknown
  std::atomic<std::int64_t> part_{0};           ///< runs of the job that have ended
  std::atomic<std::int64_t> parts_{1};          ///< 0: unknown
};

} // namespace batchscope::ui
