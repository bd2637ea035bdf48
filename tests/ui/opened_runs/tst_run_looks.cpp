#include <QSet>
#include <QTest>

#include "test_program.h"
#include "ui/opened_runs/run_looks.h"
#include "ui/theme/theme.h"

using namespace batchscope::ui;

/// Colours and dashes of runs that are drawn together.
class TestRunLooks : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void a_run_keeps_its_look() {
    QCOMPARE(run_looks({7}), QList<int>{6});
    QCOMPARE(run_looks({7, 3}), (QList<int>{6, 2}));
    QCOMPARE(run_looks({1, 2, 3, 7}).last(), 6);
  }

  void neighbours_differ_in_more_than_a_dash() {
    const Theme theme;
    QSet<QRgb> colors;
    for (const int look : run_looks({41, 42, 43, 44, 45, 46}))
      colors += theme.series(look).rgb();
    QCOMPARE(colors.size(), 6);
  }

  void no_two_look_the_same() {
    const Theme theme;
    for (const QList<qint64>& runs : {QList<qint64>{1, 2, 3, 4, 5, 6, 7}, {5, 29, 53, 77, 101}, {24, 48, 1, 25}}) {
      QSet<QString> looks;
      for (const int look : run_looks(runs)) {
        QString text = theme.series(look).name();
        for (const qreal part : theme.dashes(look))
          text += QString(" %1").arg(part);
        looks += text;
      }
      QCOMPARE(looks.size(), runs.size());
    }
    // Of two that would, the first one keeps its own.
    QCOMPARE(run_looks({29, 5}), (QList<int>{5, 4}));
  }
};

BATCHSCOPE_TEST(TestRunLooks)
#include "tst_run_looks.moc"
