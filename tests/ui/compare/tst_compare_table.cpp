#include <QAbstractItemModelTester>
#include <QTest>

#include "test_program.h"
#include "ui/compare/compare_table_model.h"
#include "ui/compare/compare_test.h"
#include "ui/theme/theme.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

namespace {

/// The table's model over a comparison, watched for anything that a view could stumble over.
struct TableHere {
  explicit TableHere(const std::vector<ReadRun>& runs = compared_sweep()) { show(runs); }

  void show(const std::vector<ReadRun>& runs) {
    auto comparison = std::make_shared<const Comparison>(make_comparison(runs));
    auto all = everything(*comparison);
    view.set_comparison(std::move(comparison), std::move(all));
  }
  int column(const QString& title) const {
    for (int column = 0; column < model.columnCount(); ++column)
      if (model.headerData(column, Qt::Horizontal).toString() == title)
        return column;
    return -1;
  }
  QString text(int row, const QString& title) const { return model.index(row, column(title)).data().toString(); }
  QStringList texts(const QString& title) const {
    QStringList texts;
    for (int row = 0; row < model.rowCount(); ++row)
      texts << text(row, title);
    return texts;
  }

  Theme theme;
  ComparisonView view;
  CompareTableModel model{theme, view};
  QAbstractItemModelTester tester{&model, QAbstractItemModelTester::FailureReportingMode::QtTest};
};

} // namespace

/// The rows and columns of the table of compared runs.
class TestCompareTable : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void showsWhatDiffers() {
    TableHere here;
    QCOMPARE(here.model.rowCount(), 24);
    QVERIFY(here.column("batch size") > 0);
    QVERIFY(here.column("learning rate") > 0);
    QCOMPARE(here.column("model"), -1); // the same in all
    QVERIFY(here.column("status") > 0); // always of interest
    QCOMPARE(here.column("loss min"), -1);
    here.model.set_only_differing(false);
    QVERIFY(here.column("model") > 0);
    here.model.set_shown("loss:min", true);
    here.model.set_shown("batch", false);
    QVERIFY(here.column("loss min") > 0);
    QCOMPARE(here.column("batch size"), -1);
    const QJsonObject state = here.model.state();
    here.model.reset_columns();
    QCOMPARE(here.column("loss min"), -1);
    here.model.restore(state);
    QVERIFY(here.column("loss min") > 0);
    // A setting that is the same in what the filter leaves needs no column.
    here.model.reset_columns();
    here.view.set_visible({0, 1, 2});
    QCOMPARE(here.column("batch size"), -1);
  }

  void sortsWithMissingValuesLast() {
    auto runs = compared_sweep();
    runs[0].run.row.outcome.validation_accuracy.reset();
    runs[7].run.row.outcome.validation_loss = std::numeric_limits<double>::quiet_NaN();
    TableHere here(runs);
    for (const auto order : {Qt::AscendingOrder, Qt::DescendingOrder}) {
      here.model.sort(here.column("validation accuracy"), order);
      QCOMPARE(here.text(23, "validation accuracy"), QString());
      here.model.sort(here.column("validation loss"), order);
      QCOMPARE(here.text(23, "validation loss"), QString());
      here.model.sort(here.column("batch size"), order);
      QCOMPARE(here.text(0, "batch size"), QString(order == Qt::AscendingOrder ? "16" : "1024"));
    }
    // The order stays when runs come.
    runs.push_back(compared_run(25, 2048, 0.01, 1));
    here.show(runs);
    QCOMPARE(here.text(0, "batch size"), QString("2048"));
  }

  void comparesWithABaseline() {
    TableHere here;
    here.model.set_baseline(1);
    QCOMPARE(here.model.index(0, 0).data().toString(), QString("batch 16, seed 1 · baseline"));
    const int peak = here.column("peak memory");
    QCOMPARE(here.model.headerData(peak + 1, Qt::Horizontal).toString(), QString("Δ"));
    QCOMPARE(here.model.index(0, peak + 1).data().toString(), QString());
    QCOMPARE(here.model.index(6, peak + 1).data().toString(), QString("+300.0 %"));
    const int accuracy = here.column("validation accuracy");
    QCOMPARE(here.model.index(6, accuracy + 1).data().toString(), QString("-0.48 points"));
    // Settings have no differences.
    QVERIFY(here.model.headerData(here.column("batch size") + 1, Qt::Horizontal).toString() != "Δ");
    here.model.set_baseline(std::nullopt);
    QCOMPARE(here.column("Δ"), -1);
  }

  /// Mean and interval are those of the shown runs of a group that have finished.
  void showsGroupsWithMeanAndSpread() {
    TableHere here;
    here.view.set_grouping("repeats");
    QCOMPARE(here.model.rowCount(), 8);
    QCOMPARE(here.model.headerData(0, Qt::Horizontal).toString(), QString("Group"));
    QCOMPARE(here.text(0, "runs"), QString("3"));
    QCOMPARE(here.text(0, "validation accuracy"), QString("94.94 % ± 0.25"));
    QCOMPARE(here.text(0, "seed"), QString("several"));
    QCOMPARE(here.text(0, "batch size"), QString("16"));
    here.view.set_visible({0, 1});
    QCOMPARE(here.model.rowCount(), 1);
    QCOMPARE(here.text(0, "validation accuracy"), QString("95.0 % ± 0.6"));
    here.view.set_visible({0});
    QCOMPARE(here.text(0, "validation accuracy"), QString("94.94 %"));
    here.view.set_visible(everything(here.view.comparison()));
    here.view.set_grouping("batch");
    QCOMPARE(here.text(0, "runs"), QString("6"));
    QCOMPARE(here.text(0, "learning rate"), QString("several"));
    here.view.set_grouping({});
    QCOMPARE(here.model.headerData(0, Qt::Horizontal).toString(), QString("Run"));
  }

  void leavesOutWhatHasNotFinished() {
    auto runs = compared_sweep();
    runs[0].run.row.outcome.status = telemetry::RunStatus::stopped;
    runs[0].run.row.outcome.steps = 3;
    runs[1].run.row.outcome.status = telemetry::RunStatus::queued;
    runs[1].run.row.outcome.steps = 0;
    runs[3].run.row.outcome.status = telemetry::RunStatus::failed;
    runs[4].run.row.outcome.status = telemetry::RunStatus::running;
    runs[5].run.row.outcome.status = telemetry::RunStatus::interrupted;
    TableHere here(runs);
    here.view.set_grouping("repeats");
    QCOMPARE(here.text(0, "runs"), QString("1 of 3"));
    QCOMPARE(here.text(0, "steps"), QString("500"));
    QCOMPARE(here.text(1, "runs"), QString("0 of 3"));
    QCOMPARE(here.text(1, "steps"), QString());
    QCOMPARE(here.text(2, "runs"), QString("3"));
  }

  /// Repeats with one seed learn the same: they are no further evidence.
  void oneSeedCountsOnce() {
    auto runs = compared_sweep();
    runs.push_back(compared_run(25, 16, 0.001, 1));
    TableHere here(runs);
    here.view.set_grouping("repeats");
    QCOMPARE(here.text(0, "runs"), QString("4"));
    QCOMPARE(here.text(0, "validation accuracy"), QString("94.94 % ± 0.25 (n = 3)"));
  }
};

BATCHSCOPE_TEST(TestCompareTable)
#include "tst_compare_table.moc"
