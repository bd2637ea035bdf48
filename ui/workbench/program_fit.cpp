#include "ui/workbench/program_fit.h"

#include <utility>

#include "core/estimate/cards.h"
#include "ui/memory/fit_answer.h"
#include "ui/memory/fit_card.h"
#include "ui/workbench/workbench.h"

namespace batchscope::ui {

ProgramFit::ProgramFit(Workbench& workbench, FitCard& card, std::function<std::optional<run::RunSpec>()> spec)
    : QObject(&card), workbench_(workbench), card_(card), spec_(std::move(spec)) {
  connect(&card_, &FitCard::wanted, this, &ProgramFit::start);
  connect(&card_, &FitCard::unwanted, this, &ProgramFit::stop);
  show_none();
}

void ProgramFit::show_none() {
  if (!job_)
    card_.show_none(
        tr("Runs the program on a pretended GPU: torch's own allocator, and nothing is computed or stored."));
}

void ProgramFit::start() {
  const auto spec = spec_();
  if (!spec || job_)
    return;
  failure_.clear();
  on_ = card_.chosen();
  job_ = workbench_.job_queue().fit(*spec, on_);
  connect(job_, &Job::progressed, this, &ProgramFit::show);
  connect(job_, &Job::state_changed, this, &ProgramFit::show);
  show();
}

void ProgramFit::stop() {
  if (job_)
    job_->cancel();
}

void ProgramFit::show() {
  if (!job_)
    return;
  const Job& job = *job_;
  QString working;
  if (!job.over()) {
    working = workbench_.job_queue().activity_of(job);
    if (working.isEmpty())
      working = tr("Starting the program…");
  } else {
    disconnect(job_, nullptr, this, nullptr);
    job_ = nullptr;
  }
  if (job.state() == Job::State::failed)
    card_.show_failure(failure_ = job.error());
  else if (const auto fitted = job.fitted())
    show_answer(*fitted, working);
  else if (job_)
    card_.show_working(working);
  else
    show_none();
}

void ProgramFit::show_answer(const Job::Fitted& fitted, const QString& working) {
  const estimate::Target card = estimate::parse_target(on_.toStdString(), "--for");
  card_.show_answer(answer_of(fitted.found, fitted.savings), card, working);
}

} // namespace batchscope::ui

#include "moc_program_fit.cpp"
