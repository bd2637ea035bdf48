#include "ui/schedule/draft_memory.h"

#include "core/run/spec_keys.h"

namespace batchscope::ui {

DraftMemory::DraftMemory(Workbench& workbench, QObject* parent)
    : QObject(parent), workbench_(workbench), predictor_(workbench.job_queue().data()) {
  connect(&predictor_, &MemoryPredictor::computed, this,
          [this](const std::shared_ptr<const run::MemoryPrediction>& prediction) {
            predicting_ = false;
            set(KnownPrediction{prediction->curve, prediction->budget_bytes});
          });
  connect(&predictor_, &MemoryPredictor::refused, this, [this] {
    predicting_ = false;
    set(std::nullopt);
  });
  connect(&workbench.job_queue(), &JobQueue::job_changed, this, [this](const Job* job) {
    if (spec_ && (job == probing_ || job->predicted()))
      look_up(run::RunSpec(*spec_));
    Q_EMIT text_changed();
  });
}

void DraftMemory::set(const std::optional<KnownPrediction>& memory) {
  known_ = memory;
  Q_EMIT known_changed();
  Q_EMIT text_changed();
}

void DraftMemory::look_up(const run::RunSpec& spec) {
  const std::string key = run::memory_key(spec);
  const bool same = key == key_;
  spec_ = spec;
  key_ = key;
  const auto measured = known_prediction(workbench_, spec);
  predicting_ = !measured && !spec.program;
  if (!predicting_) {
    predictor_.cancel();
    return set(measured);
  }
  set(same ? known_ : std::nullopt);
  predictor_.request(spec);
}

void DraftMemory::probe(const run::RunSpec& spec) {
  probing_ = workbench_.job_queue().predict(spec);
  connect(probing_, &Job::progressed, this, &DraftMemory::text_changed);
  Q_EMIT text_changed();
}

QString DraftMemory::text() const {
  if (known_ || predicting_)
    return {};
  if (spec_ && spec_->program)
    return tr("A search for the batch size measures the memory of this program.");
  const bool waiting = probing_ && probing_->state() == Job::State::waiting;
  const Job* working = workbench_.job_queue().working();
  if (waiting && working != nullptr)
    return tr("Queued behind: %1").arg(working->title());
  if (waiting || (probing_ && probing_->state() == Job::State::working))
    return tr("Running two small trials.");
  if (probing_ && probing_->state() == Job::State::failed)
    return probing_->error();
  return tr("Two small trials predict the memory of every batch size in this plan.");
}

bool DraftMemory::can_probe() const {
  return !known_ && !predicting_ && !(spec_ && spec_->program) && (!probing_ || probing_->over());
}

} // namespace batchscope::ui

#include "moc_draft_memory.cpp"
