#include <QAbstractItemModelTester>
#include <QElapsedTimer>
#include <QSignalSpy>
#include <QTest>

#include <map>

#include "test_program.h"
#include "ui/runs/run_columns.h"
#include "ui/runs/run_filter.h"
#include "ui/runs/run_table_model.h"
#include "ui/runs/runs_test.h"
#include "ui/theme/theme.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

namespace {

constexpr auto report = QAbstractItemModelTester::FailureReportingMode::QtTest;

/// Model and filter, watched for anything that a view could stumble over.
struct Table {
  Theme theme;
  RunTableModel model{theme};
  RunFilter filter{model};
  QAbstractItemModelTester model_tester{&model, report};
  QAbstractItemModelTester filter_tester{&filter, report};

  const store::RunRow& shown(int row) const { return model.run(filter.mapToSource(filter.index(row, 0)).row()); }
  QList<qint64> ids() const {
    QList<qint64> ids;
    for (int row = 0; row < filter.rowCount(); ++row)
      ids.append(shown(row).id);
    return ids;
  }
  QString text(int row, int column) const { return model.index(row, column).data().toString(); }
};

} // namespace

/// The table's content: rows that come, go and change, their order, and what the filter leaves.
class TestRunTable : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void knowsItsColumns() {
    const auto& columns = run_columns();
    QStringList keys;
    for (const RunColumn& column : columns)
      keys << column.key;
    QCOMPARE(keys.join(' '),
             QString("id name status batch steps epoch loss validation_loss validation_accuracy peak_bytes "
                     "examples_per_second disturbed oom_events seconds started sweep model data schedule optimizer lr "
                     "tags note"));
    for (qsizetype i = 0; i < keys.size(); ++i)
      QCOMPARE(run_column(keys[i]), int(i));
    QCOMPARE(std::vector({id_column, name_column, status_column, note_column()}),
             std::vector({run_column("id"), run_column("name"), run_column("status"), run_column("note")}));
    for (const telemetry::OutcomeField& field : telemetry::outcome_fields()) // a new result is a column, too
      QCOMPARE(run_column(field.name) >= 0, field.column != nullptr || field.name == std::string_view("status"));
    QCOMPARE(column_title(columns[std::size_t(run_column("peak_bytes"))]), QString("Peak MB"));
    QCOMPARE(column_title(columns[std::size_t(run_column("validation_accuracy"))]), QString("Accuracy %"));
    QCOMPARE(column_title(columns[std::size_t(run_column("seconds"))]), QString("Time s"));
    QCOMPARE(run_column("nothing"), -1);
    for (const RunColumn& column : columns)
      QVERIFY2((column.number == nullptr) != (column.text == nullptr), column.key);
  }

  void showsFiguresAsPeopleReadThem() {
    Table table;
    store::RunRow run = finished_run(12);
    run.outcome.steps = 12345;
    run.outcome.validation_accuracy = 0.97349;
    run.outcome.peak_bytes = 1'234'567'890;
    run.outcome.loss = not_a_number;
    run.sweep = 3;
    store::RunRow failed;
    failed.id = 13;
    failed.outcome.status = telemetry::RunStatus::failed;
    failed.outcome.reason = "--batch: 9000 is above the data";
    table.model.set_runs({run, failed});
    QCOMPARE(table.text(0, id_column), QString("12"));
    QCOMPARE(table.text(0, run_column("steps")), QString("12,345"));
    QCOMPARE(table.text(0, run_column("validation_accuracy")), QString("97.35"));
    QCOMPARE(table.text(0, run_column("peak_bytes")), QString("1,234.6"));
    QCOMPARE(table.text(0, run_column("loss")), QString("NaN"));
    QCOMPARE(table.text(0, run_column("epoch")), QString("6.00"));
    QCOMPARE(table.text(0, run_column("examples_per_second")), QString("1,012"));
    QCOMPARE(table.text(0, run_column("sweep")), QString("3"));
    // What a run never had is not shown as 0.
    for (const int column : {run_column("batch"), run_column("loss"), run_column("validation_accuracy"),
                             run_column("peak_bytes"), run_column("examples_per_second"), run_column("seconds")})
      QCOMPARE(table.text(1, column), QString());
    QCOMPARE(table.model.index(1, status_column).data(Qt::ToolTipRole).toString(),
             QString("--batch: 9000 is above the data"));
    QCOMPARE(copied_text(run_columns()[run_column("loss")], run), QString("NaN"));
    QCOMPARE(copied_text(run_columns()[run_column("steps")], run), QString("12345"));
    QCOMPARE(copied_text(run_columns()[run_column("validation_accuracy")], failed), QString());
    // In the unit that the name of the column says, whatever the table shows.
    QCOMPARE(copied_text(run_columns()[run_column("validation_accuracy")], run), QString("0.97349"));
    QCOMPARE(copied_text(run_columns()[run_column("peak_bytes")], run), QString("1234567890"));
  }

  void marksSpeedsThatOtherWorkDisturbed() {
    Table table;
    auto runs = finished_runs(2);
    runs[0].outcome.disturbed = 0.42;
    runs[1].outcome.disturbed = 0.01;
    table.model.set_runs(runs);
    const auto rate = [&](int row, int role) {
      return table.model.index(row, run_column("examples_per_second")).data(role);
    };
    QVERIFY(rate(0, Qt::ForegroundRole).isValid() && !rate(1, Qt::ForegroundRole).isValid());
    QVERIFY(rate(0, Qt::ToolTipRole).toString().contains("42 % of the time"));
    QVERIFY(!rate(1, Qt::ToolTipRole).isValid());
    QCOMPARE(table.text(0, run_column("disturbed")), QString("42"));
  }

  void tellsTheStartInThePersonsTimeZone() {
    qputenv("TZ", "Asia/Tokyo");
    tzset();
    Table table;
    auto runs = finished_runs(2);
    runs[1].started = std::to_string(QDate::currentDate().year()) + "-05-03T20:15:10Z";
    table.model.set_runs(runs);
    QCOMPARE(table.text(0, run_column("started")), QString("3 May 2024"));
    QCOMPARE(table.text(1, run_column("started")), QString("4 May 05:15"));
    qunsetenv("TZ");
    tzset();
  }

  void rowsComeAndGoAnywhere() {
    Table table;
    table.filter.sort(run_column("loss"), Qt::AscendingOrder);
    std::mt19937 random(7);
    const auto all = mixed_runs(60, 1);
    for (int round = 0; round < 60; ++round) {
      std::vector<store::RunRow> some;
      for (const store::RunRow& run : all)
        if (random() % 3 != 0) {
          some.push_back(run);
          if (random() % 10 == 0)
            some.back().outcome.loss = static_cast<double>(random() % 100);
        }
      table.model.set_runs(some);
      QCOMPARE(table.model.rowCount(), int(some.size()));
      for (std::size_t i = 0; i < some.size(); ++i) {
        QCOMPARE(table.model.run(int(i)).id, some[i].id);
        QCOMPARE(table.text(int(i), run_column("loss")), run_columns()[run_column("loss")].shown_text(some[i]));
        QCOMPARE(table.model.row_of(some[i].id), int(i));
      }
      QCOMPARE(table.filter.rowCount(), int(some.size()));
    }
    QCOMPARE(table.model.row_of(1000), -1);
    table.model.set_runs({});
    QCOMPARE(table.model.rowCount(), 0);
  }

  void onlyWhatChangedIsSaid() {
    Table table;
    auto runs = finished_runs(5);
    table.model.set_runs(runs);
    QSignalSpy changed(&table.model, &QAbstractItemModel::dataChanged);
    QSignalSpy reset(&table.model, &QAbstractItemModel::modelReset);
    table.model.set_runs(runs);
    QCOMPARE(changed.count(), 0);
    runs[2].outcome.steps += 10;
    runs[2].outcome.loss = not_a_number;
    table.model.set_runs(runs);
    QCOMPARE(changed.count(), 1);
    QCOMPARE(changed[0][0].toModelIndex(), table.model.index(2, run_column("steps")));
    QCOMPARE(changed[0][1].toModelIndex(), table.model.index(2, run_column("loss")));
    table.model.set_runs(runs); // NaN is what it was
    QCOMPARE(changed.count(), 1);
    QCOMPARE(reset.count(), 0);
  }

  /// It is in the status, beside other columns.
  void progressIsSaid() {
    Table table;
    auto runs = finished_runs(2);
    runs[1].outcome.status = telemetry::RunStatus::running;
    runs[1].outcome.steps = 0;
    table.model.set_runs(runs);
    table.model.set_expected_steps(runs[1].id, 100);
    QSignalSpy changed(&table.model, &QAbstractItemModel::dataChanged);
    runs[1].outcome.steps = 10;
    table.model.set_runs(runs);
    const QModelIndex status = table.model.index(1, status_column);
    QVERIFY(std::any_of(changed.begin(), changed.end(), [&](const QList<QVariant>& signal) {
      const auto from = signal[0].toModelIndex(), to = signal[1].toModelIndex();
      return from.row() <= 1 && to.row() >= 1 && from.column() <= status.column() && to.column() >= status.column();
    }));
    QCOMPARE(status.data(RunTableModel::progress_role).toDouble(), 0.1);
  }

  void aChangeTouchesItsRowAlone() {
    Table table;
    auto runs = finished_runs(10'000);
    table.model.set_runs(runs);
    QSignalSpy changed(&table.model, &QAbstractItemModel::dataChanged);
    const std::uint64_t before = table.model.compared();
    runs[5000].outcome.steps += 10;
    table.model.change_runs({runs[5000]}, {});
    QCOMPARE(table.model.compared(), before + 1);
    QCOMPARE(changed.count(), 1);
    QCOMPARE(changed[0][0].toModelIndex(), table.model.index(5000, run_column("steps")));
    QCOMPARE(changed[0][1].toModelIndex(), table.model.index(5000, run_column("steps")));
  }

  void changesMakeTheSameTableAsAllRows() {
    Table table;
    table.filter.sort(run_column("loss"), Qt::AscendingOrder);
    std::mt19937 random(11);
    const auto all = mixed_runs(60, 1);
    std::map<std::int64_t, store::RunRow> there;
    for (int round = 0; round < 60; ++round) {
      std::vector<store::RunRow> rows;
      std::vector<std::int64_t> removed;
      for (const store::RunRow& run : all) {
        const bool is_there = there.count(run.id) > 0;
        if (const auto what = random() % 6; what == 0 && is_there) {
          removed.push_back(run.id);
          there.erase(run.id);
        } else if (what == 1) {
          rows.push_back(run);
          rows.back().outcome.loss = static_cast<double>(random() % 100);
          there[run.id] = rows.back();
        }
      }
      table.model.change_runs(rows, removed);
      QCOMPARE(table.model.rowCount(), int(there.size()));
      int row = 0;
      for (const auto& [id, run] : there) {
        QCOMPARE(table.model.run(row).id, id);
        QCOMPARE(table.text(row++, run_column("loss")), run_columns()[run_column("loss")].shown_text(run));
      }
      QCOMPARE(table.filter.rowCount(), int(there.size()));
    }
  }

  void editsAreShownAtOnceAndAskedFor() {
    Table table;
    table.model.set_runs(finished_runs(2));
    QSignalSpy renamed(&table.model, &RunTableModel::renamed);
    QSignalSpy annotated(&table.model, &RunTableModel::annotated);
    QVERIFY(table.model.setData(table.model.index(1, name_column), "  better\n name "));
    QCOMPARE(table.text(1, name_column), QString("better name"));
    QCOMPARE(renamed.count(), 1);
    QCOMPARE(renamed[0], (QList<QVariant>{qint64(2), "run 2", "better name"}));
    QVERIFY(table.model.setData(table.model.index(1, name_column), "better name")); // nothing new
    QCOMPARE(renamed.count(), 1);
    QVERIFY(table.model.setData(table.model.index(0, note_column()), "keep"));
    QCOMPARE(annotated[0], (QList<QVariant>{qint64(1), "", "keep"}));
    QVERIFY(!table.model.setData(table.model.index(0, run_column("batch")), 7));
    table.filter.set_text("keep");
    QCOMPARE(table.ids(), QList<qint64>{1});
  }

  void sortsNumbersAsNumbers_data() {
    QTest::addColumn<int>("column");
    for (std::size_t column = 0; column < run_columns().size(); ++column)
      if (run_columns()[column].number)
        QTest::addRow("%s", run_columns()[column].key) << int(column);
  }

  void sortsNumbersAsNumbers() {
    QFETCH(int, column);
    Table table;
    table.model.set_runs(mixed_runs(300, 3));
    const auto number = run_columns()[std::size_t(column)].number;
    for (const auto order : {Qt::AscendingOrder, Qt::DescendingOrder}) {
      table.filter.sort(column, order);
      QCOMPARE(table.filter.rowCount(), 300);
      // Numbers in order, then NaN, then what is not there.
      int stage = 0;
      std::optional<double> before;
      for (int row = 0; row < 300; ++row) {
        const auto value = number(table.shown(row));
        const int now = !value ? 2 : std::isnan(*value) ? 1 : 0;
        QVERIFY2(now >= stage, qPrintable(QString("row %1").arg(row)));
        stage = now;
        if (now == 0) {
          QVERIFY(!before || (order == Qt::AscendingOrder ? *before <= *value : *before >= *value));
          before = value;
        }
      }
    }
  }

  void sortsNamesWithTheirNumbersAndEmptyOnesLast() {
    Table table;
    auto runs = finished_runs(4);
    runs[0].name = "batch 10";
    runs[1].name = "Batch 9";
    runs[2].name = "";
    runs[3].name = "adam";
    table.model.set_runs(runs);
    table.filter.sort(name_column, Qt::AscendingOrder);
    QCOMPARE(table.ids(), (QList<qint64>{4, 2, 1, 3}));
    table.filter.sort(name_column, Qt::DescendingOrder);
    QCOMPARE(table.ids(), (QList<qint64>{1, 2, 4, 3}));
  }

  void filtersByWords() {
    Table table;
    auto runs = finished_runs(30);
    runs[4].name = "Residual net";
    runs[4].note = "ask about the tail";
    runs[7].outcome.status = telemetry::RunStatus::failed;
    table.model.set_runs(runs);
    const auto found = [&](const QString& text) {
      table.filter.set_text(text);
      return table.ids();
    };
    QCOMPARE(found("residual"), QList<qint64>{5});
    QCOMPARE(found("tail RESID"), QList<qint64>{5}); // in any column and order
    QCOMPARE(found("failed"), QList<qint64>{8});
    QCOMPARE(found("failed residual"), QList<qint64>{});
    QCOMPARE(found("1,500"), QList<qint64>{15}); // figures as they are shown
    QCOMPARE(found("  ").size(), 30);
    QVERIFY(!table.filter.filtering());
    QVERIFY(table.filter.error().isEmpty());
  }

  void filtersByComparisons() {
    Table table;
    auto runs = finished_runs(10);
    runs[6].outcome.status = telemetry::RunStatus::failed;
    runs[8].outcome.loss = not_a_number;
    table.model.set_runs(runs);
    table.filter.set_text("batch >= 112 and status = finished");
    QCOMPARE(table.ids(), (QList<qint64>{8, 9, 10}));
    QVERIFY(table.filter.filtering());
    table.filter.set_text("loss = NaN");
    QCOMPARE(table.ids(), QList<qint64>{9});
    // A row that changes enters and leaves.
    runs[0].outcome.loss = not_a_number;
    runs[8].outcome.loss = 0.1;
    table.model.set_runs(runs);
    QCOMPARE(table.ids(), QList<qint64>{1});
  }

  void keepsWhatIsShownWhileAComparisonIsTyped() {
    Table table;
    table.model.set_runs(finished_runs(10));
    table.filter.set_text("batch >= 128");
    QCOMPARE(table.ids(), (QList<qint64>{8, 9, 10}));
    const QPair<QString, QString> wrong[] = {
        {"batch >=", "position 9"}, {"batch >= much", "position 10"}, {"size > 3", "position 1"}};
    for (const auto& [text, position] : wrong) {
      table.filter.set_text(text);
      QVERIFY2(table.filter.error().contains(position + ";"), qPrintable(table.filter.error()));
      QCOMPARE(table.ids(), (QList<qint64>{8, 9, 10}));
    }
    table.filter.set_text("batch >= 160");
    QVERIFY(table.filter.error().isEmpty());
    QCOMPARE(table.ids(), QList<qint64>{10});
  }

  void tellsHowFarARunIs() {
    Table table;
    auto runs = finished_runs(2);
    runs[1].outcome.status = telemetry::RunStatus::running;
    runs[1].outcome.steps = 30;
    table.model.set_runs(runs);
    const QModelIndex status = table.model.index(1, status_column);
    QVERIFY(!status.data(RunTableModel::progress_role).isValid());
    table.model.set_expected_steps(2, 120);
    table.model.set_expected_steps(1, 120);
    QCOMPARE(status.data(RunTableModel::progress_role).toDouble(), 0.25);
    QVERIFY(!table.model.index(0, status_column).data(RunTableModel::progress_role).isValid()); // it is over
    table.model.set_plotted({2, 1});
    QCOMPARE(table.model.index(0, name_column).data(RunTableModel::series_role).toInt(), 0);
    table.model.set_plotted({1}); // its look is its own, whatever is plotted beside it
    QCOMPARE(table.model.index(0, name_column).data(RunTableModel::series_role).toInt(), 0);
    QVERIFY(!table.model.index(1, name_column).data(RunTableModel::series_role).isValid());
    QVERIFY(!table.model.index(0, note_column()).data(RunTableModel::series_role).isValid());
  }

  /// Prints what a large database costs the UI thread.
  void tenThousandRuns() {
    Theme theme;
    RunTableModel model(theme);
    RunFilter filter(model);
    auto runs = mixed_runs(10'000, 5);
    QElapsedTimer time;
    const auto say = [&](const char* what) { qInfo("%-34s %6.1f ms", what, double(time.nsecsElapsed()) / 1e6); };
    time.start();
    model.set_runs(runs);
    say("first rows");
    QTRY_VERIFY(!model.findChild<QTimer*>()->isActive()); // long before a person has found a key
    for (const int column : {id_column, run_column("loss"), name_column}) {
      time.start();
      filter.sort(column, Qt::DescendingOrder);
      say(qPrintable(QString("sort by %1").arg(run_columns()[std::size_t(column)].key)));
    }
    for (const char* text : {"quick", "quick 12", "", "loss < 0.5 and status = finished"}) {
      time.start();
      filter.set_text(text);
      say(qPrintable(QString("filter \"%1\", %2 left").arg(text).arg(filter.rowCount())));
    }
    filter.set_text("");
    for (const int column : {id_column, run_column("loss")}) {
      filter.sort(column, Qt::DescendingOrder);
      runs[9'000].outcome.loss = 0.001 * column;
      runs[9'000].outcome.steps += 10;
      time.start();
      model.set_runs(runs);
      say(qPrintable(QString("one run changed, by %1").arg(run_columns()[std::size_t(column)].key)));
    }
    runs.push_back(finished_run(10'001));
    time.start();
    model.set_runs(runs);
    say("one run more");
    auto fewer = runs;
    for (int i = 0; i < 100; ++i)
      fewer.erase(fewer.begin() + i * 50);
    time.start();
    model.set_runs(fewer);
    say("100 runs fewer, here and there");
    time.start();
    model.set_runs(runs);
    say("and back again");
    QCOMPARE(filter.rowCount(), 10'001);
  }
};

BATCHSCOPE_TEST(TestRunTable)
#include "tst_run_table.moc"
