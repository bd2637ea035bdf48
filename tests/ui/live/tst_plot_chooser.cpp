#include <QJsonObject>
#include <QListWidget>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QWheelEvent>

#include "core/telemetry/record.h"
#include "test_program.h"
#include "ui/live/live_curves.h"
#include "ui/live/live_test.h"
#include "ui/live/plot_choice.h"
#include "ui/live/plot_chooser.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

/// Which plots Live shows, in what order and size.
class TestPlotChooser : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void choices_survive_the_settings();
  void any_series_becomes_a_plot();
  void memory_by_use_at_the_peak();
  void several_runs_share_the_plot_of_a_series();
  void a_series_that_comes_later_is_drawn_then();
  void what_these_runs_lack_keeps_its_place();
  void many_plots_can_be_scrolled();
  void without_plots_the_list_is_offered();
  void keys_of_the_list_are_not_the_runs();
  void a_hidden_plot_leaves_nothing_to_move();
};

namespace {

class Chooser {
public:
  explicit Chooser(LiveHere& live) : button_(*live.named<PlotChooser>("plots")) {
    QTest::mouseClick(&button_, Qt::LeftButton);
    list_ = popup()->findChild<QListWidget*>();
  }
  ~Chooser() { popup()->close(); }

  QListWidgetItem* item(const QString& title) const {
    for (int i = 0; i < list_->count(); ++i)
      if (list_->item(i)->text() == title)
        return list_->item(i);
    return nullptr;
  }
  void tick(const QString& title, bool shown = true) const {
    QVERIFY2(item(title), qPrintable(title));
    item(title)->setCheckState(shown ? Qt::Checked : Qt::Unchecked);
  }
  void press(const QString& title, const char* button) const {
    list_->setCurrentItem(item(title));
    QTest::mouseClick(popup()->findChild<QPushButton*>(QLatin1String(button)), Qt::LeftButton);
  }
  QStringList titles() const {
    QStringList titles;
    for (int i = 0; i < list_->count(); ++i)
      titles += list_->item(i)->text();
    return titles;
  }
  QWidget* popup() const { return button_.findChild<QWidget*>("plot-list"); }

private:
  PlotChooser& button_;
  QListWidget* list_ = nullptr;
};

run::RunSpec evaluated_run(std::int64_t steps) {
  run::RunSpec spec = small_run(steps);
  spec.evaluate_every = run::EvaluationInterval{.steps = 5};
  return spec;
}

void train(LiveHere& live, const run::RunSpec& spec) {
  const Job* job = live.bench().start_run(spec);
  QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
  QTRY_COMPARE_WITH_TIMEOUT(live.run()->status(), QString("finished"), patience_ms);
}

/// The panel in whose legend this name is; no_panel: none that is visible.
int panel_with(const LinkedPlots& plots, const QString& name) {
  for (const auto& reading : plots.readings())
    if (reading.name == name && plots.panel_visible(reading.panel))
      return reading.panel;
  return no_panel;
}

/// How high a place of the upper end of a panel is, in px from the top.
double top(LiveHere& live, int panel) {
  live.plots().refresh_now();
  const auto [from, to] = live.plots().visible_range();
  for (double y = 200; y > 0; y /= 1.02)
    if (const auto at = live.plots().position(panel, (from + to) / 2, y))
      return at->y();
  return -1;
}

} // namespace

void TestPlotChooser::choices_survive_the_settings() {
  PlotChoices choices = usual_plots();
  choices.move(0, 2);
  choices[0].shown = false;
  choices += PlotChoice{.key = "series:my/metric", .large = true};
  QCOMPARE(plot_choices_from(to_json(choices)), choices);
  // Of another version, or written by hand.
  const QJsonArray strange{1, QJsonObject{{"key", "gone"}}, QJsonObject{{"key", "series:"}},
                           QJsonObject{{"key", "loss"}, {"shown", false}}, QJsonObject{{"key", "loss"}}};
  const PlotChoices read = plot_choices_from(strange);
  QCOMPARE(read.size(), usual_plots().size());
  QCOMPARE(read.first(), (PlotChoice{.key = "loss", .shown = false}));
  QCOMPARE(series_look("validation_accuracy").unit, QString("%"));
  QCOMPARE(series_look("device_bytes").title, QString("device"));
}

