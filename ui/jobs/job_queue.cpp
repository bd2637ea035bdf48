#include "ui/jobs/job_queue.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/job/adopt.h"
#include "core/job/resume.h"
#include "core/job/run_program.h"
#include "core/program/trial/card_search.h"
#include "core/program/trial/program_search.h"
#include "core/run/engine.h"
#include "core/search/run_search.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "core/sweep/demo.h"
#include "ui/jobs/job_watch.h"
#include "ui/texts/spec_texts.h"

namespace batchscope::ui {

namespace {

constexpr int progress_interval_ms = 200;
constexpr double silent_seconds = 60; ///< for which the test of a program waits for its first step

using Pool = std::shared_ptr<data::DataPool>;

void fail_as(const job::JobResult& job) {
  if (job.outcome.status == telemetry::RunStatus::failed)
    throw Error(Error::Kind::failed, job.outcome.reason);
}

void train_one(const run::RunSpec& spec, const Pool& pool, JobWatch& watch, store::RunStore& store) {
  if (spec.program)
    return fail_as(job::run_program(spec, {}, store, watch, watch.control()).job);
  const auto session = run::open_session(spec, pool);
  watch.begin_search();
  const auto search = job::choose_batch(*session, store, watch, *watch.control());
  if (search)
    watch.found(*search);
  fail_as(job::run_and_store(*session, spec, search, store, {}, watch, watch.control()));
}

/// Its program goes on with the run, or has ended unwatched and has left what is to be taken in.
void adopt_one(std::int64_t run, JobWatch& watch, store::RunStore& store) {
  const job::Adoptable adoptable = job::find_adoptable(store.file(), run);
  fail_as(job::adopt_and_store(adoptable, store, watch, watch.control()));
}

void resume_one(std::int64_t run, const Pool& pool, JobWatch& watch, store::RunStore& store) {
  auto resumable = job::find_resumable(store.file(), run);
  const auto session = job::open_resumed(resumable, pool);
  const job::RunOptions options{.sweep = {}, .claimed = {}, .end_early = {}, .resumed = &resumable};
  fail_as(job::run_and_store(*session, resumable.spec, std::nullopt, store, options, watch, watch.control()));
}

run::Session::SearchOptions options_of(const FindRequest& request) {
  run::Session::SearchOptions options;
  options.strategy = request.strategy;
  options.start = request.start;
  options.factor = request.factor;
  options.margin = request.margin;
  return options;
}

std::optional<job::StoredSearch> find_size(const FindRequest& request, const Pool& pool, JobWatch& watch,
                                           store::RunStore& store) {
  const run::Session::SearchOptions options = options_of(request);
  if (request.spec.program) {
    const run::RunSpec spec = program::search_spec(request.spec);
    watch.begin_search();
    return job::search_and_store(
        request.spec, options, spec.memory_budget.value_or(0),
        [&](const auto& wanted, const auto& on_probe) { return program::find_batch(spec, {}, wanted, on_probe); },
        store, watch, *watch.control());
  }
  const auto session = run::open_session(request.spec, pool);
  watch.begin_search();
  return job::search_and_store(
      request.spec, options, session->budget_bytes(),
      [&](const auto& wanted, const auto& on_probe) { return session->find(wanted, on_probe); }, store, watch,
      *watch.control());
}

void search(const FindRequest& request, const Pool& pool, JobWatch& watch, store::RunStore& store) {
  if (const auto stored = find_size(request, pool, watch, store))
    watch.found(stored->result);
}

} // namespace

Job::Job(Kind kind, QString title, run::RunSpec spec, QString strategy, JobQueue& job_queue)
    : QObject(&job_queue), job_queue_(job_queue), kind_(kind), title_(std::move(title)), spec_(std::move(spec)),
      strategy_(std::move(strategy)) {}

QString Job::stop_text() const {
  switch (kind_) {
  case Kind::train:
    return tr("Stop run");
  case Kind::find:
    return tr("Stop search");
  case Kind::sweep:
    return tr("Stop sweep");
  case Kind::demo:
    return tr("Stop demo");
  case Kind::predict:
    return tr("Stop prediction");
  case Kind::fit:
    return tr("Stop computing");
  case Kind::try_out:
    break;
  }
  return tr("Stop test");
}

void Job::cancel() {
  control_->stop();
  if (state_ == State::waiting)
    job_queue_.withdraw(this);
}

double Job::seconds() const {
  return state_ == State::working ? static_cast<double>(worked_.elapsed()) / 1000 : took_;
}

std::optional<double> Job::seconds_left() const {
  constexpr double enough = 0.02; // with less work done, the rate is not reliable
  if (state_ != State::working)
    return std::nullopt;
  if (kind_ == Kind::sweep || kind_ == Kind::demo)
    return seconds_left_
               ? std::optional(std::max(0.0, *seconds_left_ - static_cast<double>(since_set_.elapsed()) / 1000))
               : std::nullopt;
  if (!progress_ || *progress_ < enough)
    return std::nullopt;
  return seconds() * (1 - *progress_) / *progress_;
}

void Job::set_seconds_left(std::optional<double> seconds) {
  seconds_left_ = seconds;
  since_set_.start();
}

/// The worker thread and its queue of jobs.
class JobQueue::Worker {
public:
  Worker(JobQueue& job_queue, std::filesystem::path database)
      : job_queue_(job_queue), database_(std::move(database)), thread_([this] { loop(); }) {}

