#include "ui/live/no_run.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

constexpr int progress_steps = 1000;

} // namespace

NoRun::NoRun(Workbench& workbench, QWidget* parent) : QStackedWidget(parent), workbench_(workbench) {
  empty_ = make_empty();
  busy_ = make_busy();
  other_ = make_other();
  addWidget(empty_);
  addWidget(busy_);
  addWidget(other_);
  for (Job* job : workbench_.job_queue().jobs())
    watch(job);
  connect(&workbench_.job_queue(), &JobQueue::job_added, this, &NoRun::watch);
  connect(&workbench_.job_queue(), &JobQueue::job_changed, this, &NoRun::update_job);
  connect(&workbench_.job_queue(), &JobQueue::idle_now, this, &NoRun::update_job);
  connect(&workbench_.run_database(), &RunDatabase::runs_changed, this, &NoRun::update_job);
  update_job();
}

QWidget* NoRun::make_empty() {
  auto* page = new QWidget(this);
  auto* state = new EmptyState(tr("No run is open"),
                               tr("This page plots the memory, loss, batch size and train_coverage of a run; the "
                                  "schedule of the batch size can be "
                                  "changed while it trains. The demo searches for a batch size and trains on bundled "
                                  "images; it takes 1 to 4 minutes."),
                               tr("Run the demo"), page);
  auto* form = plain_button(tr("New run"), page);
  form->setObjectName("new-run");
  // Below the empty state's own button.
  auto* column = static_cast<QVBoxLayout*>(state->layout());
  column->insertWidget(column->count() - 1, form, 0, Qt::AlignHCenter);
  auto* layout = new QVBoxLayout(page);
  layout->addWidget(state);
  connect(state, &EmptyState::action_chosen, this, [this] { workbench_.start_demo(); });
  connect(form, &QPushButton::clicked, this, [this] { Q_EMIT workbench_.page_wanted("new-run"); });
  return page;
}

QWidget* NoRun::make_busy() {
  auto* page = new QWidget(this);
  job_title_ = page_title({}, page);
  job_title_->setAlignment(Qt::AlignHCenter);
  job_activity_ = dimmed_label({}, page);
  job_activity_->setAlignment(Qt::AlignHCenter);
  job_progress_ = new QProgressBar(page);
  job_progress_->setTextVisible(false);
  job_progress_->setFixedWidth(Theme::lines(20));
  job_progress_->setAccessibleName(tr("Progress of the job"));
  stop_ = plain_button({}, page);
  stop_->setObjectName("cancel-job");
  find_ = plain_button(tr("Watch the search"), page);
  auto* buttons = new QHBoxLayout;
  buttons->addStretch(1);
  buttons->addWidget(find_);
  buttons->addWidget(stop_);
  buttons->addStretch(1);
  auto* layout = new QVBoxLayout(page);
  layout->setSpacing(Theme::lines(0.75));
  layout->addStretch(2);
  layout->addWidget(job_title_);
  layout->addWidget(job_activity_);
  layout->addWidget(job_progress_, 0, Qt::AlignHCenter);
  layout->addLayout(buttons);
  layout->addStretch(3);
  connect(stop_, &QPushButton::clicked, this, [this] {
    if (Job* job = workbench_.job_queue().working())
      job->cancel();
  });
  connect(find_, &QPushButton::clicked, this, [this] { Q_EMIT workbench_.page_wanted("find"); });
  return page;
}

QWidget* NoRun::make_other() {
  auto* page = new QWidget(this);
  auto* title = page_title(tr("A run is training"), page);
  title->setAlignment(Qt::AlignHCenter);
  other_text_ = dimmed_label({}, page);
  other_text_->setObjectName("other-run");
  other_text_->setAlignment(Qt::AlignHCenter);
  other_text_->setWordWrap(true);
  watch_other_ = filled_button({}, page);
  watch_other_->setObjectName("watch-other");
  auto* layout = new QVBoxLayout(page);
  layout->setSpacing(Theme::lines(0.75));
  layout->addStretch(2);
  layout->addWidget(title);
  layout->addWidget(other_text_);
  layout->addWidget(watch_other_, 0, Qt::AlignHCenter);
  layout->addStretch(3);
  connect(watch_other_, &QPushButton::clicked, this, [this] { workbench_.open({other_run_}); });
  return page;
}

bool NoRun::update_other() {
  const auto& runs = workbench_.run_database().runs();
  const auto running = [](const store::RunRow& run) { return run.outcome.status == telemetry::RunStatus::running; };
  const auto newest = std::find_if(runs.rbegin(), runs.rend(), running);
  if (newest == runs.rend())
    return false;
  other_run_ = newest->id;
  const auto others = std::count_if(runs.begin(), runs.end(), running) - 1;
  const QString name = newest->name.empty()
                           ? tr("Run %1").arg(newest->id)
                           : tr("Run %1, %2,").arg(newest->id).arg(QString::fromStdString(newest->name));
  QString text = tr("%1 is being trained by another process that writes to this database.").arg(name);
  if (others > 0)
    text += ' ' + (others == 1 ? tr("One more is running; see the Runs page.")
                               : tr("%1 more are running; see the Runs page.").arg(others));
  other_text_->setText(text);
  watch_other_->setText(tr("Watch run %1").arg(newest->id));
  return true;
}

void NoRun::watch(Job* job) {
  connect(job, &Job::progressed, this, &NoRun::update_job);
  connect(job, &Job::probed, this, &NoRun::update_job);
  update_job();
}

void NoRun::update_job() {
  const Job* job = workbench_.job_queue().working();
  if (job == nullptr)
    return setCurrentWidget(update_other() ? other_ : empty_);
  setCurrentWidget(busy_);
  job_title_->setText(job->title());
  stop_->setText(job->stop_text());
  job_activity_->setText(job->activity());
  job_activity_->setVisible(!job->activity().isEmpty());
  job_progress_->setRange(0, job->progress() ? progress_steps : 0);
  if (job->progress())
    job_progress_->setValue(static_cast<int>(std::lround(*job->progress() * progress_steps)));
  find_->setVisible(!job->probes().empty());
}

} // namespace batchscope::ui

#include "moc_no_run.cpp"
