#include <QLocale>

#include "core/run/run_spec.h"
#include "core/run/run_start.h"
#include "core/store/run_store.h"
#include "test_program.h"
#include "ui/live/live_curves.h"
#include "ui/workbench_test.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

/// Curves of several runs, and what is told of their values.
class TestLiveCurves : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void many_runs_are_smoothed_at_the_cost_of_one();
  void runs_beside_each_other_are_smoothed_alike();
  void streams_have_a_colour_each_and_can_be_hidden();
  void numbers_beside_each_other();
};

namespace {

QList<qint64> two_runs(const std::filesystem::path& file, std::int64_t steps) {
  QList<qint64> ids;
  store::RunStore store(file);
  for (const char* name : {"one", "two"}) {
    run::RunSpec spec = small_run(steps);
    spec.name = name;
    run::RunStart start;
    start.batch = 16;
    start.train_examples = 1000;
    store::NewRun run;
    run.name = name;
    run.spec_json = run::to_json(spec);
    run.start_json = run::to_json(start);
    const auto writer = store.begin(run);
    ids += writer->id();
    writer->finish({.status = telemetry::RunStatus::finished});
  }
  return ids;
}

/// Two finished runs and their curves; the values are added by the test.
struct TwoRuns {
  QTemporaryDir folder;
  const std::filesystem::path file = (folder.path() + "/runs.db").toStdString();
  Theme theme;
  std::unique_ptr<Workbench> bench;
  LinkedPlots plots{theme};
  std::unique_ptr<LiveCurves> curves;

  void open(std::int64_t steps) {
    const QList<qint64> ids = two_runs(file, steps);
    bench = std::make_unique<Workbench>(theme, file);
    bench->open(ids);
    QCOMPARE(bench->opened().size(), 2);
    for (OpenRun* run : bench->opened())
      QTRY_COMPARE_WITH_TIMEOUT(run->status(), QString("finished"), patience_ms);
    LiveCurves::add_panels(plots);
    curves = std::make_unique<LiveCurves>(plots);
    curves->show(bench->opened(), series::Axis::step);
  }
  static void add(OpenRun& run, std::int64_t steps, const std::function<double(std::int64_t step)>& loss) {
    for (std::int64_t step = 1; step <= steps; ++step) {
      telemetry::StepRecord record;
      record.step = step;
      record.loss = loss(step);
      run.history()->append(record);
    }
  }
  const CurveSource* smoothed(const OpenRun& run) const {
    for (const LiveCurve& curve : curves->curves())
      if (curve.name == "loss, " + run.name())
        return curve.source.get();
    qFatal("no smoothed loss of %s", qPrintable(run.name()));
  }
};

} // namespace

void TestLiveCurves::many_runs_are_smoothed_at_the_cost_of_one() {
  constexpr std::int64_t steps = 120'000;
  TwoRuns here;
  here.open(steps);
  const auto runs = here.bench->opened();
  for (OpenRun* run : runs)
    here.add(*run, steps, [](std::int64_t) { return 1; });
  QVERIFY(!here.curves->catch_up()); // either of them alone would be done
  for (const OpenRun* run : runs)
    QCOMPARE(here.smoothed(*run)->extent()->second, 100'000.0);
  QVERIFY(here.curves->catch_up());
  for (const OpenRun* run : runs)
    QCOMPARE(here.smoothed(*run)->extent()->second, double(steps));
}

void TestLiveCurves::runs_beside_each_other_are_smoothed_alike() {
  constexpr std::int64_t steps = 16'000;
  TwoRuns here;
  here.open(steps);
  here.plots.resize(900, 700);
  here.plots.show();
  OpenRun& one = *here.bench->opened().front();
  OpenRun& two = *here.bench->opened().back();
  const auto loss = [](std::int64_t step) { return step < 100 ? 1 : 2; };
  here.add(one, steps, loss);
  here.add(two, 200, loss);
  const auto loss_at_100 = [&](const OpenRun& run) {
    while (!here.curves->catch_up())
      ;
    return here.smoothed(run)->value_at(100).value_or(0);
  };
  here.plots.show_range(1, 250);
  const double near = loss_at_100(one);
  here.plots.show_range(1, steps);
  const double far = loss_at_100(one);
  QVERIFY2(far < near - 0.2, qPrintable(QString("%1 %2").arg(near).arg(far))); // over as much of the view
  QCOMPARE(loss_at_100(two), far);                                             // also where there are few steps
}

void TestLiveCurves::streams_have_a_colour_each_and_can_be_hidden() {
  const QTemporaryDir folder;
  const std::filesystem::path file = (folder.path() + "/runs.db").toStdString();
  {
    store::RunStore store(file);
    store::NewRun run;
    run.spec_json = run::to_json(small_run(1));
    const auto writer = store.begin(run);
    writer->finish({.status = telemetry::RunStatus::finished});
  }
  Theme theme;
  Workbench bench(theme, file);
  bench.open({1});
  QTRY_COMPARE_WITH_TIMEOUT(bench.current()->status(), QString("finished"), patience_ms);
  LinkedPlots plots(theme);
  LiveCurves::add_panels(plots);
  LiveCurves curves(plots);
  curves.show(bench.opened(), series::Axis::step);
  QVERIFY(!curves.has_streams() && !curves.outdated());
  telemetry::StepRecord record;
  record.step = 1;
  record.more = {
      {"loss/a", 2}, {"train_coverage/a", 0.5}, {"epoch/a", 0.5}, {"examples/a", 7}, {"loss/b", 3}, {"tokens", 9},
      {"own", 1}};
  bench.current()->history()->append(record);
  QVERIFY(curves.outdated());
  curves.show(bench.opened(), series::Axis::step);
  QVERIFY(curves.has_streams());
  const auto shown = [&] {
    QMap<QString, QPair<int, int>> places; // panel and colour
    for (const LiveCurve& curve : curves.curves())
      places[curve.name] = {curve.panel, curve.style.series};
    return places;
  };
  const auto places = shown();
  QCOMPARE(places["loss of a"], qMakePair(int(loss_panel), 0));
  QCOMPARE(places["loss of b"], qMakePair(int(loss_panel), 1));
  QCOMPARE(places["train_coverage of a"], qMakePair(int(coverage_panel), 0));
  QCOMPARE(places["examples of a"], qMakePair(int(batch_panel), 0));
  QCOMPARE(places["epoch of a"].first, no_panel);
  QCOMPARE(places["tokens"].first, no_panel);
  QCOMPARE(places["own"].first, int(others_panel));
  curves.set_by_stream(false);
  curves.show(bench.opened(), series::Axis::step);
  QCOMPARE(shown()["loss of a"].first, no_panel);
  QVERIFY(curves.has_streams());
}

void TestLiveCurves::numbers_beside_each_other() {
  QLocale::setDefault(QLocale::c()); // thousands apart in it, too
  QCOMPARE(panel_number(memory_panel, 12'345.67), QString("12,345.7"));
  QCOMPARE(panel_number(memory_panel, -3.04), QString("-3.0"));
  QCOMPARE(panel_number(batch_panel, 12'345), QString("12,345"));
  QCOMPARE(panel_number(batch_panel, 34.57), QString("34.6"));
  QCOMPARE(panel_number(coverage_panel, 47.23), QString("47.2"));
  QCOMPARE(panel_number(coverage_panel, 100), QString("100"));
  QCOMPARE(panel_number(loss_panel, 0.15861), QString("0.159"));
  QCOMPARE(panel_number(loss_panel, qQNaN()), QString("NaN"));
}

BATCHSCOPE_TEST(TestLiveCurves)
#include "tst_live_curves.moc"
