#include <QApplication>
#include <QFontMetricsF>
#include <QTest>

#include "made_sweep.h"
#include "test_program.h"
#include "ui/sweep/cell_layout.h"
#include "ui/sweep/cell_text.h"

using namespace batchscope;
using namespace batchscope::ui;
using batchscope::test::grid_spec;

namespace {

/// A sweep of which the first runs have finished, with the accuracies that are given.
SweepView view_with(const sweep::SweepSpec& spec, const std::vector<double>& accuracies) {
  auto content = std::make_shared<SweepContent>(content_of(spec));
  content->sweep = 1;
  std::vector<store::RunRow> rows;
  for (std::size_t i = 0; i < accuracies.size(); ++i) {
    store::RunRow row;
    row.id = static_cast<std::int64_t>(i) + 1;
    row.outcome.status = telemetry::RunStatus::finished;
    row.outcome.validation_accuracy = accuracies[i];
    row.outcome.seconds = 10;
    rows.push_back(row);
    content->entries[i].run = row.id;
  }
  return view_of(content, nullptr, rows);
}

QString place_text(const Cell& cell) {
  return QString("%1/%2/%3").arg(cell.panel).arg(cell.row).arg(cell.column);
}

} // namespace

/// Where the settings of a sweep lie in its picture, and what their cells say.
class TestCellGrid : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void two_fields_span_a_grid_of_repeats() {
    const SweepView view = view_with(grid_spec("16,32", "0.001,0.01", 3), {0.9, 0.92, 0.94, 0.5});
    const CellGrid grid = grid_of(view, Metric::accuracy);
    QVERIFY(!grid.flows);
    QCOMPARE(grid.columns.values, QStringList({"16", "32"}));
    QCOMPARE(grid.rows.values, QStringList({"0.001", "0.01"}));
    QCOMPARE(grid.cells.size(), std::size_t{4});
    QCOMPARE(grid.cells[0].runs, (std::vector<std::size_t>{0, 1, 2}));
    QCOMPARE(grid.cells[0].summary.n, std::int64_t{3});
    QCOMPARE(grid.cells[0].summary.mean, 0.92);
    QCOMPARE(place_text(grid.cells[1]), QString("0/1/0"));
    QCOMPARE(grid.cells[1].summary.n, std::int64_t{1});
    QCOMPARE(grid.least, 0.5);
    QCOMPARE(grid.most, 0.92);
    QCOMPARE(goodness(grid, Metric::accuracy, 0.92), 1.0);
    QCOMPARE(goodness(grid, Metric::loss, 0.92), 0.0); // the smaller the better
  }

  void batch_sizes_are_columns_wherever_they_are_listed() {
    sweep::SweepSpec spec = grid_spec("", "0.001,0.003,0.01", 1);
    spec.vary.push_back(sweep::parse_values("batch", "16,32"));
    const CellGrid grid = grid_of(view_with(spec, {}), Metric::accuracy);
    QCOMPARE(grid.columns.field, std::string("batch"));
    QCOMPARE(grid.rows.values.size(), 3);
  }

  void a_third_field_has_grids_beside_each_other() {
    sweep::SweepSpec spec = grid_spec("16,32,64", "0.001,0.01", 1);
    spec.vary.push_back(sweep::parse_values("dropout", "0,0.1"));
    spec.vary.push_back(sweep::parse_values("optimizer", "sgd;adamw"));
    const CellGrid grid = grid_of(view_with(spec, {}), Metric::accuracy);
    QCOMPARE(grid.panels.size(), 4);
    QVERIFY(grid.panels.contains("dropout 0.1, optimizer sgd"));
    QCOMPARE(grid.cells.size(), std::size_t{24});
  }

  void seeds_are_repeats_also_if_they_vary() {
    sweep::SweepSpec spec = grid_spec("16,32", "", 1);
    spec.vary.push_back(sweep::parse_values("seed", "7,8,9"));
    const CellGrid grid = grid_of(view_with(spec, {}), Metric::accuracy);
    QCOMPARE(grid.cells.size(), std::size_t{2});
    QCOMPARE(grid.cells[0].runs.size(), std::size_t{3});
    QVERIFY(grid.rows.values.isEmpty());
  }

  void drawn_settings_follow_each_other() {
    sweep::SweepSpec spec = grid_spec("", "", 1);
    spec.base.batch = {run::BatchChoice::Kind::number, 32};
    spec.vary = {sweep::parse_values("lr", "0.0001..0.1 log")};
    spec.random = 9;
    const CellGrid grid = grid_of(view_with(spec, {}), Metric::accuracy);
    QVERIFY(grid.flows);
    QCOMPARE(grid.cells.size(), std::size_t{9});
    QVERIFY(grid.columns.values.isEmpty() && grid.rows.values.isEmpty());
  }

  void a_grid_that_is_mostly_left_out_does_too() {
    sweep::SweepSpec spec = grid_spec("8,16,32,64,128", "0.001,0.002,0.003,0.004,0.005", 1);
    spec.only = "batch = 8 and lr = 0.001 or batch = 128 and lr = 0.005";
    QVERIFY(grid_of(view_with(spec, {}), Metric::accuracy).flows);
  }

  void cells_keep_apart_and_within_their_room() {
    const QFontMetricsF metrics(qApp->font());
    sweep::SweepSpec three = grid_spec("16,32,64", "0.001,0.003", 2);
    three.vary.push_back(sweep::parse_values("dropout", "0,0.1,0.2"));
    sweep::SweepSpec drawn = grid_spec("", "0.0001..0.1 log", 1);
    drawn.random = 300;
    for (const auto& spec :
         {grid_spec("16", "", 1), grid_spec(), grid_spec("1..4096 x2", "0.0001..0.1 x1.4", 3), three, drawn})
      for (const QSizeF room : {QSizeF(1060, 420), QSizeF(600, 280), QSizeF(260, 110)}) {
        const CellGrid grid = grid_of(view_with(spec, {}), Metric::accuracy);
        const CellLayout layout = layout_of(grid, room, metrics);
        QCOMPARE(layout.cells.size(), grid.cells.size());
        for (std::size_t i = 0; i < layout.cells.size(); ++i) {
          const QRectF& cell = layout.cells[i];
          QVERIFY2(cell.width() >= 1 && cell.height() >= 1, "a cell is too small to be seen");
          QVERIFY2(QRectF(QPointF(), room).adjusted(-0.5, -0.5, 0.5, 0.5).contains(cell),
                   qPrintable(QString("%1 cells").arg(layout.cells.size())));
          for (std::size_t other = 0; other < i; ++other)
            QVERIFY(!layout.cells[other].adjusted(0.01, 0.01, -0.01, -0.01).intersects(cell));
        }
        for (const CellLayout::Label& label : layout.labels)
          QVERIFY(label.place.left() >= -0.5 && label.place.top() >= -0.5);
      }
  }

  void cells_say_how_far_they_are() {
    auto content = std::make_shared<SweepContent>(content_of(grid_spec("16", "0.001,0.003,0.01,0.1", 2)));
    content->sweep = 1;
    std::vector<store::RunRow> rows;
    const auto add = [&](telemetry::RunStatus status, std::optional<double> accuracy, std::int64_t ooms) {
      store::RunRow row;
      row.id = static_cast<std::int64_t>(rows.size()) + 1;
      content->entries[rows.size()].run = row.id;
      if (status == telemetry::RunStatus::queued)
        content->entries[rows.size()].place = rows.size();
      row.outcome.status = status;
      row.outcome.validation_accuracy = accuracy;
      row.outcome.oom_events = ooms;
      row.outcome.seconds = status == telemetry::RunStatus::finished ? 12 : 0;
      rows.push_back(row);
    };
    using telemetry::RunStatus;
    add(RunStatus::finished, 0.97, 0);
    add(RunStatus::finished, 0.98, 2);
    add(RunStatus::failed, {}, 1);
    add(RunStatus::failed, {}, 1);
    add(RunStatus::finished, 0.9, 0);
    add(RunStatus::running, {}, 0);
    add(RunStatus::queued, {}, 0);
    add(RunStatus::queued, {}, 0);
    const SweepView view = view_of(content, nullptr, rows);
    const CellGrid grid = grid_of(view, Metric::accuracy);
    const auto text = [&](std::size_t cell) { return cell_text(view, grid.cells[cell], Metric::accuracy); };
    QCOMPARE(text(0).head, QString("97.5 %"));
    QCOMPARE(text(0).below, QString("± 6.4"));
    QCOMPARE(text(0).alarm, QString("2 OOM, survived"));
    QCOMPARE(text(1).head, QString("failed")); // whatever has ended it
    QCOMPARE(text(1).below, QString("2 OOM"));
    QVERIFY(text(1).failed);
    QCOMPARE(text(2).head, QString("90.00 %"));
    QCOMPARE(text(2).below, QString("1 of 2 runs"));
    QVERIFY(trains(view, grid.cells[2]));
    QCOMPARE(text(3).head, QString("2 runs waiting"));
    QCOMPARE(text(3).below, QString("about 12.0 s")); // as long as the others with this batch size
    QVERIFY(untouched(view, grid.cells[3]));
    QVERIFY(cell_tip(view, grid.cells[1], Metric::accuracy).contains("seed 2, run 4: failed, 1 OOM"));
  }
};

BATCHSCOPE_TEST(TestCellGrid)
#include "tst_cell_grid.moc"
