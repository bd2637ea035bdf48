#include "ui/memory/memory_predictor.h"

#include <utility>

#include "core/base/error.h"
#include "core/run/model_spec.h"

namespace batchscope::ui {

MemoryPredictor::MemoryPredictor(std::shared_ptr<data::DataPool> data, QObject* parent)
    : QObject(parent), data_(std::move(data)) {}

void MemoryPredictor::request(const run::RunSpec& spec) {
  task_.start([this, spec](const LatestTask::Progress& progress) { work(spec, progress); });
}

void MemoryPredictor::request_card(const run::RunSpec& spec, const QString& card) {
  task_.start([this, spec, card](const LatestTask::Progress& progress) {
    try {
      hold_data(spec);
      const estimate::Target target = estimate::parse_target(card.toStdString(), "--for");
      run::RunSpec on_cpu = spec; // where it has a dry run
      on_cpu.device = "cpu";
      estimate::DryRuns dry_runs(target, helper_);
      auto fit = std::make_shared<const estimate::CardFit>(estimate::fit_into(on_cpu, dry_runs, *data_));
      progress.post([this, fit] { Q_EMIT card_computed(fit, {}); });
      add_savings(on_cpu, fit, dry_runs, progress);
    } catch (const std::exception& error) {
      progress.post([this, what = QString::fromUtf8(error.what())] { Q_EMIT refused(what); });
    }
  });
}

/// They take longer than the fit, which stays what it is without them.
void MemoryPredictor::add_savings(const run::RunSpec& spec, const std::shared_ptr<const estimate::CardFit>& fit,
                                  estimate::DryRuns& dry_runs, const LatestTask::Progress& progress) {
  try {
    const auto savings =
        estimate::savings_of(spec, *fit, dry_runs, *data_, [&progress] { return progress.replaced(); });
    progress.post([this, fit, savings] { Q_EMIT card_computed(fit, savings); });
  } catch (const Error&) {
  }
}

void MemoryPredictor::hold_data(const run::RunSpec& spec) {
  held_ = data_->open(spec.data, run::data_options(spec));
}

void MemoryPredictor::cancel() {
  task_.cancel();
}

void MemoryPredictor::work(const run::RunSpec& spec, const LatestTask::Progress& progress) {
  try {
    hold_data(spec);
    for (const auto workspace : {run::Engine::Workspace::known_only, run::Engine::Workspace::learn}) {
      if (progress.replaced())
        return;
      auto prediction = std::make_shared<const run::MemoryPrediction>(run::predict_memory(spec, *data_, workspace));
      progress.post([this, prediction] { Q_EMIT computed(prediction); });
      if (prediction->complete)
        return;
    }
  } catch (const std::exception& error) {
    progress.post([this, what = QString::fromUtf8(error.what())] { Q_EMIT refused(what); });
  }
}

} // namespace batchscope::ui

#include "moc_memory_predictor.cpp"
