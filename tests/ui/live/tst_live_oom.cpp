#include <QSignalSpy>

#include "core/base/json.h"
#include "core/store/run_reader.h"
#include "test_events.h"
#include "test_program.h"
#include "ui/live/event_model.h"
#include "ui/live/live_test.h"
#include "ui/plot/linked_plots.h"
#include "ui/widgets/format.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

/// A real run that meets its limit, looked at when it is over.
class TestLiveOom : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void initTestCase();
  void cleanupTestCase();
  void the_card_says_what_is_stored();
  void a_row_leads_to_its_mark();
  void a_mark_leads_to_its_row();
  void the_filter_keeps_the_chosen_row_in_reach();
  void values_at_the_crosshair();
  void values_between_two_cursors();
  void fits_a_small_window();
  void along_other_axes();
  void the_view_is_kept();

private:
  QModelIndex row_with(const QString& what);

  std::unique_ptr<LiveHere> live_;
};

void TestLiveOom::initTestCase() {
  live_ = std::make_unique<LiveHere>();
  run::RunSpec spec = growing_run();
  spec.length.steps = 60;
  Job* job = live_->bench().start_run(spec);
  QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
  QTRY_COMPARE(live_->run()->status(), QString("finished"));
  QTRY_VERIFY(live_->page().findChild<QWidget*>("oom-card")->isVisible());
  // The table takes its rows in now and then; a row that comes later would move the others.
  QTRY_COMPARE(live_->table().model()->rowCount(), int(live_->run()->history()->events().size()));
  live_->keep_picture("oom");
}

void TestLiveOom::cleanupTestCase() {
  live_.reset();
}

QModelIndex TestLiveOom::row_with(const QString& what) {
  const QAbstractItemModel* model = live_->table().model();
  for (int row = 0; row < model->rowCount(); ++row) {
    const QModelIndex index = model->index(row, EventModel::what);
    if (index.data().toString().startsWith(what))
      return index;
  }
  return {};
}

void TestLiveOom::the_card_says_what_is_stored() {
  const store::RunReader reader(live_->database());
  std::optional<telemetry::Event> last;
  for (const auto& event : reader.events(live_->run()->id())) {
    if (kind_text(event) == "oom")
      last = event;
  }
  QVERIFY(last);
  const Json detail = Json::parse(detail_text(*last));
  const auto bytes = [&](const char* name) { return detail.at(name).get<double>(); };
  const QString facts = live_->texts("oom-facts");
  for (const char* name : {"requested_bytes", "in_use_bytes", "limit_bytes"})
    QVERIFY2(facts.contains(format_bytes(bytes(name))), qPrintable(facts));
  const double short_by = bytes("in_use_bytes") + bytes("requested_bytes") - bytes("limit_bytes");
  QVERIFY(short_by > 0);
  QVERIFY2(facts.contains(format_bytes(short_by)), qPrintable(facts));

  const QString card = live_->texts("oom-card");
  const auto parts = format_parts(detail.at("micro_batches_after").get<std::int64_t>(),
                                  detail.at("micro_batch_after").get<std::int64_t>());
  QVERIFY2(card.contains("retried as <b>" + parts + "</b>"), qPrintable(card));
  QVERIFY(card.contains(QString::fromStdString(detail.at("cause").get<std::string>())));
  QVERIFY(card.contains("no example lost, learning rate unchanged"));
  // What it claims: the step was made with the whole batch.
  const auto batch = reader.series(live_->run()->id(), "effective_batch");
  const auto step =
      std::find_if(batch.begin(), batch.end(), [&](const auto& point) { return point.step == last->step; });
  QVERIFY(step != batch.end());
  QCOMPARE(step->value, detail.at("examples_again").get<double>());
}