  ~Worker() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

  void add(Job* job, std::unique_ptr<JobWatch> watch, bool stores, Work work) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back({job, std::move(watch), stores, std::move(work)});
    }
    wake_.notify_one();
  }

  void load_library() {
    {
      const std::lock_guard lock(mutex_);
      loads_ = true;
    }
    wake_.notify_one();
  }

  /// Removes a queued job; false if it has started.
  bool withdraw(const Job* job) {
    const std::lock_guard lock(mutex_);
    return std::erase_if(waiting_, [job](const Task& task) { return task.job == job; }) > 0;
  }

  store::RunStore::Backlog backlog() const {
    const std::lock_guard lock(store_mutex_);
    store::RunStore::Backlog backlog = store_ ? store_->backlog() : store::RunStore::Backlog{};
    backlog.stored += stored_before_;
    return backlog;
  }

  /// Any thread; nothing while no job is running.
  std::optional<double> progress() const {
    const std::lock_guard lock(mutex_);
    return working_ ? working_->progress() : std::nullopt;
  }

private:
  struct Task {
    Job* job = nullptr;
    std::unique_ptr<JobWatch> watch;
    bool stores = true;
    Work work;
  };

  void loop() {
    while (auto task = next()) {
      run(*task);
      const std::lock_guard lock(mutex_);
      working_ = nullptr;
    }
  }

  std::optional<Task> next() {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return loads_ || closing_ || !waiting_.empty(); });
    if (std::exchange(loads_, false)) {
      lock.unlock();
      load_engine();
      lock.lock();
      wake_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    }
    // Jobs that are still queued when the window closes were cancelled and end at once.
    if (waiting_.empty())
      return std::nullopt;
    Task task = std::move(waiting_.front());
    waiting_.pop_front();
    working_ = task.watch.get();
    return task;
  }

  void load_engine() {
    try {
      const int threads = run::engine().threads();
      post([this, threads] { job_queue_.loaded_with(threads); });
    } catch (const Error&) {
      // The first job that starts reports it.
    }
  }

  void run(Task& task) {
    Job* job = task.job;
    if (task.watch->control()->stopping())
      return report(job, Job::State::cancelled);
    post([this, job] { job_queue_.begin(job); });
    try {
      if (task.stores)
        open_store();
      task.work(*task.watch, store_.get());
      close_store();
      report(job, task.watch->control()->stopping() ? Job::State::cancelled : Job::State::done);
    } catch (const Error& error) {
      fail(task, {QString::fromUtf8(error.what()), error.field()});
    } catch (const std::exception& error) {
      fail(task, {QString::fromUtf8(error.what()), {}});
    }
  }

  void open_store() {
    // Opening a locked database or one of an older format takes seconds, during which the UI must not block.
    auto opened = std::make_unique<store::RunStore>(database_);
    const std::lock_guard lock(store_mutex_);
    store_ = std::move(opened);
  }

  void close_store() {
    // Closing writes all waiting entries; the UI's calls of load() must not wait for that.
    std::unique_ptr<store::RunStore> closing;
    {
      const std::lock_guard lock(store_mutex_);
      if (store_)
        stored_before_ += store_->backlog().stored + store_->backlog().waiting;
      closing.swap(store_);
    }
  }

  void fail(const Task& task, const Job::Failure& failure) {
    close_store();
    if (task.watch->control()->stopping())
      report(task.job, Job::State::cancelled);
    else
      report(task.job, Job::State::failed, failure);
  }

  void report(Job* job, Job::State state, const Job::Failure& error = {}) {
    post([this, job, state, error] { job_queue_.end(job, state, error); });
  }

  void post(std::function<void()> function) { job_queue_.reports_.post(std::move(function)); }

  JobQueue& job_queue_;
  const std::filesystem::path database_;

  mutable std::mutex store_mutex_;
  std::unique_ptr<store::RunStore> store_; ///< replaced under store_mutex_; used by the worker
  std::uint64_t stored_before_ = 0;        ///< guarded by store_mutex_

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> waiting_;          ///< guarded by mutex_
  const JobWatch* working_ = nullptr; ///< guarded by mutex_
  bool closing_ = false;              ///< guarded by mutex_
  bool loads_ = false;                ///< guarded by mutex_

  std::thread thread_; ///< last: it uses all of the above
};

