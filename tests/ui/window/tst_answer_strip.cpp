#include "ui/window/answer_strip.h"

#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include "core/sweep/demo.h"
#include "ui/run/workbench.h"

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
    const sweep::Recommendation recommended{64, "it has the best validation accuracy, 97.00 %"};
    strip.show_answer(sweep::demo_spec(), recommended);
    QVERIFY(strip.isVisible());
    QStringList texts;
    for (const auto* label : strip.findChildren<QLabel*>())
      texts << label->text();
    QVERIFY(texts.contains(QString::fromStdString(sweep::headline(recommended))));
    QVERIFY(texts.contains(QString::fromStdString(sweep::explanation(recommended))));
    QVERIFY(texts.contains("Why: it has the best validation accuracy, 97.00 %."));

    train::RunSpec proposed;
    connect(&bench, &Workbench::run_proposed, this, [&](const train::RunSpec& spec) { proposed = spec; });
    QTest::mouseClick(strip.findChild<QPushButton*>(), Qt::LeftButton);
    QCOMPARE(train::to_string(proposed.batch), std::string("64"));
    QCOMPARE(proposed.memory_budget, sweep::demo_spec().memory_budget);
    QTest::mouseClick(strip.findChild<QToolButton*>(), Qt::LeftButton);
    QVERIFY(strip.isHidden());
  }
};

QTEST_MAIN(TestAnswerStrip)
#include "tst_answer_strip.moc"
