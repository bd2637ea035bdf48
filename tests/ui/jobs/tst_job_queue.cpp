#include <QSignalSpy>
#include <QTest>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/store/run_reader.h"
#include "test_program.h"
#include "ui/workbench_test.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

namespace {

/// Another process that keeps a database locked as long as this lives: whoever opens it waits, and then gives up.
class LockedElsewhere {
public:
  explicit LockedElsewhere(const std::string& file) {
    if (::pipe(end_.data()) != 0 || ::pipe(locked_.data()) != 0)
      qFatal("no pipe");
    child_ = ::fork();
    if (child_ == 0)
      lock_until_told(file.c_str());
    ::close(end_[0]);
    ::close(locked_[1]);
    char ok = 0;
    if (::read(locked_[0], &ok, 1) != 1)
      qFatal("the database could not be locked");
  }
  ~LockedElsewhere() {
    ::close(end_[1]);
    ::close(locked_[0]);
    ::waitpid(child_, nullptr, 0);
  }
  LockedElsewhere(const LockedElsewhere&) = delete;
  LockedElsewhere& operator=(const LockedElsewhere&) = delete;

private:
  [[noreturn]] void lock_until_told(const char* file) {
    ::close(end_[1]);
    const int handle = ::open(file, O_RDWR);
    struct flock all {};
    all.l_type = F_WRLCK;
    all.l_whence = SEEK_SET;
    char byte = 0;
    if (handle >= 0 && ::fcntl(handle, F_SETLK, &all) == 0 && ::write(locked_[1], &byte, 1) == 1) [[maybe_unused]]
      const ssize_t closed = ::read(end_[0], &byte, 1);
    ::_exit(0);
  }

  std::array<int, 2> end_{}, locked_{};
  pid_t child_ = -1;
};

} // namespace

