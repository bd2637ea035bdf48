#include <QComboBox>
#include <QFile>
#include <QTest>

#include "core/store/run_store.h"
#include "test_program.h"
#include "ui/live/live_test.h"
#include "ui/plot/linked_plots.h"
#include "ui/widgets/widgets.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

/// What the page makes of places on its axes, and of runs that it cannot read.
class TestLivePlaces : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void cursors_stay_at_their_steps() {
    LiveHere live;
    Job* job = live.bench().start_run(small_run(60));
    QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
    QTRY_COMPARE(live.run()->steps(), 60);
    using Cursors = std::pair<std::optional<double>, std::optional<double>>;
    auto* axis = live.named<QComboBox>("axis");
    live.plots().set_cursors(10, 40);
    live.plots().set_crosshair(25);
    axis->setCurrentIndex(static_cast<int>(series::Axis::examples));
    QVERIFY(live.plots().cursors() == Cursors(160, 640)); // 16 examples a step
    QCOMPARE(live.plots().crosshair(), std::optional<double>(400));
    axis->setCurrentIndex(static_cast<int>(series::Axis::epoch));
    QCOMPARE(live.plots().cursors().second, live.run()->history()->position(40, series::Axis::epoch));
    axis->setCurrentIndex(static_cast<int>(series::Axis::step));
    QVERIFY(live.plots().cursors() == Cursors(10, 40));
    // A cursor before the first step is at no step: it goes, and the other is the first one then.
    live.plots().set_cursors(0.5, 40);
    axis->setCurrentIndex(static_cast<int>(series::Axis::examples));
    QVERIFY(live.plots().cursors() == Cursors(640, std::nullopt));
  }

  void a_reading_that_fails_is_not_told_as_a_run_that_failed() {
    LiveHere live;
    store::RunStore store(live.database());
    run::RunStart start;
    start.batch = 16;
    store::NewRun run;
    run.spec_json = run::to_json(small_run(100));
    run.start_json = run::to_json(start);
    const auto writer = store.begin(run);
    live.bench().open({writer->id()});
    QTRY_COMPARE_WITH_TIMEOUT(live.run()->status(), QString("running"), patience_ms);
    const QString name = QString::fromStdString(live.database().string());
    QVERIFY(QFile::rename(name, name + ".away"));
    QFile other(name);
    QVERIFY(other.open(QIODevice::WriteOnly));
    QTRY_COMPARE_WITH_TIMEOUT(live.run()->status(), QString("unreadable"), patience_ms);
    QVERIFY(live.named<QLabel>("reason")->isVisible());
    QCOMPARE(live.named<QLabel>("reason")->text(), live.run()->reason());
    QCOMPARE(live.named<QLabel>("run-status")->text(), QString("cannot be read"));
    QVERIFY(!live.action("Pause the run")->isEnabled());
  }
};

BATCHSCOPE_TEST(TestLivePlaces)
#include "tst_live_places.moc"