void TestPlotChooser::any_series_becomes_a_plot() {
  LiveHere live;
  train(live, evaluated_run(40));
  LinkedPlots& plots = live.plots();
  QCOMPARE(panel_with(plots, "validation accuracy"), no_panel);
  {
    const Chooser chooser(live);
    QVERIFY(!chooser.item("batch")); // has its plot
    QVERIFY(!chooser.item("seconds"));
    QCOMPARE(chooser.titles().first(4), (QStringList{"Memory", "Memory at the peak, by use", "Loss", "Batch size"}));
    chooser.tick("Validation accuracy");
    chooser.tick("Learning rate");
    live.keep_picture("plot-chooser");
  }
  const int accuracy = panel_with(plots, "validation accuracy");
  QVERIFY(accuracy > others_panel);
  QVERIFY(panel_with(plots, "learning rate") > others_panel);
  QVERIFY(top(live, accuracy) > top(live, coverage_panel)); // below
  live.point_at(30);
  QTRY_VERIFY(live.texts("reading-facts").contains("validation accuracy"));
  QVERIFY(live.texts("reading-facts").contains(" %"));
  const double coverage_before = top(live, coverage_panel);
  {
    const Chooser chooser(live);
    for (int i = 0; i < 6; ++i)
      chooser.press("Validation accuracy", "plot-up");
    QCOMPARE(chooser.titles().first(2), (QStringList{"Validation accuracy", "Memory"}));
    chooser.tick("Batch size", false);
    chooser.press("Validation accuracy", "plot-large");
    live.keep_picture("plots-chosen");
  }
  QVERIFY(!plots.panel_visible(batch_panel));
  QVERIFY(top(live, accuracy) < top(live, memory_panel)); // the first now
  QVERIFY(top(live, coverage_panel) != coverage_before);
  const QJsonObject state = live.page().state();
  LiveHere again;
  again.page().restore(state);
  train(again, evaluated_run(10));
  QVERIFY(panel_with(again.plots(), "validation accuracy") > others_panel);
  QVERIFY(!again.plots().panel_visible(batch_panel));
  {
    const Chooser chooser(again);
    chooser.press("Memory", "plot-reset");
  }
  QCOMPARE(panel_with(again.plots(), "validation accuracy"), no_panel);
  QVERIFY(again.plots().panel_visible(batch_panel));
  QVERIFY(top(again, memory_panel) < top(again, loss_panel));
}

void TestPlotChooser::memory_by_use_at_the_peak() {
  LiveHere live;
  train(live, small_run(20));
  QVERIFY(!live.plots().panel_visible(parts_panel));
  {
    const Chooser chooser(live);
    chooser.tick("Memory at the peak, by use");
    live.keep_picture("memory-by-use");
  }
  QVERIFY(live.plots().panel_visible(parts_panel));
  live.point_at(15);
  double sum = 0, peak = 0;
  QStringList names;
  for (const auto& reading : live.plots().readings()) {
    if (reading.panel == parts_panel) {
      names += reading.name;
      sum += reading.value.value_or(0);
    } else if (reading.name == "peak") {
      peak = reading.value.value_or(0);
    }
  }
  QVERIFY2(names.contains("activations") && names.contains("gradients"), qPrintable(names.join(' ')));
  QVERIFY(peak > 0);
  QCOMPARE(sum, peak);
}

void TestPlotChooser::several_runs_share_the_plot_of_a_series() {
  LiveHere live;
  QList<qint64> ids;
  for (const char* name : {"one", "two"}) {
    run::RunSpec spec = evaluated_run(20);
    spec.name = name;
    train(live, spec);
    ids += live.run()->id();
  }
  live.bench().open(ids);
  for (OpenRun* run : live.bench().opened())
    QTRY_COMPARE_WITH_TIMEOUT(run->status(), QString("finished"), patience_ms);
  {
    const Chooser chooser(live);
    chooser.tick("Validation accuracy");
  }
  QSet<QString> names;
  for (const auto& reading : live.plots().readings())
    if (reading.panel > others_panel)
      names += reading.name;
  QCOMPARE(names, (QSet<QString>{"one", "two"}));
  live.point_at(10); // lists the values of the usual plots only
  QTRY_VERIFY(live.texts("reading-runs").contains("two"));
  live.keep_picture("plots-of-two-runs");
}

void TestPlotChooser::a_series_that_comes_later_is_drawn_then() {
  LiveHere live;
  train(live, small_run(5));
  PlotChoices choices = usual_plots();
  choices += PlotChoice{.key = "series:mine"};
  live.named<PlotChooser>("plots")->choose(choices);
  QCOMPARE(panel_with(live.plots(), "mine"), no_panel);
  telemetry::StepRecord record;
  record.step = 6;
  record.more = {{"mine", 3.0}};
  live.run()->history()->append(record);
  Q_EMIT live.run()->grew();
  QVERIFY(panel_with(live.plots(), "mine") > others_panel);
}