/// Jobs on the worker's thread: what they report, store and leave behind.
class TestJobQueue : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void initTestCase() {
    QVERIFY(folder_.isValid());
    job_queue_ = std::make_unique<JobQueue>((folder_.path() + "/runs.db").toStdString());
  }

  void trainsAndStores() {
    Job* job = job_queue_->train(small_run(50));
    QCOMPARE(job->state(), Job::State::waiting);
    std::shared_ptr<telemetry::RecordQueue> queue;
    std::int64_t id = 0;
    connect(job, &Job::run_started, this, [&](const Job::LiveRun& run) {
      queue = run.queue;
      id = run.id;
      QCOMPARE(run.start.batch, 16);
      QVERIFY(run.start.memory.has_value()); // predicted by two probes before the run
    });
    QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
    QVERIFY(queue);
    std::int64_t records = 0;
    queue->drain([&](telemetry::Entry&& entry) {
      if (const auto* record = std::get_if<telemetry::StepRecord>(&entry))
        QCOMPARE(record->step, ++records);
    });
    QCOMPARE(records, 50);
    QCOMPARE(reader().run(id).outcome.status, telemetry::RunStatus::finished);
    QCOMPARE(reader().series(id, "loss").size(), std::size_t{50});
    QVERIFY(job_queue_->backlog().stored >= 50);
    QVERIFY(job_queue_->idle());
  }

  /// A run that was cancelled goes on as the same run, and who shows it gets the whole of it.
  void resumesFromTheLastCheckpoint() {
    run::RunSpec spec = small_run(1'000'000);
    spec.checkpoint_every = 1'000;
    Job* first = job_queue_->train(spec);
    Job::LiveRun before;
    connect(first, &Job::run_started, this, [&](const Job::LiveRun& run) { before = run; });
    QTRY_VERIFY_WITH_TIMEOUT(before.queue && before.queue->waiting() > 20, patience_ms);
    first->cancel();
    QTRY_COMPARE_WITH_TIMEOUT(first->state(), Job::State::cancelled, patience_ms);
    const std::int64_t done = reader().run(before.id).outcome.steps;

    Job* second = job_queue_->resume_run(before.id, spec);
    Job::LiveRun after;
    connect(second, &Job::run_started, this, [&](const Job::LiveRun& run) { after = run; });
    QTRY_VERIFY_WITH_TIMEOUT(after.queue && after.queue->waiting() > static_cast<std::size_t>(done) + 20, patience_ms);
    second->cancel();
    QTRY_COMPARE_WITH_TIMEOUT(second->state(), Job::State::cancelled, patience_ms);
    QCOMPARE(after.id, before.id);
    std::int64_t records = 0;
    after.queue->drain([&](telemetry::Entry&& entry) {
      if (const auto* record = std::get_if<telemetry::StepRecord>(&entry))
        QCOMPARE(record->step, ++records);
    });
    QVERIFY(records > done);
    QCOMPARE(reader().run(after.id).outcome.steps, records);

    Job* refused = job_queue_->resume_run(1, spec); // which has finished
    QTRY_COMPARE_WITH_TIMEOUT(refused->state(), Job::State::failed, patience_ms);
    QVERIFY2(refused->error().contains("has finished"), qPrintable(refused->error()));
  }

  void jobsComeOneAfterTheOther() {
    Job* first = job_queue_->train(small_run(30));
    Job* second = job_queue_->train(small_run(30));
    connect(second, &Job::state_changed, this, [&] {
      if (second->state() == Job::State::working)
        QCOMPARE(first->state(), Job::State::done);
    });
    QTRY_COMPARE_WITH_TIMEOUT(second->state(), Job::State::done, patience_ms);
  }

  void cancelsWhatWorksAndWhatWaits() {
    Job* working = job_queue_->train(small_run(1'000'000));
    Job* waiting = job_queue_->train(small_run(10));
    std::int64_t id = 0;
    connect(working, &Job::run_started, this, [&](const Job::LiveRun& run) { id = run.id; });
    QTRY_VERIFY_WITH_TIMEOUT(id != 0, patience_ms);
    QSignalSpy idle(job_queue_.get(), &JobQueue::idle_now);
    job_queue_->cancel_all();
    QTRY_COMPARE_WITH_TIMEOUT(idle.count(), 1, patience_ms);
    QCOMPARE(working->state(), Job::State::cancelled);
    QCOMPARE(waiting->state(), Job::State::cancelled);
    QCOMPARE(reader().run(id).outcome.status, telemetry::RunStatus::stopped);
  }

  void aWaitingJobIsCancelledAtOnce() {
    Job* working = job_queue_->train(small_run(1'000'000));
    QTRY_COMPARE_WITH_TIMEOUT(working->state(), Job::State::working, patience_ms);
    Job* waiting = job_queue_->train(small_run(10));
    QSignalSpy changed(waiting, &Job::state_changed);
    waiting->cancel();
    QCOMPARE(waiting->state(), Job::State::cancelled);
    QCOMPARE(changed.count(), 1);
    QVERIFY(!job_queue_->idle());
    // The other one goes on, and so does what is told of it.
    QSignalSpy progressed(working, &Job::progressed);
    QTRY_VERIFY_WITH_TIMEOUT(working->progress() && progressed.count() > 5, patience_ms);
    QSignalSpy idle(job_queue_.get(), &JobQueue::idle_now);
    working->cancel();
    QTRY_COMPARE_WITH_TIMEOUT(idle.count(), 1, patience_ms);
    QCOMPARE(working->state(), Job::State::cancelled);
    QCOMPARE(changed.count(), 1);
  }

  void theLoadIsToldWhileADatabaseIsLocked() {
    QVERIFY(job_queue_->idle());
    std::optional<LockedElsewhere> lock(folder_.path().toStdString() + "/runs.db");
    Job* job = job_queue_->train(small_run(10));
    QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::working, patience_ms);
    // The worker is opening the database now, which it does for seconds.
    for (int i = 0; i < 20; ++i) {
      job_queue_->backlog();
      QTest::qWait(10);
    }
    // Had one of them waited for the database, the worker would have given up by now.
    QCOMPARE(job->state(), Job::State::working);
    lock.reset();
    QTRY_VERIFY_WITH_TIMEOUT(job_queue_->idle(), patience_ms);
    QCOMPARE(job->state(), Job::State::done);
  }

  void saysWhatIsWrongWithASpec() {
    run::RunSpec spec = small_run(5);
    spec.data = "idx:/nowhere/images,/nowhere/labels";
    Job* job = job_queue_->train(spec);
    QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::failed, patience_ms);
    QVERIFY2(job->error().contains("/nowhere/images"), qPrintable(job->error()));
  }

  void searchShowsEachProbe() {
    FindRequest request;
    request.spec = growing_run();
    request.spec.batch = {};
    Job* job = job_queue_->find(request);
    QSignalSpy probed(job, &Job::probed);
    QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
    QVERIFY(job->search_result()->found);
    // Those that settle the safe size, too.
    const std::size_t all = job->search_result()->probes.size() + job->search_result()->checks.size();
    QCOMPARE(static_cast<std::size_t>(probed.count()), all);
    QCOMPARE(job->probes().size(), all);
    QCOMPARE(job->budget_bytes(), 24'000'000U);
    QCOMPARE(job->timings().size(), job->search_result()->timings.size());
    QVERIFY(job->predicted().has_value());
    // The prediction drawn is the one that found the answer: the largest fits, one more does not.
    const std::int64_t largest = *job->search_result()->largest;
    QVERIFY(job->predicted()->at(largest).bytes <= 24'000'000);
    QVERIFY(job->predicted()->at(largest + 1).bytes > 24'000'000);
    QVERIFY(!reader().search_json(1).empty());
    QCOMPARE(job->stored_search(), std::optional<std::int64_t>(1));
    QCOMPARE(job->strategy(), QString("predictive"));
  }

  void predictsWithoutStoring() {
    const auto runs = reader().list().size();
    Job* job = job_queue_->predict(growing_run());
    QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
    QVERIFY(job->predicted().has_value());
    QCOMPARE(job->budget_bytes(), 24'000'000U);
    QCOMPARE(reader().list().size(), runs);
  }

  void sweepsEachSize() {
    sweep::SweepSpec spec;
    spec.base = small_run(10);
    spec.vary = {sweep::parse_variation("batch=8,16")};
    Job* job = job_queue_->sweep(spec);
    QSignalSpy started(job, &Job::run_started);
    QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
    QCOMPARE(started.count(), 2);
    QCOMPARE(job->sweep(), std::optional<std::int64_t>(1));
    QCOMPARE(reader().runs_of_sweep(1).size(), std::size_t{2});
  }

  void resumesWhatAStoppedSweepHasLeft() {
    sweep::SweepSpec spec;
    spec.base = small_run(20);
    spec.vary = {sweep::parse_variation("batch=8,12,16,24")};
    Job* first = job_queue_->sweep(spec);
    std::int64_t sweep = 0;
    connect(first, &Job::sweep_began, this, [&] { sweep = *first->sweep(); });
    connect(first, &Job::run_ended, this, [first] { first->cancel(); });
    QTRY_COMPARE_WITH_TIMEOUT(first->state(), Job::State::cancelled, patience_ms);
    const auto finished = [&] {
      const auto ids = reader().runs_of_sweep(sweep);
      return std::count_if(ids.begin(), ids.end(), [&](std::int64_t id) {
        return reader().run(id).outcome.status == telemetry::RunStatus::finished;
      });
    };
    QVERIFY(finished() >= 1 && finished() < 4);
    Job* rest = job_queue_->resume_sweep(sweep, spec.base, false);
    QCOMPARE(rest->sweep(), std::optional(sweep));
    QTRY_COMPARE_WITH_TIMEOUT(rest->state(), Job::State::done, patience_ms);
    QCOMPARE(finished(), 4);
  }

  /// A process for each size; those above 12 run out of memory.
  void findsTheBatchOfAProgram() {
    FindRequest request;
    request.strategy = "binary";
    request.spec.program =
        run::ProgramSpec{.command = {"sh", "-c", "test {batch} -le 12 || { echo MemoryError; exit 1; }"}};
    Job* job = job_queue_->find(request);
    QTRY_VERIFY_WITH_TIMEOUT(job->over(), patience_ms);
    QCOMPARE(job->error(), QString());
    QVERIFY(job->search_result());
    QCOMPARE(job->search_result()->largest, std::optional<std::int64_t>(12));
    QVERIFY(job->probes().size() > 3);
    QVERIFY(job->stored_search());
  }

  void aProgramThatFailsFailsItsJob() {
    run::RunSpec spec;
    spec.program = run::ProgramSpec{.command = {"sh", "-c", "echo no such data; exit 3"}};
    Job* job = job_queue_->train(spec);
    QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::failed, patience_ms);
    QVERIFY2(!job->error().isEmpty(), qPrintable(job->error()));
    Job* unknown = job_queue_->train({.program = run::ProgramSpec{.command = {"no-such-command"}}});
    QTRY_COMPARE_WITH_TIMEOUT(unknown->state(), Job::State::failed, patience_ms);
    QVERIFY(unknown->error().contains("no-such-command"));
  }

  /// Its runs take different times, so how many of them are done says little.
  void aSweepHasTheTimeLeftThatItsRunsTell() {
    sweep::SweepSpec spec;
    spec.base = small_run(1'000'000);
    spec.vary = {sweep::parse_variation("batch=8,16")};
    Job* job = job_queue_->sweep(spec);
    QTRY_VERIFY_WITH_TIMEOUT(job->progress().value_or(0) > 0, patience_ms);
    QVERIFY(!job->seconds_left());
    job->set_seconds_left(100);
    QTRY_VERIFY(*job->seconds_left() < 99.9);
    QVERIFY(*job->seconds_left() > 50);
    QSignalSpy idle(job_queue_.get(), &JobQueue::idle_now);
    job->cancel();
    QTRY_COMPARE_WITH_TIMEOUT(idle.count(), 1, patience_ms);
    QVERIFY(!job->seconds_left());
  }

  void sweepsAProgram() {
    sweep::SweepSpec spec;
    spec.base.program = run::ProgramSpec{.command = {"sh", "-c", "echo loss={lr}"}};
    spec.base.program->set = {{"lr", "1"}};
    spec.base.program->metrics = {{"loss", "loss=([0-9.]+)"}};
    spec.vary = {{.field = "set.lr", .values = {"0.5", "0.25"}, .interval = {}}};
    Job* job = job_queue_->sweep(spec);
    QTRY_VERIFY_WITH_TIMEOUT(job->over(), patience_ms);
    QCOMPARE(job->error(), QString());
    std::set<double> losses;
    for (const auto& run : reader().present(reader().runs_of_sweep(*job->sweep())))
      losses.insert(run.outcome.loss.value_or(0));
    QCOMPARE(losses, (std::set<double>{0.25, 0.5}));
  }

  void closesInTheMiddleOfARun() {
    Job* job = job_queue_->train(small_run(1'000'000));
    std::int64_t id = 0;
    connect(job, &Job::run_started, this, [&](const Job::LiveRun& run) { id = run.id; });
    QTRY_VERIFY_WITH_TIMEOUT(id != 0, patience_ms);
    job_queue_.reset();
    const auto row = reader().run(id);
    QCOMPARE(row.outcome.status, telemetry::RunStatus::stopped);
    QCOMPARE(reader().series(id, "loss").size(), static_cast<std::size_t>(row.outcome.steps));
  }

private:
  store::RunReader reader() const { return store::RunReader((folder_.path() + "/runs.db").toStdString()); }

  QTemporaryDir folder_;
  std::unique_ptr<JobQueue> job_queue_;
};

BATCHSCOPE_TEST(TestJobQueue)
#include "tst_job_queue.moc"
