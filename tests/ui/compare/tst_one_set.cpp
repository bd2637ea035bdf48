#include <QTest>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/base/json.h"
#include "core/compare/answer.h"
#include "core/compare/cells.h"
#include "test_program.h"
#include "ui/compare/compare_table_model.h"
#include "ui/compare/compare_test.h"
#include "ui/compare/scatter_plot.h"
#include "ui/theme/theme.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

namespace {

std::vector<ReadRun> random_runs(std::mt19937& random) {
  using telemetry::RunStatus;
  constexpr std::array statuses{RunStatus::finished, RunStatus::finished, RunStatus::finished,
                                RunStatus::finished, RunStatus::stopped,  RunStatus::failed,
                                RunStatus::running,  RunStatus::queued,   RunStatus::interrupted};
  std::vector<ReadRun> runs;
  for (std::size_t i = 0, count = 2 + random() % 14; i < count; ++i) {
    const std::int64_t batch = std::int64_t{16} << (random() % 3);
    runs.push_back(compared_run(std::ssize(runs) + 1, batch, random() % 2 ? 0.1 : 0.2, std::int64_t(random() % 3)));
    compare::ComparedRun& run = runs.back().run;
    run.row.outcome.status = statuses[random() % statuses.size()];
    if (random() % 3 == 0) { // other work made it slow
      run.row.outcome.disturbed = 0.4;
      run.row.outcome.examples_per_second *= 0.2;
    }
    if (run.row.outcome.status != RunStatus::finished) {
      run.row.outcome.validation_accuracy = 0.01;
      run.row.outcome.seconds = 1e6;
      run.accuracies = {{1, 0.01}};
    }
  }
  return runs;
}

std::vector<std::size_t> some_of(const Comparison& comparison, std::mt19937& random) {
  std::vector<std::size_t> some;
  for (std::size_t run = 0; run < comparison.runs().size(); ++run)
    if (random() % 4 != 0)
      some.push_back(run);
  return some;
}

QString cell(const compare::Cells& cells, std::size_t row, const std::string& title) {
  for (std::size_t column = 0; column < cells.header.size(); ++column)
    if (cells.header[column].title == title)
      return QString::fromStdString(cells.rows[row][column]);
  return {};
}

} // namespace

/// Sentence, table, scatter plot and report count the same runs and have the same means.
class TestOneSet : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void forAnyRunsFiltersAndStates() {
    std::mt19937 random(1); // NOLINT(cert-msc51-cpp): the same each time
    int compared = 0;
    for (int i = 0; i < 1000; ++i) {
      const auto comparison = std::make_shared<const Comparison>(make_comparison(random_runs(random)));
      ComparisonView view;
      CompareTableModel model(theme_, view);
      ScatterPlot scatter(theme_, view);
      view.set_comparison(comparison, some_of(*comparison, random));
      view.set_grouping("repeats");
      scatter.set_fields("batch", "result:validation_accuracy");
      // As the window answers, and as the report and the command line do for the runs that are left.
      std::vector<compare::ComparedRun> left;
      for (const std::size_t run : view.visible())
        left.push_back(comparison->runs()[run]);
      if (left.empty())
        continue;
      const compare::Comparison whole(left);
      const compare::Answer answer = compare::answer(whole, {});
      if (answer.standings.empty())
        continue;
      const compare::Cells cells = compare::cells_of(whole, answer);
      for (std::size_t standing = 0; standing < answer.standings.size(); ++standing)
        compared += same(answer.standings[standing], standing, cells, whole, model, scatter);
    }
    QVERIFY(compared > 1500);
  }

private:
  static int column(const CompareTableModel& model, const QString& title) {
    for (int column = 0; column < model.columnCount(); ++column)
      if (model.headerData(column, Qt::Horizontal).toString() == title)
        return column;
    return -1;
  }

  /// 1 if the standing has a mean that all of them show.
  static int same(const compare::Standing& standing, std::size_t at, const compare::Cells& cells,
                  const compare::Comparison& whole, const CompareTableModel& model, const ScatterPlot& scatter) {
    const qint64 id = whole.runs[standing.group.runs.front()].row.id;
    int row = 0;
    while (row < model.rowCount() && model.id(row) != id)
      ++row;
    const QString in_table = model.index(row, column(model, "validation accuracy")).data().toString();
    const QString in_sentence = QString::fromStdString(standing.text);
    const auto on_plot = scatter.values(model.runs(row).front());
    const QString mean = in_sentence.section(" over ", 0, 0);
    const bool has_mean = !standing.results.empty();
    const QString in_report = cell(cells, at, "validation accuracy");
    if (in_table.section(" (n", 0, 0) != mean || in_report != (has_mean ? in_sentence : QString("-")) ||
        on_plot.has_value() != has_mean)
      qFatal("%s", qPrintable(QString("%1 | %2 | %3").arg(in_sentence, in_table, in_report)));
    const QString runs = model.index(row, 1).data().toString();
    if (runs != cell(cells, at, "runs"))
      qFatal("%s | %s", qPrintable(runs), qPrintable(cell(cells, at, "runs")));
    // Speeds are those of the runs that were not disturbed. Without a difference there is no column.
    const int speeds = column(model, "examples/s");
    const QString speed = model.index(row, speeds).data().toString().section(" (n", 0, 0);
    if (speeds >= 0 && (speed.isEmpty() ? QString("-") : speed) != cell(cells, at, "examples/s"))
      qFatal("%s | %s", qPrintable(speed), qPrintable(cell(cells, at, "examples/s")));
    if (!has_mean)
      return 0;
    if (std::abs(on_plot->y() - 100 * compare::summarize(standing.results).mean) > 1e-9)
      qFatal("%f", on_plot->y());
    return 1;
  }

  Theme theme_;
};

BATCHSCOPE_TEST(TestOneSet)
#include "tst_one_set.moc"
