#include "ui/sweep/sweep_planner.h"

#include <map>
#include <numeric>
#include <utility>

#include "core/base/error.h"
#include "core/run/model_spec.h"
#include "core/store/run_reader.h"

namespace batchscope::ui {

/// Predictions, throughputs and data kept from earlier plans.
class SweepPlanner::Known {
public:
  Known(std::filesystem::path database, std::shared_ptr<data::DataPool> pool)
      : database_(std::move(database)), pool_(std::move(pool)) {}

  void read_times() {
    predictions_.clear();
    try {
      throughputs_ = {};
      if (std::filesystem::exists(database_) && std::filesystem::file_size(database_) > 0)
        throughputs_ = sweep::Throughputs(store::RunReader(database_).list("status = finished"));
    } catch (const std::exception&) {
      // The list of runs reports what is wrong with the database; times stay unknown.
    }
  }

  /// Fills in the predictions of these entries; false if it was stopped.
  bool predict(const SweepContent& content, const std::vector<std::size_t>& entries, RunPredictions& predictions,
               const std::function<bool()>& stop) {
    if (content.spec.base.program)
      return true; // only its own steps show what a program needs
    hold_data(content.spec.base);
    std::vector<run::RunSpec> unknown;
    std::vector<std::string> unknown_keys;
    for (const std::size_t entry : entries) {
      const std::string& key = content.entries[entry].prediction_key;
      if (predictions_.emplace(key, sweep::RunPrediction{}).second) {
        unknown_keys.push_back(key);
        unknown.push_back(content.entries[entry].spec);
      }
    }
    const auto found = sweep::predict_runs(unknown, *pool_, throughputs_, stop);
    for (std::size_t i = 0; i < unknown.size(); ++i)
      if (i < found.size())
        predictions_[unknown_keys[i]] = found[i];
      else
        predictions_.erase(unknown_keys[i]);
    if (found.size() < unknown.size())
      return false;
    for (const std::size_t entry : entries)
      predictions[entry] = predictions_[content.entries[entry].prediction_key];
    return true;
  }

private:
  /// Reads the data once for all predictions.
  void hold_data(const run::RunSpec& base) {
    try {
      held_ = pool_->open(base.data, run::data_options(base));
    } catch (const std::exception&) {
      held_ = {}; // each run's prediction says what is wrong
    }
  }

  const std::filesystem::path database_;
  const std::shared_ptr<data::DataPool> pool_;
  data::DataSplit held_;
  sweep::Throughputs throughputs_;
  std::map<std::string, sweep::RunPrediction> predictions_; ///< by the JSON of a spec
};

SweepPlanner::SweepPlanner(std::filesystem::path database, std::shared_ptr<data::DataPool> data, QObject* parent)
    : QObject(parent), database_(std::move(database)), data_(std::move(data)),
      known_(std::make_unique<Known>(database_, data_)) {}

SweepPlanner::~SweepPlanner() = default;

void SweepPlanner::plan(const sweep::SweepSpec& spec) {
  task_.cancel();
  combining_.start([this, spec](const LatestTask::Progress& progress) {
    try {
      auto content = std::make_shared<const SweepContent>(content_of(spec));
      progress.post([this, content] {
        Q_EMIT planned(content, seen(*content));
        std::vector<std::size_t> all(content->entries.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        predict(content, all);
      });
    } catch (const std::exception& error) {
      progress.post([this, what = QString::fromUtf8(error.what())] { Q_EMIT refused(what); });
    }
  });
}

std::shared_ptr<const RunPredictions> SweepPlanner::seen(const SweepContent& content) const {
  auto predictions = std::make_shared<RunPredictions>();
  for (const SweepEntry& entry : content.entries) {
    const auto known = seen_.find(entry.prediction_key);
    predictions->push_back(known == seen_.end() ? sweep::RunPrediction{} : known->second);
  }
  return predictions;
}

void SweepPlanner::predict(const std::shared_ptr<const SweepContent>& content,
                           const std::vector<std::size_t>& entries) {
  task_.start([this, content, entries](const LatestTask::Progress& progress) {
    try {
      if (!times_known_.exchange(true))
        known_->read_times();
      predict_in(content, entries, progress);
    } catch (const std::exception&) {
      // Without the engine there are no predictions; the runs themselves report it.
    }
  });
}

void SweepPlanner::predict_in(const std::shared_ptr<const SweepContent>& content,
                              const std::vector<std::size_t>& entries, const LatestTask::Progress& progress) {
  auto predictions = std::make_shared<RunPredictions>(content->entries.size());
  if (known_->predict(*content, entries, *predictions, [&] { return progress.replaced(); }))
    progress.post(
        [this, content, entries, predictions = std::shared_ptr<const RunPredictions>(std::move(predictions))] {
          for (const std::size_t entry : entries)
            seen_[content->entries[entry].prediction_key] = (*predictions)[entry];
          Q_EMIT predicted(content, predictions);
        });
}

void SweepPlanner::forget_times() {
  times_known_ = false;
}

} // namespace batchscope::ui

#include "moc_sweep_planner.cpp"
