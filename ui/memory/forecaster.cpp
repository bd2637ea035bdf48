#include "ui/memory/forecaster.h"

#include <utility>

#include "core/run/model_spec.h"

namespace batchscope::ui {

Forecaster::Forecaster(std::shared_ptr<data::DataPool> data, QObject* parent)
    : QObject(parent), data_(std::move(data)) {}

void Forecaster::request(const run::RunSpec& spec) {
  task_.start([this, spec](const LatestTask::Progress& progress) { work(spec, progress); });
}

void Forecaster::cancel() {
  task_.cancel();
}

void Forecaster::work(const run::RunSpec& spec, const LatestTask::Progress& progress) {
  try {
    held_ = data_->open(spec.data, {.context = run::parse_model(spec.model).context()});
    for (const auto workspace : {run::Engine::Workspace::known_only, run::Engine::Workspace::learn}) {
      if (progress.replaced())
        return;
      auto forecast = std::make_shared<const run::Forecast>(run::forecast(spec, *data_, workspace));
      progress.post([this, forecast] { Q_EMIT computed(forecast); });
      if (forecast->complete)
        return;
    }
  } catch (const std::exception& error) {
    progress.post([this, what = QString::fromUtf8(error.what())] { Q_EMIT refused(what); });
  }
}

} // namespace batchscope::ui

#include "moc_forecaster.cpp"
