#include "ui/window/work_strip.h"

#include <algorithm>

#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>

#include "ui/theme/theme.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"
#include "ui/workbench/workbench.h"

namespace batchscope::ui {

namespace {

constexpr int progress_steps = 1000;
constexpr int strip_refresh_ms = 500;

} // namespace

WorkStrip::WorkStrip(Workbench& workbench, QWidget* parent)
    : QFrame(parent), workbench_(workbench), job_queue_(workbench.job_queue()), title_(new QLabel(this)),
      activity_(dimmed_label({}, this)), progress_(new QProgressBar(this)), left_(dimmed_label({}, this)),
      waiting_(dimmed_label({}, this)), cancel_(plain_button({}, this)) {
  setProperty("kind", QStringLiteral("strip"));
  setAccessibleName(tr("Work in progress"));
  title_->setProperty("kind", QStringLiteral("heading"));
  title_->setTextFormat(Qt::PlainText);
  progress_->setTextVisible(false);
  progress_->setFixedWidth(Theme::lines(14));
  progress_->setAccessibleName(tr("Progress"));
  activity_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  auto* layout = new QHBoxLayout(this);
  const int side = Theme::lines(0.75), above = Theme::lines(0.3);
  layout->setContentsMargins(side, above, side, above);
  layout->setSpacing(Theme::lines(0.75));
  layout->addWidget(title_);
  layout->addWidget(progress_);
  layout->addWidget(left_);
  layout->addWidget(activity_, 1);
  layout->addWidget(waiting_);
  layout->addWidget(cancel_);
  timer_.setInterval(strip_refresh_ms);
  connect(&timer_, &QTimer::timeout, this, &WorkStrip::refresh);
  connect(cancel_, &QPushButton::clicked, this, &WorkStrip::cancel);
  connect(&job_queue_, &JobQueue::job_added, this, &WorkStrip::watch);
  connect(&job_queue_, &JobQueue::job_changed, this, &WorkStrip::refresh);
  connect(&workbench.run_database(), &RunDatabase::exports_changed, this, &WorkStrip::refresh);
  refresh();
}

Job* WorkStrip::shown_job() const {
  if (Job* working = job_queue_.working())
    return working;
  const auto& jobs = job_queue_.jobs();
  const auto waits =
      std::find_if(jobs.begin(), jobs.end(), [](const Job* job) { return job->state() == Job::State::waiting; });
  return waits == jobs.end() ? nullptr : *waits;
}

void WorkStrip::watch(Job* job) {
  connect(job, &Job::progressed, this, &WorkStrip::refresh);
  connect(job, &Job::run_started, this, [this](const Job::LiveRun& run) { run_ = run.id; });
  refresh();
}

void WorkStrip::refresh() {
  const Job* job = shown_job();
  const QStringList files = workbench_.run_database().exports();
  setVisible(job != nullptr || !files.isEmpty());
  if (job == nullptr)
    timer_.stop();
  else if (!timer_.isActive())
    timer_.start();
  if (job != nullptr)
    show_job(*job);
  else if (!files.isEmpty())
    show_exports(files);
}

void WorkStrip::show_exports(const QStringList& files) {
  const QString name = QFileInfo(files.first()).fileName();
  title_->setText(tr("Exporting %1").arg(name));
  activity_->setText(files.first());
  activity_->setToolTip(files.join(u'\n'));
  progress_->setRange(0, 0);
  left_->clear();
  show_waiting(files.size() - 1);
  cancel_->setText(tr("Cancel export"));
  cancel_->setToolTip(tr("Cancel the export and remove the unfinished file"));
  cancel_->setAccessibleName(tr("Cancel the export to %1").arg(name));
}

void WorkStrip::show_waiting(qsizetype others) {
  waiting_->setText(tr("%1 more queued").arg(format_count(others)));
  waiting_->setVisible(others > 0);
}

void WorkStrip::show_job(const Job& job) {
  const OpenRun* run = run_of(job);
  const auto progress = run != nullptr ? run->progress() : job.progress();
  title_->setText(job.title());
  activity_->setText(job.activity());
  activity_->setToolTip(job.activity());
  // Shows a busy indicator if the progress is unknown.
  progress_->setRange(0, progress ? progress_steps : 0);
  if (progress)
    progress_->setValue(static_cast<int>(*progress * progress_steps));
  left_->setText(time_text(job));
  show_waiting(std::count_if(job_queue_.jobs().begin(), job_queue_.jobs().end(), [&job](const Job* other) {
    return other != &job && other->state() == Job::State::waiting;
  }));
  cancel_->setText(job.stop_text());
  cancel_->setToolTip(tr("Stop at the next step or probe; saved steps are kept"));
  cancel_->setAccessibleName(tr("%1: %2").arg(job.stop_text(), job.title()));
}

const OpenRun* WorkStrip::run_of(const Job& job) const {
  const OpenRun* run = job.kind() == Job::Kind::train ? workbench_.find_opened(run_) : nullptr;
  return run != nullptr && run->running() ? run : nullptr;
}

QString WorkStrip::time_text(const Job& job) const {
  if (job.state() == Job::State::waiting)
    return tr("queued");
  auto left = job.seconds_left();
  if (const OpenRun* run = run_of(job)) {
    if (run->paused())
      return tr("paused");
    left = run->seconds_left();
  }
  return left ? tr("%1 left").arg(format_clock(*left)) : format_clock(job.seconds());
}

void WorkStrip::cancel() {
  if (Job* job = shown_job()) {
    cancel_->setEnabled(false);
    // The button is enabled again for the next job.
    connect(job, &Job::state_changed, cancel_, [this] { cancel_->setEnabled(true); });
    job->cancel(); // a queued job ends at once
  } else {
    workbench_.run_database().cancel_exports();
  }
}

} // namespace batchscope::ui

#include "moc_work_strip.cpp"
