#pragma once

#include <QObject>
#include <QString>

#include <memory>

#include "core/estimate/card_fit.h"
#include "core/run/memory_prediction.h"
#include "ui/threads/latest_task.h"

namespace batchscope::ui {

/// Computes the memory of a run that has not started, on a thread of its own, while the user types: a new request
/// replaces the one before. A prediction comes within 100 ms; if it lacks the workspace of convolutions, the complete
/// one follows. UI thread.
class MemoryPredictor : public QObject {
  Q_OBJECT

public:
  /// `data` is shared with others.
  explicit MemoryPredictor(std::shared_ptr<data::DataPool> data, QObject* parent = nullptr);

  void request(const run::RunSpec& spec);
  /// For a GPU that this machine does not have, by its name.
  void request_card(const run::RunSpec& spec, const QString& card);
  void cancel(); ///< discards the pending result

Q_SIGNALS:
  void computed(const std::shared_ptr<const batchscope::run::MemoryPrediction>& prediction);
  /// `savings`: empty at first, as they take longer.
  void card_computed(const std::shared_ptr<const batchscope::estimate::CardFit>& fit,
                     const std::vector<batchscope::estimate::Saving>& savings);
  void refused(const QString& error); ///< the spec or the data are invalid, or the device is a GPU

private:
  void hold_data(const run::RunSpec& spec);
  void add_savings(const run::RunSpec& spec, const std::shared_ptr<const estimate::CardFit>& fit,
                   estimate::DryRuns& dry_runs, const LatestTask::Progress& progress);
  void work(const run::RunSpec& spec, const LatestTask::Progress& progress);

  std::shared_ptr<data::DataPool> data_;
  std::shared_ptr<pretended_gpu::Helper> helper_ = std::make_shared<pretended_gpu::Helper>();
  data::DataSplit held_; ///< of the last request, so that the next one need not read them; its thread only
  LatestTask task_;      ///< last: its thread uses the others
};

} // namespace batchscope::ui