void TestLiveOom::a_row_leads_to_its_mark() {
  const QModelIndex row = row_with("out of memory");
  QVERIFY(row.isValid());
  const int step = row.siblingAtColumn(EventModel::step).data().toInt();
  live_->plots().show_range(0, 2); // far from it
  QTest::mouseClick(live_->table().viewport(), Qt::LeftButton, Qt::NoModifier, live_->table().visualRect(row).center());
  const auto [from, to] = live_->plots().visible_range();
  QVERIFY2(from <= step && step <= to, qPrintable(QString("%1 not in %2..%3").arg(step).arg(from).arg(to)));
  QVERIFY(live_->texts("oom-card").contains(QString("Out of memory at step %1").arg(step)));
  // The card shows the step in which that size was tried, as after a click on the mark.
  QCOMPARE(*live_->plots().crosshair(), double(step));
  const QString tried = row.siblingAtColumn(EventModel::before).data().toString();
  const series::Series* batch = live_->run()->history()->find("batch");
  QCOMPARE(format_count(std::llround(batch->values[step - 1])), tried);
  QVERIFY2(live_->texts("reading-facts").contains("batch\n" + tried), qPrintable(live_->texts("reading-facts")));
  live_->keep_picture("oom-chosen");
  // From there back to the newest without a mouse.
  live_->plots().setFocus();
  QTest::keyClick(&live_->plots(), Qt::Key_Escape);
  QVERIFY(!live_->plots().crosshair());
  live_->plots().show_all();
}

void TestLiveOom::a_mark_leads_to_its_row() {
  live_->table().clearSelection();
  QSignalSpy chosen(&live_->plots(), &LinkedPlots::mark_chosen);
  live_->plots().setFocus();
  QTest::keyClick(&live_->plots(), Qt::Key_M);
  QCOMPARE(chosen.count(), 1);
  const auto rows = live_->table().selectionModel()->selectedRows();
  QCOMPARE(rows.size(), 1);
  QCOMPARE(rows.first().data(EventModel::number_role).toLongLong(), chosen.first().at(0).toLongLong());
}

void TestLiveOom::the_filter_keeps_the_chosen_row_in_reach() {
  auto* groups = live_->page().findChild<QComboBox*>("event-filter");
  const int all = live_->table().model()->rowCount();
  groups->setFocus();
  QTest::keyClick(groups, Qt::Key_Down); // out of memory
  const int ooms = live_->table().model()->rowCount();
  QVERIFY(ooms > 0 && ooms < all);
  for (int row = 0; row < ooms; ++row)
    QVERIFY(live_->table().model()->index(row, EventModel::what).data().toString().startsWith("out of memory"));
  QTest::keyClick(groups, Qt::Key_Down); // edits
  QCOMPARE(live_->table().model()->rowCount(), 0);
  // A mark whose row is filtered out brings all of them back.
  live_->plots().setFocus();
  QTest::keyClick(&live_->plots(), Qt::Key_M);
  QCOMPARE(live_->table().model()->rowCount(), all);
  QCOMPARE(live_->table().selectionModel()->selectedRows().size(), 1);
}

void TestLiveOom::values_at_the_crosshair() {
  live_->point_at(20);
  QCOMPARE(*live_->plots().crosshair(), 20.0);
  const auto value = [this](const char* name) {
    const series::Series* series = live_->run()->history()->find(name);
    return series->values[series::index_at(series->frame->x(series::Axis::step), 20)];
  };
  QTRY_VERIFY(live_->texts("reading-facts").contains(format_bytes(value("peak_bytes"))));
  const QString facts = live_->texts("reading-facts");
  QVERIFY2(facts.contains(format_number(value("loss"))), qPrintable(facts));
  QVERIFY2(facts.contains(format_count(std::llround(value("batch")))), qPrintable(facts));
  QVERIFY2(facts.contains(format_percent(value("train_coverage"))), qPrintable(facts));
  QVERIFY2(facts.contains(format_parts(std::llround(value("micro_batches")), std::llround(value("micro_batch")))),
           qPrintable(facts));
}

void TestLiveOom::values_between_two_cursors() {
  auto* card = live_->page().findChild<QWidget*>("between-card");
  QVERIFY(!card->isVisible());
  live_->plots().set_cursors(40, 20);
  QTRY_VERIFY(card->isVisible());
  const QString text = live_->texts("between-card");
  QVERIFY2(text.contains("Between steps 20 and 40"), qPrintable(text));
  const series::Series* loss = live_->run()->history()->find("loss");
  const auto extremes = loss->values.extremes(19, 40); // steps 20 to 40
  for (const double expected : {extremes.min, extremes.max, extremes.sum / double(extremes.finite)})
    QVERIFY2(text.contains(format_number(expected, 3)), qPrintable(text));
  live_->keep_picture("between");
  live_->plots().set_cursors(std::nullopt, std::nullopt);
  QTRY_VERIFY(!card->isVisible());
}

