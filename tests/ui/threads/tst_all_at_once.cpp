#include <QFile>
#include <QSignalSpy>
#include <QTest>

#include "core/store/run_reader.h"
#include "test_program.h"
#include "ui/plan/planner.h"
#include "ui/workbench_test.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

/// The window's threads beside each other: engine, store, database, planner and export. What they may not do at the
/// same time, the thread sanitizer reports.
class TestAllAtOnce : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void a_run_is_steered_while_all_else_goes_on();
  void queued_jobs_are_withdrawn_while_one_works();
  void a_window_is_closed_in_the_middle();
};

namespace {

const store::RunRow* row_of(RunDatabase& database, std::int64_t id) {
  for (const store::RunRow& row : database.runs())
    if (row.id == id)
      return &row;
  return nullptr;
}

} // namespace

void TestAllAtOnce::a_run_is_steered_while_all_else_goes_on() {
  const QTemporaryDir folder;
  WorkbenchHere bench;
  Planner planner(bench->job_queue().data());
  QSignalSpy planned(&planner, &Planner::planned);
  Job* job = bench->start_run(small_run(1'000'000));
  QTRY_VERIFY_WITH_TIMEOUT(bench->current() != nullptr && bench->current()->steps() > 10, patience_ms);
  OpenRun& run = *bench->current();
  QTRY_VERIFY_WITH_TIMEOUT(row_of(bench->run_database(), run.id()) != nullptr, patience_ms);

  int exported = 0;
  std::int64_t followed = 0;
  const auto token = bench->run_database().follow(
      run.id(), [&](const RunBatch& batch) { followed += static_cast<std::int64_t>(batch.records.size()); });
  for (int round = 0; round < 5; ++round) {
    const std::int64_t before = run.steps();
    run.edit({.schedule = "constant", .batch = 8 + round});
    planner.request(DraftPlan{small_run(1000 + round), 16});
    bench->run_database().rename(run.id(), QString("round %1").arg(round));
    bench->run_database().export_runs({run.id()}, "csv", folder.filePath(QString("%1.csv").arg(round)), this,
                                      [&](const QString& error) { exported += error.isEmpty() ? 1 : 0; });
    run.pause();
    QTRY_VERIFY_WITH_TIMEOUT(run.paused(), patience_ms);
    run.step_once();
    run.resume();
    QTRY_VERIFY_WITH_TIMEOUT(run.steps() > before + 1 && !run.paused(), patience_ms);
  }
  QTRY_COMPARE_WITH_TIMEOUT(exported, 5, patience_ms);
  QTRY_VERIFY_WITH_TIMEOUT(!planned.isEmpty(), patience_ms);
  QTRY_VERIFY_WITH_TIMEOUT(row_of(bench->run_database(), run.id())->name == "round 4", patience_ms);
  QTRY_VERIFY_WITH_TIMEOUT(followed > 0, patience_ms);

  run.stop();
  QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
  QCOMPARE(run.status(), QString("stopped"));
  const store::RunReader reader(bench.database());
  QCOMPARE(reader.run(run.id()).outcome.steps, run.steps());
}

void TestAllAtOnce::queued_jobs_are_withdrawn_while_one_works() {
  WorkbenchHere bench;
  Job* working = bench->start_run(small_run(1'000'000));
  FindRequest request;
  request.spec = small_run(10);
  Job* withdrawn = bench->start_search(request);
  Job* search = bench->start_search(request);
  withdrawn->cancel();
  QCOMPARE(withdrawn->state(), Job::State::cancelled);
  QTRY_COMPARE_WITH_TIMEOUT(working->state(), Job::State::working, patience_ms);
  working->cancel();
  QTRY_VERIFY_WITH_TIMEOUT(working->over(), patience_ms);
  QTRY_COMPARE_WITH_TIMEOUT(search->state(), Job::State::done, patience_ms);
  QVERIFY(search->search_result()->found);
  QTRY_VERIFY_WITH_TIMEOUT(!bench->run_database().searches().empty(), patience_ms);
}

void TestAllAtOnce::a_window_is_closed_in_the_middle() {
  for (int steps = 1; steps <= 16; steps *= 4) {
    WorkbenchHere bench;
    bench->start_run(small_run(1'000'000));
    bench->start_run(small_run(10));
    QTRY_VERIFY_WITH_TIMEOUT(bench->current() != nullptr && bench->current()->steps() >= steps, patience_ms);
    bench->run_database().refresh();
  }
}

BATCHSCOPE_TEST(TestAllAtOnce)
#include "tst_all_at_once.moc"