void TestPlotChooser::what_these_runs_lack_keeps_its_place() {
  LiveHere live;
  train(live, small_run(5));
  PlotChoices choices = usual_plots();
  choices.prepend(PlotChoice{.key = "series:elsewhere", .large = true});
  auto& button = *live.named<PlotChooser>("plots");
  button.choose(choices);
  QCOMPARE(panel_with(live.plots(), "elsewhere"), no_panel);
  {
    const Chooser chooser(live);
    QVERIFY(!chooser.item("Elsewhere"));
    chooser.tick("Loss", false);
  }
  choices[3].shown = false; // the loss
  QCOMPARE(button.choices().first(choices.size()), choices);
}

void TestPlotChooser::many_plots_can_be_scrolled() {
  LiveHere live;
  train(live, evaluated_run(10));
  const auto* scroll = live.named<QScrollArea>("plots-scroll");
  QTRY_COMPARE(scroll->verticalScrollBar()->maximum(), 0);
  {
    const Chooser chooser(live);
    for (const QString& title : chooser.titles())
      chooser.tick(title);
  }
  QTRY_VERIFY(scroll->verticalScrollBar()->maximum() > 0);
  live.keep_picture("many-plots");
  LinkedPlots& plots = live.plots();
  const auto range = plots.visible_range();
  const auto takes_wheel_at = [&plots](int x) {
    const QPointF at(x, 100);
    QWheelEvent wheel(at, plots.mapToGlobal(at), {}, {0, 120}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(&plots, &wheel);
    plots.refresh_now();
    return wheel.isAccepted();
  };
  QVERIFY(!takes_wheel_at(2)); // beside the plots: left to what scrolls
  QCOMPARE(plots.visible_range(), range);
  QVERIFY(takes_wheel_at(plots.width() / 2));
  QVERIFY(plots.visible_range() != range);
}

void TestPlotChooser::without_plots_the_list_is_offered() {
  LiveHere live;
  train(live, evaluated_run(10));
  QVERIFY(!live.button("Choose plots…"));
  {
    const Chooser chooser(live);
    for (const QString& title : chooser.titles())
      chooser.tick(title, false);
  }
  QVERIFY(!live.plots().isVisible());
  live.keep_picture("no-plots");
  QTest::mouseClick(live.button("Choose plots…"), Qt::LeftButton);
  auto* list = live.named<PlotChooser>("plots")->findChild<QWidget*>("plot-list");
  QTRY_VERIFY(list->isVisible());
  list->findChild<QListWidget*>()->item(0)->setCheckState(Qt::Checked);
  list->close();
  QVERIFY(live.plots().isVisible());
}

void TestPlotChooser::keys_of_the_list_are_not_the_runs() {
  LiveHere live;
  live.bench().start_run(small_run(1'000'000));
  QTRY_VERIFY_WITH_TIMEOUT(live.run() != nullptr && live.run()->steps() > 5, patience_ms);
  QTRY_VERIFY_WITH_TIMEOUT(live.button("Pause") && live.button("Pause")->isEnabled(), patience_ms);
  {
    const Chooser chooser(live);
    auto* list = chooser.popup()->findChild<QListWidget*>();
    list->setCurrentItem(chooser.item("Loss"));
    QTest::keyClick(list, Qt::Key_Space);
    QCOMPARE(chooser.item("Loss")->checkState(), Qt::Unchecked);
  }
  QVERIFY(!live.plots().panel_visible(loss_panel));
  const std::int64_t steps = live.run()->steps();
  QTRY_VERIFY_WITH_TIMEOUT(live.run()->steps() > steps + 5, patience_ms); // goes on
  QVERIFY(!live.run()->paused());
  live.run()->stop();
  QTRY_VERIFY_WITH_TIMEOUT(live.bench().job_queue().idle(), patience_ms);
}

void TestPlotChooser::a_hidden_plot_leaves_nothing_to_move() {
  Theme theme;
  LinkedPlots plots(theme);
  LiveCurves::add_panels(plots);
  plots.set_handles(batch_panel, {{.id = 7, .panel = batch_panel, .from = 0, .to = 10, .y = 8}});
  plots.resize(800, 500);
  plots.show();
  QSignalSpy dropped(&plots, &LinkedPlots::handle_dropped);
  const auto move = [&plots] {
    plots.setFocus(Qt::OtherFocusReason);
    QTest::keyClick(&plots, Qt::Key_Tab);
    QTest::keyClick(&plots, Qt::Key_Up);
  };
  move();
  QCOMPARE(dropped.size(), 1);
  plots.set_panel_visible(batch_panel, false);
  QTest::keyClick(&plots, Qt::Key_Up); // it had the focus
  move();
  QCOMPARE(dropped.size(), 1);
  QVERIFY(!plots.accessibleName().contains("Batch size"));
}

BATCHSCOPE_TEST(TestPlotChooser)
#include "tst_plot_chooser.moc"
