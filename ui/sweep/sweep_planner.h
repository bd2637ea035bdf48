#pragma once

#include <QObject>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/data/data_pool.h"
#include "ui/sweep/sweep_content.h"
#include "ui/threads/latest_task.h"

namespace batchscope::ui {

/// The predictions of the entries of a sweep, in their order; those of runs that have ended are left empty.
using RunPredictions = std::vector<sweep::RunPrediction>;

/// Makes the runs of a plan and predicts their memory and time, on a thread of its own; the newest request wins. What
/// was predicted before is kept, so that a plan that grows by a value takes no longer than that value. UI thread.
class SweepPlanner : public QObject {
  Q_OBJECT

public:
  SweepPlanner(std::filesystem::path database, std::shared_ptr<data::DataPool> data, QObject* parent = nullptr);
  ~SweepPlanner() override;

  void plan(const sweep::SweepSpec& spec);
  /// Predicts the runs of a stored sweep that have not ended, whose entries these are.
  void predict(const std::shared_ptr<const SweepContent>& content, const std::vector<std::size_t>& entries);
  /// Times are estimated anew from the runs of the database.
  void forget_times();

Q_SIGNALS:
  /// Comes at once, with the predictions that were predicted for earlier plans.
  void planned(const std::shared_ptr<const batchscope::ui::SweepContent>& content,
               const std::shared_ptr<const batchscope::ui::RunPredictions>& predictions);
  /// Follows planned(), with the same content.
  void predicted(const std::shared_ptr<const batchscope::ui::SweepContent>& content,
                 const std::shared_ptr<const batchscope::ui::RunPredictions>& predictions);
  void refused(const QString& why); ///< the plan is not valid

private:
  class Known;

  void predict_in(const std::shared_ptr<const SweepContent>& content, const std::vector<std::size_t>& entries,
                  const LatestTask::Progress& progress);

  std::shared_ptr<const RunPredictions> seen(const SweepContent& content) const;

  const std::filesystem::path database_;
  const std::shared_ptr<data::DataPool> data_;
  std::unordered_map<std::string, sweep::RunPrediction> seen_; ///< by SweepEntry::prediction_key
  std::atomic<bool> times_known_{false};
  std::unique_ptr<Known> known_; ///< used by the task only
  LatestTask combining_;         ///< fast, while a dry run may take a fraction of a second
  LatestTask task_;              ///< last: they use all of the above
};

} // namespace batchscope::ui
