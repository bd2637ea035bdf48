#include <QAbstractItemModelTester>
#include <QTest>

#include "made_sweep.h"
#include "test_program.h"
#include "ui/sweep/sweep_table.h"

using namespace batchscope;
using namespace batchscope::ui;
using batchscope::test::grid_spec;

namespace {

using telemetry::RunStatus;

/// The runs of a sweep with these statuses, waiting ones in the order of their places.
SweepView view_with(const std::vector<RunStatus>& statuses, const std::vector<std::size_t>& places = {}) {
  auto content = std::make_shared<SweepContent>(content_of(grid_spec("8,16,32,64", "", 1)));
  content->sweep = 1;
  std::vector<store::RunRow> rows;
  std::size_t waiting = 0;
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    store::RunRow row;
    row.id = static_cast<std::int64_t>(i) + 1;
    row.outcome.status = statuses[i];
    row.outcome.peak_bytes = statuses[i] == RunStatus::queued ? 0 : 1'000'000 * (10 - i);
    row.outcome.seconds = 3;
    content->entries[i].run = row.id;
    if (statuses[i] == RunStatus::queued) {
      content->entries[i].place = places.empty() ? waiting : places[waiting];
      ++waiting;
    }
    rows.push_back(row);
  }
  return view_of(content, nullptr, rows);
}

QStringList column_of(const QAbstractItemModel& model, const QString& title) {
  QStringList texts;
  for (int column = 0; column < model.columnCount(); ++column)
    if (model.headerData(column, Qt::Horizontal).toString() == title)
      for (int row = 0; row < model.rowCount(); ++row)
        texts << model.index(row, column).data().toString();
  return texts;
}

} // namespace

class TestSweepRunModel : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void first_what_trains_then_what_waits_then_what_has_ended() {
    Theme theme;
    SweepRunModel model(theme);
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.show_sweep(view_with({RunStatus::finished, RunStatus::running, RunStatus::queued, RunStatus::queued}, {1, 0}),
                     Metric::accuracy);
    QCOMPARE(column_of(model, "Run"), QStringList({"2", "4", "3", "1"}));
    QCOMPARE(column_of(model, "Status"), QStringList({"running", "waiting", "waiting", "finished"}));
    // The same rows as the sweep goes on: what is chosen stays chosen.
    const QPersistentModelIndex chosen = model.index(3, 0);
    model.show_sweep(view_with({RunStatus::finished, RunStatus::finished, RunStatus::queued, RunStatus::running}, {0}),
                     Metric::accuracy);
    QCOMPARE(column_of(model, "Run"), QStringList({"4", "3", "2", "1"}));
    QCOMPARE(chosen.data().toString(), QString("1"));
    model.show_sweep({}, Metric::accuracy);
    QCOMPARE(model.rowCount(), 0);
  }

  void a_plan_has_its_own_order_and_says_what_will_not_fit() {
    Theme theme;
    SweepRunModel model(theme);
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    const auto content = std::make_shared<const SweepContent>(content_of(grid_spec("8,512", "", 1)));
    auto predictions = std::make_shared<RunPredictions>(2);
    (*predictions)[0].peak_bytes = 8'000'000;
    (*predictions)[1].peak_bytes = 512'000'000;
    (*predictions)[1].fits = false;
    model.show_sweep(view_of(content, predictions, {}), Metric::accuracy);
    QCOMPARE(column_of(model, "#"), QStringList({"1", "2"}));
    QCOMPARE(column_of(model, "Peak MB"), QStringList({"8.0", "512.0"}));
    QCOMPARE(column_of(model, "Status"), QStringList({"fits", "will not fit"}));
    QVERIFY(column_of(model, "Accuracy %").isEmpty());
    for (int column = 0; column < model.columnCount(); ++column)
      if (model.headerData(column, Qt::Horizontal, Qt::DisplayRole) == "Status")
        QCOMPARE(model.index(1, column).data(Qt::ForegroundRole).value<QColor>(), theme.color(Role::error));
  }

  void rows_can_be_sorted_and_what_has_no_value_comes_last() {
    Theme theme;
    SweepTable table(theme);
    table.show_sweep(view_with({RunStatus::finished, RunStatus::finished, RunStatus::queued, RunStatus::finished}),
                     Metric::accuracy);
    const QAbstractItemModel& shown = *table.model();
    int peak = 0;
    while (shown.headerData(peak, Qt::Horizontal).toString() != "Peak MB")
      ++peak;
    table.sortByColumn(peak, Qt::AscendingOrder);
    QCOMPARE(column_of(shown, "Run"), QStringList({"4", "2", "1", "3"}));
    table.sortByColumn(peak, Qt::DescendingOrder);
    QCOMPARE(column_of(shown, "Run"), QStringList({"1", "2", "4", "3"}));
    table.choose({1});
    QCOMPARE(table.chosen(), (std::vector<std::size_t>{1}));
    table.reset_order();
    QCOMPARE(column_of(shown, "Run"), QStringList({"3", "4", "2", "1"}));
    QCOMPARE(table.chosen(), (std::vector<std::size_t>{1}));
  }
};

BATCHSCOPE_TEST(TestSweepRunModel)
#include "tst_sweep_run_model.moc"