JobQueue::JobQueue(std::filesystem::path database, QObject* parent) : QObject(parent), database_(std::move(database)) {
  worker_ = std::make_unique<Worker>(*this, database_);
  progress_.setInterval(progress_interval_ms);
  connect(&progress_, &QTimer::timeout, this, &JobQueue::show_progress);
}

JobQueue::~JobQueue() {
  // Emits no signals: receivers may be destroyed already.
  for (const Job* job : jobs_)
    job->control_->stop();
}

Job* JobQueue::add(const Order& order, Work work) {
  const QString strategy =
      order.strategy.isEmpty() ? QString::fromStdString(run::Session::SearchOptions().strategy) : order.strategy;
  auto* job = new Job(order.kind, order.title, order.spec, strategy, *this);
  jobs_.append(job);
  Q_EMIT job_added(job);
  worker_->add(job, std::make_unique<JobWatch>(*job, job->control_, reports_), order.stores, std::move(work));
  return job;
}

Job* JobQueue::train(const run::RunSpec& spec) {
  return add({.kind = Job::Kind::train, .title = title_of(spec), .spec = spec},
             [spec, pool = data_](JobWatch& watch, store::RunStore* store) { train_one(spec, pool, watch, *store); });
}

Job* JobQueue::resume_run(std::int64_t run, const run::RunSpec& spec) {
  return add({.kind = Job::Kind::train, .title = tr("Run %1, resumed").arg(run), .spec = spec},
             [run, program = spec.program.has_value(), pool = data_](JobWatch& watch, store::RunStore* store) {
               if (program)
                 adopt_one(run, watch, *store);
               else
                 resume_one(run, pool, watch, *store);
             });
}

Job* JobQueue::find(const FindRequest& request) {
  return add(
      {.kind = Job::Kind::find,
       .title = tr("Search for %1").arg(title_of(request.spec)),
       .spec = request.spec,
       .strategy = QString::fromStdString(request.strategy)},
      [request, pool = data_](JobWatch& watch, store::RunStore* store) { search(request, pool, watch, *store); });
}

Job* JobQueue::sweep(const sweep::SweepSpec& spec) {
  return add({.kind = Job::Kind::sweep, .title = tr("Sweep of %1").arg(title_of(spec.base)), .spec = spec.base},
             [spec, pool = data_](JobWatch& watch, store::RunStore* store) {
               auto plan = sweep::plan_sweep(spec, pool);
               const std::int64_t id = store->add_sweep(sweep::to_json(spec));
               sweep::run_sweep(std::move(plan), id, *store, watch, watch.control());
             });
}

Job* JobQueue::resume_sweep(std::int64_t sweep, const run::RunSpec& base, bool shared) {
  Job* job = add({.kind = Job::Kind::sweep, .title = tr("Sweep of %1").arg(title_of(base)), .spec = base},
                 [sweep, shared, file = database_, pool = data_](JobWatch& watch, store::RunStore* store) {
                   auto plan = sweep::plan_rest(store::RunReader(file), sweep, {}, pool);
                   sweep::run_sweep(std::move(plan), sweep, *store, watch, watch.control(), {.shared = shared});
                 });
  job->sweep_ = sweep;
  return job;
}

Job* JobQueue::demo() {
  return add({.kind = Job::Kind::demo, .title = tr("Demo"), .spec = sweep::demo_spec()},
             [file = database_, pool = data_](JobWatch& watch, store::RunStore* store) {
               const sweep::DemoResult result = sweep::run_demo(*store, watch, watch.control(), pool);
               if (result.stopped)
                 return;
               watch.answered(sweep::answer_of(store::RunReader(file), result));
             });
}

