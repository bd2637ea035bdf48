#include "ui/workbench/workbench.h"

#include <algorithm>
#include <utility>

namespace batchscope::ui {

Workbench::Workbench(const Theme& theme, std::filesystem::path database, QObject* parent)
    : QObject(parent), theme_(theme), job_queue_(std::make_unique<JobQueue>(database)),
      run_database_(std::make_unique<RunDatabase>(std::move(database))) {
  connect(job_queue_.get(), &JobQueue::job_added, this, &Workbench::watch);
  connect(run_database_.get(), &RunDatabase::runs_changed, this, &Workbench::take_names);
  connect(job_queue_.get(), &JobQueue::job_changed, this, [this](Job* job) {
    run_database_->refresh();
    if (job->state() == Job::State::failed)
      Q_EMIT problem(tr("%1: %2").arg(job->title(), job->error()));
  });
}

Workbench::~Workbench() {
  // Opened runs release their parts of the database and the engine first.
  qDeleteAll(std::exchange(runs_, {}));
}

void Workbench::open(const QList<qint64>& ids) {
  QList<OpenRun*> runs;
  for (const qint64 id : ids) {
    if (runs.size() == max_opened) {
      Q_EMIT note(tr("Only the first %1 runs are plotted together; Compare shows the curves of all").arg(max_opened));
      break;
    }
    OpenRun* run = find_opened(id);
    // A run that could not be read is read again; the database may be back.
    if (run == nullptr || run->status() == QLatin1String("unreadable")) {
      run = new OpenRun(id, *run_database_, this);
      connect(run, &OpenRun::problem, this, &Workbench::problem);
    }
    if (!runs.contains(run))
      runs.append(run);
  }
  shown_job_ = nullptr;
  set_opened(runs);
}

OpenRun* Workbench::find_opened(std::int64_t id) const {
  const auto found = std::find_if(runs_.begin(), runs_.end(), [id](const OpenRun* run) { return run->id() == id; });
  return found == runs_.end() ? nullptr : *found;
}

void Workbench::set_opened(const QList<OpenRun*>& runs) {
  const OpenRun* before = current();
  const QList<OpenRun*> closed = std::exchange(runs_, runs);
  if (current() != before)
    Q_EMIT current_changed();
  Q_EMIT opened_changed();
  // No page refers to them any more.
  for (OpenRun* run : closed)
    if (!runs_.contains(run))
      run->deleteLater();
}

/// A run may be renamed on any page, and by other programs.
void Workbench::take_names() {
  const std::vector<store::RunRow>& rows = run_database_->runs(); // in ascending order of numbers
  bool changed = false;
  for (OpenRun* run : std::as_const(runs_)) {
    const auto row = std::lower_bound(rows.begin(), rows.end(), run->id(),
                                      [](const store::RunRow& each, std::int64_t id) { return each.id < id; });
    if (row != rows.end() && row->id == run->id())
      changed = run->set_name(QString::fromStdString(row->name)) || changed;
  }
  if (changed)
    Q_EMIT names_changed();
}

void Workbench::watch(Job* job) {
  connect(job, &Job::run_started, this, [this, job, first = true](const Job::LiveRun& live) mutable {
    run_database_->refresh();
    // Does not replace runs that the user has opened since the job started.
    if (!std::exchange(first, false) && job != shown_job_)
      return;
    auto* run = new OpenRun(live, *job, this);
    connect(run, &OpenRun::problem, this, &Workbench::problem);
    // The runs of one job belong together: the new one precedes the earlier ones.
    QList<OpenRun*> runs{run};
    if (job == shown_job_)
      runs += runs_.first(std::min(runs_.size(), max_opened - 1));
    shown_job_ = job;
    set_opened(runs);
  });
  connect(job, &Job::run_ended, this, [this] { run_database_->refresh(); });
  if (job->kind() == Job::Kind::find || job->kind() == Job::Kind::demo)
    Q_EMIT search_started(job);
}

Job* Workbench::start_run(const run::RunSpec& spec) {
  Job* job = job_queue_->train(spec);
  Q_EMIT page_wanted("live");
  return job;
}

Job* Workbench::resume_run(std::int64_t run, const run::RunSpec& spec) {
  Job* job = job_queue_->resume_run(run, spec);
  Q_EMIT page_wanted("live");
  return job;
}

Job* Workbench::start_search(const FindRequest& request) {
  Job* job = job_queue_->find(request);
  Q_EMIT page_wanted("find");
  return job;
}

Job* Workbench::start_demo() {
  Job* job = job_queue_->demo();
  // There its search is seen from the first second on; then its runs, unless the user has gone elsewhere.
  Q_EMIT page_wanted("find");
  connect(
      job, &Job::run_started, this, [this] { Q_EMIT next_page("find", "live"); },
      static_cast<Qt::ConnectionType>(Qt::AutoConnection | Qt::SingleShotConnection));
  return job;
}

Job* Workbench::start_sweep(const sweep::SweepSpec& spec) {
  Job* job = job_queue_->sweep(spec);
  Q_EMIT page_wanted("sweep");
  return job;
}

void Workbench::propose_run(const run::RunSpec& spec) {
  Q_EMIT run_proposed(spec);
  Q_EMIT page_wanted("new-run");
}

void Workbench::propose_plan(const run::RunSpec& spec) {
  Q_EMIT plan_proposed(spec);
  Q_EMIT page_wanted("schedule");
}

void Workbench::propose_sweep(const run::RunSpec& base) {
  Q_EMIT sweep_proposed(base);
  Q_EMIT page_wanted("sweep");
}

void Workbench::compare(const QList<qint64>& runs) {
  Q_EMIT comparison_wanted(runs);
  Q_EMIT page_wanted("compare");
}

void Workbench::compare_all() {
  compare({});
}

void Workbench::compare_sweep(qint64 sweep) {
  Q_EMIT sweep_comparison_wanted(sweep);
  Q_EMIT page_wanted("compare");
}

} // namespace batchscope::ui

#include "moc_workbench.cpp"

#include "moc_page.cpp"
