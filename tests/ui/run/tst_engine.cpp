#include <QSignalSpy>
#include <QtTest>

#include "core/store/run_store.h"
#include "ui/run/workbench_test.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

/// Jobs on the worker's thread: what they report, store and leave behind.
class TestEngine : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void initTestCase() {
    QVERIFY(folder_.isValid());
    engine_ = std::make_unique<Engine>((folder_.path() + "/runs.db").toStdString());
  }

  void trainsAndStores() {
    Job* job = engine_->train(small_run(50));
    QCOMPARE(job->state(), Job::State::waiting);
    std::shared_ptr<telemetry::RecordQueue> queue;
    std::int64_t id = 0;
    connect(job, &Job::run_started, this, [&](const Job::LiveRun& run) {
      queue = run.queue;
      id = run.id;
      QCOMPARE(run.start.batch, 16);
      QVERIFY(run.start.memory.has_value()); // foretold by two probes before the run
    });
    QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
    QVERIFY(queue);
    std::int64_t records = 0;
    queue->drain([&](telemetry::Entry&& entry) {
      if (const auto* record = std::get_if<telemetry::StepRecord>(&entry))
        QCOMPARE(record->step, ++records);
    });
    QCOMPARE(records, 50);
    QCOMPARE(reader().run(id).outcome.status, std::string("finished"));
    QCOMPARE(reader().series(id, "loss").size(), std::size_t{50});
    QVERIFY(engine_->load().stored >= 50);
    QVERIFY(engine_->idle());
  }

  void jobsComeOneAfterTheOther() {
    Job* first = engine_->train(small_run(30));
    Job* second = engine_->train(small_run(30));
    connect(second, &Job::state_changed, this, [&] {
      if (second->state() == Job::State::working)
        QCOMPARE(first->state(), Job::State::done);
    });
    QTRY_COMPARE_WITH_TIMEOUT(second->state(), Job::State::done, patience_ms);
  }

  void cancelsWhatWorksAndWhatWaits() {
    Job* working = engine_->train(small_run(1'000'000));
    Job* waiting = engine_->train(small_run(10));
    std::int64_t id = 0;
    connect(working, &Job::run_started, this, [&](const Job::LiveRun& run) { id = run.id; });
    QTRY_VERIFY_WITH_TIMEOUT(id != 0, patience_ms);
    QSignalSpy idle(engine_.get(), &Engine::idle_now);
    engine_->cancel_all();
    QTRY_COMPARE_WITH_TIMEOUT(idle.count(), 1, patience_ms);
    QCOMPARE(working->state(), Job::State::cancelled);
    QCOMPARE(waiting->state(), Job::State::cancelled);
    QCOMPARE(reader().run(id).outcome.status, std::string("stopped"));
  }

  void saysWhatIsWrongWithASpec() {
    train::RunSpec spec = small_run(5);
    spec.data = "idx:/nowhere/images,/nowhere/labels";
    Job* job = engine_->train(spec);
    QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::failed, patience_ms);
    QVERIFY2(job->error().contains("/nowhere/images"), qPrintable(job->error()));
  }

  void searchShowsEachProbe() {
    FindRequest request;
    request.spec = growing_run();
    request.spec.batch = {};
    Job* job = engine_->find(request);
    QSignalSpy probed(job, &Job::probed);
    QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
    QVERIFY(job->search_result()->found);
    QCOMPARE(static_cast<std::size_t>(probed.count()), job->search_result()->probes.size());
    QCOMPARE(job->probes().size(), job->search_result()->probes.size());
    QCOMPARE(job->budget_bytes(), 24'000'000U);
    QCOMPARE(job->timings().size(), job->search_result()->timings.size());
    QVERIFY(job->predicted().has_value());
    // The prediction drawn is the one that found the answer: the largest fits, one more does not.
    const std::int64_t largest = *job->search_result()->largest;
    QVERIFY(job->predicted()->at(largest).bytes <= 24'000'000);
    QVERIFY(job->predicted()->at(largest + 1).bytes > 24'000'000);
    QVERIFY(!reader().search_json(1).empty());
  }

  void predictsWithoutStoring() {
    const auto runs = reader().list().size();
    Job* job = engine_->predict(growing_run());
    QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
    QVERIFY(job->predicted().has_value());
    QCOMPARE(job->budget_bytes(), 24'000'000U);
    QCOMPARE(reader().list().size(), runs);
  }

  void sweepsEachSize() {
    sweep::SweepSpec spec;
    spec.base = small_run(10);
    spec.batches = {{train::BatchChoice::Kind::number, 8}, {train::BatchChoice::Kind::number, 16}};
    Job* job = engine_->sweep(spec);
    QSignalSpy started(job, &Job::run_started);
    QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
    QCOMPARE(started.count(), 2);
    QCOMPARE(reader().runs_of_sweep(1).size(), std::size_t{2});
  }

  void closesInTheMiddleOfARun() {
    Job* job = engine_->train(small_run(1'000'000));
    std::int64_t id = 0;
    connect(job, &Job::run_started, this, [&](const Job::LiveRun& run) { id = run.id; });
    QTRY_VERIFY_WITH_TIMEOUT(id != 0, patience_ms);
    engine_.reset();
    const auto row = reader().run(id);
    QCOMPARE(row.outcome.status, std::string("stopped"));
    QCOMPARE(reader().series(id, "loss").size(), static_cast<std::size_t>(row.outcome.steps));
  }

private:
  store::RunReader reader() const { return store::RunReader((folder_.path() + "/runs.db").toStdString()); }

  QTemporaryDir folder_;
  std::unique_ptr<Engine> engine_;
};

QTEST_MAIN(TestEngine)
#include "tst_engine.moc"
