#include "compare_cost.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QPixmap>
#include <QTest>

#include <algorithm>
#include <random>
#include <vector>

#include "core/compare/answer.h"
#include "ui/compare/compare_table.h"
#include "ui/compare/comparison_view.h"
#include "ui/compare/parallel_plot.h"
#include "ui/compare/run_scope.h"
#include "ui/compare/scatter_plot.h"
#include "ui/theme/theme.h"

namespace batchscope::bench {

namespace {

using namespace batchscope::ui;

/// Runs that differ in four settings and in their seeds, with results that scatter.
std::vector<ReadRun> scattered_runs(std::size_t count) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 0.01);
  std::uniform_real_distribution<double> exponent(-4, -1);
  std::vector<ReadRun> runs(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t batch = std::int64_t{8} << (random() % 9);
    const double lr = std::pow(10, exponent(random));
    store::RunRow& row = runs[i].run.row;
    row.id = static_cast<std::int64_t>(i) + 1;
    row.name = "run " + std::to_string(row.id);
    row.outcome.status = telemetry::RunStatus::finished;
    row.outcome.batch = batch;
    row.outcome.steps = 80'000 / batch;
    row.outcome.loss = 0.5 + noise(random);
    row.outcome.validation_loss = 0.6 + noise(random);
    row.outcome.validation_accuracy = 0.9 + noise(random);
    row.outcome.peak_bytes = static_cast<std::uint64_t>(batch) * (100'000 + random() % 10'000);
    row.outcome.seconds = 100 + 1000.0 / static_cast<double>(batch) + noise(random);
    row.outcome.examples_per_second = 80'000 / row.outcome.seconds;
    runs[i].run.spec = {{"batch", batch},
                        {"lr", lr},
                        {"momentum", 0.1 * static_cast<double>(random() % 10)},
                        {"optimizer", random() % 2 ? "sgd" : "adamw"},
                        {"seed", random() % 5}};
    runs[i].run.accuracies = {{row.outcome.seconds, *row.outcome.validation_accuracy}};
    runs[i].run.losses = {{row.outcome.seconds, *row.outcome.validation_loss}};
    for (const char* name : {"loss", "grad_norm", "peak_bytes"})
      runs[i].series.push_back({name, 100, 100, noise(random), -1, 1});
  }
  return runs;
}

double milliseconds(const std::function<void()>& work) {
  QElapsedTimer time;
  time.start();
  work();
  return static_cast<double>(time.nsecsElapsed()) / 1e6;
}

} // namespace

CompareCost measure_compare(std::size_t count) {
  CompareCost cost;
  const std::vector<ReadRun> runs = scattered_runs(count);
  std::shared_ptr<const Comparison> comparison;
  cost.columns = milliseconds([&] { comparison = std::make_shared<const Comparison>(make_comparison(runs)); });
  compare::Answer answer;
  cost.answer = milliseconds([&] { answer = compare::answer(comparison->compared, {}); });

  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
    qputenv("QT_QPA_PLATFORM", "offscreen");
  int arguments = 1;
  std::string name = "bench";
  char* texts[] = {name.data(), nullptr};
  QApplication application(arguments, texts);
  Theme theme;
  theme.apply_to(application);
  ComparisonView view;
  ParallelPlot parallel(theme, view);
  ScatterPlot scatter(theme, view);
  CompareTable table(theme, view);
  parallel.resize(1300, 300);
  scatter.resize(640, 300);
  table.resize(1300, 250);
  for (QWidget* widget :
       {static_cast<QWidget*>(&parallel), static_cast<QWidget*>(&scatter), static_cast<QWidget*>(&table)})
    widget->show();
  view.set_comparison(comparison, CompareFilter(*comparison, {}).apply().runs);
  view.set_answer(answer);
  scatter.set_fields("result:peak_bytes", "result:validation_accuracy");
  QTest::qWait(100);
  cost.axes = milliseconds([&] {
    parallel.resize(1301, 300);
    parallel.grab();
  });
  cost.scatter = milliseconds([&] { scatter.grab(); });

  std::vector<double> frames;
  const auto move = [&](double place) { QTest::mouseMove(&parallel, parallel.point(1, place).toPoint()); };
  QTest::mousePress(&parallel, Qt::LeftButton, {}, parallel.point(1, 0).toPoint());
  for (int frame = 1; frame <= 50; ++frame)
    frames.push_back(milliseconds([&] {
      move(frame / 50.0);
      parallel.repaint();
      scatter.repaint();
      table.viewport()->repaint();
    }));
  QTest::mouseRelease(&parallel, Qt::LeftButton, {}, parallel.point(1, 1).toPoint());
  std::sort(frames.begin(), frames.end());
  cost.brush = frames[frames.size() / 2];
  cost.worst_brush = frames.back();
  view.clear_marks();

  cost.filter =
      milliseconds([&] { view.set_visible(CompareFilter(*comparison, "batch >= 64 and lr < 0.01").apply().runs); });
  cost.table = milliseconds([&] { table.grab(); });
  return cost;
}

} // namespace batchscope::bench
