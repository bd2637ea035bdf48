#include "ui/runs/job_strip.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>

#include <cmath>

#include "ui/theme/theme.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

constexpr int bar_steps = 1000;

bool makes_many_runs(const Job& job) {
  return job.kind() == Job::Kind::sweep || job.kind() == Job::Kind::demo;
}

bool goes_on(const Job& job) {
  return job.state() == Job::State::working || job.state() == Job::State::waiting;
}

} // namespace

JobStrip::JobStrip(Engine& engine, QWidget* parent)
    : QFrame(parent), engine_(engine), title_(new QLabel(this)), activity_(dimmed_label({}, this)),
      bar_(new QProgressBar(this)), left_(dimmed_label({}, this)), cancel_(plain_button(tr("Cancel"), this)) {
  setProperty("kind", QStringLiteral("card"));
  title_->setProperty("kind", QStringLiteral("heading"));
  activity_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  bar_->setTextVisible(false);
  bar_->setAccessibleName(tr("Progress"));
  bar_->setFixedWidth(Theme::lines(14));
  cancel_->setToolTip(tr("Ends the run in progress at its next step; what was done stays stored"));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(12, 6, 8, 6);
  row->setSpacing(10);
  row->addWidget(title_);
  row->addWidget(activity_, 1);
  row->addWidget(bar_);
  row->addWidget(left_);
  row->addWidget(cancel_);
  connect(cancel_, &QPushButton::clicked, this, [this] {
    if (job_)
      job_->cancel();
  });
  connect(&engine, &Engine::job_added, this, &JobStrip::look_for_job);
  connect(&engine, &Engine::job_changed, this, &JobStrip::look_for_job);
  look_for_job();
}

void JobStrip::look_for_job() {
  Job* found = nullptr;
  for (Job* job : engine_.jobs())
    if (found == nullptr && makes_many_runs(*job) && goes_on(*job))
      found = job;
  if (found != job_) {
    if (job_)
      disconnect(job_, nullptr, this, nullptr);
    job_ = found;
    if (job_)
      connect(job_, &Job::progressed, this, &JobStrip::show_progress);
    setVisible(job_ != nullptr);
    Q_EMIT activity_changed();
  }
  setVisible(job_ != nullptr);
  show_progress();
}

void JobStrip::show_progress() {
  if (!job_)
    return;
  const bool waiting = job_->state() == Job::State::waiting;
  title_->setText(job_->title());
  activity_->setText(waiting ? tr("waits until the other jobs are done") : job_->activity());
  const auto share = job_->progress();
  // Without a share it shows that something goes on.
  bar_->setRange(0, share || waiting ? bar_steps : 0);
  bar_->setValue(share ? static_cast<int>(std::floor(*share * bar_steps)) : 0);
  const auto seconds = job_->seconds_left();
  left_->setText(seconds ? tr("%1 left").arg(format_duration(*seconds)) : QString());
}

} // namespace batchscope::ui