Job* JobQueue::predict(const run::RunSpec& spec) {
  return add({.kind = Job::Kind::predict,
              .title = tr("Memory prediction for %1").arg(title_of(spec)),
              .spec = spec,
              .stores = false},
             [spec, pool = data_](JobWatch& watch, store::RunStore* /*store*/) {
               const auto session = run::open_session(spec, pool);
               watch.limit(session->budget_bytes());
               const auto curve = session->predict_memory([&] { return watch.control()->stopping(); });
               if (!curve)
                 throw Error(Error::Kind::failed,
                             "cannot predict memory: the two small trials do not fit in the memory budget");
               watch.predicted(*curve);
             });
}

Job* JobQueue::try_out(const run::RunSpec& spec) {
  return add({.kind = Job::Kind::try_out, .title = tr("Test of %1").arg(title_of(spec)), .spec = spec, .stores = false},
             [spec](JobWatch& watch, store::RunStore* /*store*/) {
               watch.tried(program::try_out(
                   spec, silent_seconds, [&] { return watch.control()->stopping(); },
                   [&](const program::Tryout& now) { watch.trying(now); }));
             });
}

Job* JobQueue::fit(const run::RunSpec& spec, const QString& card) {
  return add({.kind = Job::Kind::fit,
              .title = tr("Sizes of %1 on %2").arg(title_of(spec), card),
              .spec = spec,
              .stores = false},
             [spec, name = card.toStdString()](JobWatch& watch, store::RunStore* /*store*/) {
               const estimate::Target target = estimate::parse_target(name, "--for");
               run::Session::SearchOptions options;
               options.margin = spec.margin;
               options.stop = [&] { return watch.control()->stopping(); };
               const run::RunSpec on_card = program::card_spec(spec, target);
               const auto found = program::find_on_card(
                   on_card, target, {}, options, [&](const auto& probe) { watch.probe(probe, target.usable_bytes()); });
               if (found.interrupted)
                 return;
               std::vector<program::CardSaving> savings;
               watch.fitted(found, savings);
               watch.say(tr("Trying what would save memory…"));
               program::savings_on_card(on_card, target, {}, found, options.stop, [&](const auto& saving) {
                 savings.push_back(saving);
                 watch.fitted(found, savings);
               });
             });
}

Job* JobQueue::working() const {
  for (Job* job : jobs_)
    if (job->state() == Job::State::working)
      return job;
  return nullptr;
}

QString JobQueue::activity_of(const Job& job) const {
  const Job* before = working();
  return job.state() == Job::State::waiting && before ? tr("Queued until \"%1\" has ended.").arg(before->title())
                                                      : job.activity();
}

bool JobQueue::idle() const {
  return std::all_of(jobs_.begin(), jobs_.end(), [](const Job* job) { return job->over(); });
}

void JobQueue::cancel_all() {
  // A slot connected to a job's end may add another job.
  for (const QList<Job*> jobs = jobs_; Job * job : jobs)
    if (!job->over())
      job->cancel();
}

void JobQueue::withdraw(Job* job) {
  if (worker_->withdraw(job))
    end(job, Job::State::cancelled, {});
}

store::RunStore::Backlog JobQueue::backlog() const {
  return worker_->backlog();
}

void JobQueue::load_library() {
  worker_->load_library();
}

void JobQueue::loaded_with(int threads) {
  threads_ = threads;
  Q_EMIT library_loaded();
}

void JobQueue::begin(Job* job) {
  job->state_ = Job::State::working;
  job->worked_.start();
  progress_.start();
  Q_EMIT job->state_changed();
  Q_EMIT job_changed(job);
}

void JobQueue::end(Job* job, Job::State state, const Job::Failure& error) {
  job->took_ = job->seconds();
  job->state_ = state;
  job->error_ = error;
  job->progress_ = state == Job::State::done ? std::optional(1.0) : job->progress_;
  if (working() == nullptr)
    progress_.stop();
  Q_EMIT job->state_changed();
  Q_EMIT job_changed(job);
  if (idle())
    Q_EMIT idle_now();
}

void JobQueue::show_progress() {
  Job* job = working();
  if (job == nullptr)
    return;
  job->progress_ = worker_->progress();
  Q_EMIT job->progressed();
}

} // namespace batchscope::ui

#include "moc_job_queue.cpp"
