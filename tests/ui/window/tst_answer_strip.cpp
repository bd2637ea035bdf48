#include "ui/window/answer_strip.h"

#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include "core/sweep/demo.h"
#include "test_program.h"
#include "ui/widgets/answer_banner.h"
#include "ui/workbench/workbench.h"

using namespace batchscope;
using namespace batchscope::ui;

class TestAnswerStrip : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void says_what_the_terminal_says() {
    const QTemporaryDir folder;
    Theme theme;
    Workbench bench(theme, folder.filePath("runs.db").toStdString());
    AnswerStrip strip(bench);
    QVERIFY(strip.isHidden());
    compare::Answer answer;
    answer.headline = "Batch size 64";
    answer.text = "Batch size 64: the best validation accuracy, 97.00 %.";
    answer.reason_size = answer.text.size();
    answer.text += " Larger batch sizes were not tried.";
    answer.batch = 64;
    strip.show_answer(sweep::demo_spec(), answer);
    QVERIFY(strip.isVisible());
    QCOMPARE(strip.findChild<AnswerBanner*>()->text(), QString::fromStdString(answer.text));
    // What it is, how sure that is, why, and the rest on request.
    QCOMPARE(strip.findChild<QLabel*>("answer")->text(), QString("Batch size 64"));
    QCOMPARE(strip.findChild<QLabel*>("certainty")->text(), QString("confidence not known"));
    QCOMPARE(strip.findChild<QLabel*>("answer-reason")->text(), QString("The best validation accuracy, 97.00 %."));
    auto* details = strip.findChild<QLabel*>("answer-more");
    QVERIFY(!details->isVisible());
    strip.findChild<QToolButton*>("answer-details")->click();
    QVERIFY(details->isVisible());
    QCOMPARE(details->text(), QString("Larger batch sizes were not tried."));

    run::RunSpec proposed;
    connect(&bench, &Workbench::run_proposed, this, [&](const run::RunSpec& spec) { proposed = spec; });
    QTest::mouseClick(strip.findChild<QPushButton*>(), Qt::LeftButton);
    QCOMPARE(run::to_string(proposed.batch), std::string("64"));
    QCOMPARE(proposed.memory_budget, sweep::demo_spec().memory_budget);
    QSignalSpy wanted(&bench, &Workbench::page_wanted);
    QTest::mouseClick(strip.findChild<QPushButton*>("show_sweep"), Qt::LeftButton);
    QCOMPARE(wanted.last().first().toString(), QString("sweep"));
    QTest::mouseClick(strip.findChild<QToolButton*>("dismiss"), Qt::LeftButton);
    QVERIFY(strip.isHidden());
  }
};

BATCHSCOPE_TEST(TestAnswerStrip)
#include "tst_answer_strip.moc"
