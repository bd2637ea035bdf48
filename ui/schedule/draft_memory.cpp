#include "ui/schedule/draft_memory.h"

#include "core/run/spec_keys.h"

namespace batchscope::ui {

DraftMemory::DraftMemory(Workbench& workbench, QObject* parent)
    : QObject(parent), workbench_(workbench), forecaster_(workbench.engine().data()) {
  connect(&forecaster_, &Forecaster::computed, this, [this](const std::shared_ptr<const run::Forecast>& forecast) {
    forecasting_ = false;
    set(KnownMemory{forecast->curve, forecast->budget_bytes});
  });
  connect(&forecaster_, &Forecaster::refused, this, [this] {
    forecasting_ = false;
    set(std::nullopt);
  });
  connect(&workbench.engine(), &Engine::job_changed, this, [this](const Job* job) {
    if (spec_ && (job == probing_ || job->predicted()))
      look_up(run::RunSpec(*spec_));
    Q_EMIT text_changed();
  });
}

void DraftMemory::set(const std::optional<KnownMemory>& memory) {
  known_ = memory;
  Q_EMIT known_changed();
  Q_EMIT text_changed();
}

void DraftMemory::look_up(const run::RunSpec& spec) {
  const std::string key = run::memory_key(spec);
  const bool same = key == key_;
  spec_ = spec;
  key_ = key;
  const auto measured = known_memory(workbench_, spec);
  forecasting_ = !measured && !spec.program;
  if (!forecasting_) {
    forecaster_.cancel();
    return set(measured);
  }
  set(same ? known_ : std::nullopt);
  forecaster_.request(spec);
}

void DraftMemory::probe(const run::RunSpec& spec) {
  probing_ = workbench_.engine().predict(spec);
  connect(probing_, &Job::progressed, this, &DraftMemory::text_changed);
  Q_EMIT text_changed();
}

QString DraftMemory::text() const {
  if (known_ || forecasting_)
    return {};
  if (spec_ && spec_->program)
    return tr("A search for the batch size measures the memory of this program.");
  const bool waiting = probing_ && probing_->state() == Job::State::waiting;
  const Job* working = workbench_.engine().working();
  if (waiting && working != nullptr)
    return tr("Queued behind: %1").arg(working->title());
  if (waiting || (probing_ && probing_->state() == Job::State::working))
    return tr("Running two small trials.");
  if (probing_ && probing_->state() == Job::State::failed)
    return probing_->error();
  return tr("Two small trials predict the memory of every batch size in this plan.");
}

bool DraftMemory::can_probe() const {
  return !known_ && !forecasting_ && !(spec_ && spec_->program) && (!probing_ || probing_->over());
}

} // namespace batchscope::ui

#include "moc_draft_memory.cpp"
