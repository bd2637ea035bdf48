#include <QLabel>
#include <QSignalSpy>

#include "test_program.h"
#include "ui/findings/findings_card.h"
#include "ui/live/live_test.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

/// What the rules of advice find in the current run.
class TestLiveFindings : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void shown_where_they_apply() {
    LiveHere live;
    auto* card = live.page().findChild<FindingsCard*>();
    run::RunSpec wrong = small_run(3);
    wrong.batch.number = 1000; // 8 steps an epoch
    live.bench().start_run(wrong);
    QTRY_VERIFY_WITH_TIMEOUT(live.run() && live.run()->status() == "finished" && card->isVisible(), patience_ms);
    auto* finding = card->findChild<QLabel*>("finding");
    QVERIFY(finding->text().contains("8 steps of 1,000"));
    QSignalSpy proposed(&live.bench(), &Workbench::run_proposed);
    Q_EMIT finding->linkActivated("mend");
    QCOMPARE(proposed[0][0].value<run::RunSpec>().batch.number, 400);

    const std::int64_t before = live.run()->id();
    live.bench().start_run(small_run(3));
    QTRY_VERIFY_WITH_TIMEOUT(live.run()->id() != before && live.run()->status() == "finished", patience_ms);
    QTRY_VERIFY(!card->isVisible());
  }
};

BATCHSCOPE_TEST(TestLiveFindings)
#include "tst_live_findings.moc"