void TestLiveOom::fits_a_small_window() {
  auto* figures = live_->page().findChild<QLabel*>("run-figures");
  QVERIFY(figures->text().contains("examples/s"));
  QVERIFY(!live_->texts("reading-facts").contains("memory budget")); // it is in the plot
  const QSize before = live_->page().size();
  live_->page().resize(940, 640); // what the rail leaves of 1024
  QCOMPARE(live_->page().width(), 940);
  QTRY_VERIFY(figures->geometry().right() < live_->button("Pause")->geometry().left());
  QVERIFY(figures->width() >= figures->fontMetrics().horizontalAdvance(figures->text()));
  QVERIFY(figures->text().startsWith("step "));
  QVERIFY(figures->toolTip().contains("examples/s"));
  // At no width anything is cut off.
  const auto* name = live_->named<QLabel>("run-name");
  for (int width = 1440; width >= 940; width -= 20) {
    live_->page().resize(width, 640);
    QCoreApplication::processEvents();
    for (const QLabel* label : {name, static_cast<const QLabel*>(figures)})
      QVERIFY2(label->width() >= label->fontMetrics().horizontalAdvance(label->text()),
               qPrintable(QString("%1 at %2").arg(label->text()).arg(width)));
  }
  live_->keep_picture("small");
  live_->page().resize(before);
  QTRY_VERIFY(figures->text().contains("examples/s"));
}

void TestLiveOom::along_other_axes() {
  auto* axis = live_->page().findChild<QComboBox*>("axis");
  const auto& history = *live_->run()->history();
  const std::int64_t last = live_->run()->steps();
  for (const auto along :
       {series::Axis::examples, series::Axis::epoch, series::Axis::seconds, series::Axis::clock, series::Axis::step}) {
    axis->setFocus();
    axis->setCurrentIndex(static_cast<int>(along));
    live_->plots().show_all();
    const double end = *history.position(last, along);
    const auto shown = [&] {
      live_->plots().refresh_now();
      return live_->plots().visible_range().second;
    };
    // The plan along the new axis is computed on another thread.
    QTRY_VERIFY2(shown() >= end && shown() < end * 1.5 + 1, qPrintable(QString("%1 of %2").arg(shown()).arg(end)));
    constexpr double longer_than_the_run = 3600;
    if (along == series::Axis::clock) // not from 1970 on
      QVERIFY(live_->plots().visible_range().first > end - longer_than_the_run);
    // The same step, wherever it lies.
    live_->point_at(*history.position(30, along));
    const auto step = history.step_at(*live_->plots().crosshair(), along);
    QVERIFY(step && std::abs(*step - 30) <= 1); // a pixel is about a step
    const QString loss = format_number(history.find("loss")->values[*step - 1]);
    QTRY_VERIFY2(live_->texts("reading-facts").contains(loss), qPrintable(live_->texts("reading-facts")));
    live_->keep_picture(QString("axis-%1").arg(static_cast<int>(along)));
  }
}

void TestLiveOom::the_view_is_kept() {
  live_->action("Logarithmic: Loss")->trigger();
  live_->action("X axis: epoch")->trigger();
  QVERIFY(live_->plots().log(loss_panel));
  const QJsonObject state = live_->page().state();
  LivePage other(live_->bench());
  other.restore(state);
  QVERIFY(other.findChild<LinkedPlots*>()->log(loss_panel));
  QCOMPARE(other.findChild<QComboBox*>("axis")->currentIndex(), int(series::Axis::epoch));
  QCOMPARE(other.state(), state);
  // What is broken is left alone.
  other.restore(
      {{"view", QJsonObject{{"axis", 17}, {"smoothing", "much"}, {"log_loss", 3}}}, {"splitter", 5}, {"events", 1}});
  QCOMPARE(other.findChild<QComboBox*>("axis")->currentIndex(), int(series::Axis::epoch));
  live_->action("Logarithmic: Loss")->trigger();
  live_->action("X axis: optimizer step")->trigger();
}

BATCHSCOPE_TEST(TestLiveOom)
#include "tst_live_oom.moc"
