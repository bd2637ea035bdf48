#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QSignalSpy>
#include <QTest>

#include <algorithm>

#include "core/compare/answer.h"
#include "core/run/run_spec.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "test_program.h"
#include "ui/compare/compare_page.h"
#include "ui/compare/compare_table.h"
#include "ui/compare/compare_table_model.h"
#include "ui/compare/compare_test.h"
#include "ui/compare/curves_card.h"
#include "ui/compare/parallel_plot.h"
#include "ui/compare/scatter_plot.h"
#include "ui/findings/findings_button.h"
#include "ui/page_test.h"
#include "ui/widgets/answer_banner.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

namespace {

/// Stores the runs of compared_sweep(), with series, in a sweep; `tokens`: of 990, 980, ... tokens a step.
void store_sweep(const std::filesystem::path& database, const std::vector<ReadRun>& runs = compared_sweep(),
                 bool tokens = false) {
  store::RunStore store(database);
  std::vector<store::CompleteRun> complete;
  for (const ReadRun& read : runs) {
    store::CompleteRun run;
    run.uid = QString("%1").arg(read.run.row.id, 32, 16, QChar('0')).toStdString();
    run.name = read.run.row.name;
    run.started = "2026-01-01T10:00:00Z";
    run.spec_json = json_text(read.run.spec);
    run.outcome = read.run.row.outcome;
    for (const char* name : {"loss", "validation_loss", "seconds", "examples_seen"}) {
      std::vector<store::Point> points;
      for (std::int64_t step = 1; step <= 10; ++step)
        points.push_back({step, name == std::string("loss") || name == std::string("validation_loss")
                                    ? 2.0 / double(step)
                                    : double(step) * (name == std::string("seconds") ? 1.5 : 64)});
      run.series.emplace_back(name, points);
    }
    if (tokens) {
      std::vector<store::Point> points;
      for (std::int64_t step = 1; step <= 10; ++step)
        points.push_back({step, 1000.0 - 10.0 * static_cast<double>(step)});
      run.series.emplace_back("tokens", points);
    }
    run.sweep = 0;
    complete.push_back(std::move(run));
  }
  store.add_complete(complete, {"{}"});
}

struct ComparePageHere : PageHere<ComparePage> {
  explicit ComparePageHere(bool filled = true) {
    if (!filled)
      return;
    store_sweep(database());
    wait_for(24);
  }

  void wait_for(std::size_t runs) {
    bench().run_database().refresh();
    if (!QTest::qWaitFor([&] { return view().comparison().runs().size() == runs; }, patience_ms))
      qFatal("the runs were not compared");
  }
  ComparisonView& view() { return page().view(); }
  CompareTable& table() { return *page().findChild<CompareTable*>(); }
  QString cell(int row, int column) { return table().runs().index(row, column).data().toString(); }
  int marked_rows() {
    int marked = 0;
    for (int row = 0; row < table().runs().rowCount(); ++row)
      marked += table().runs().index(row, 0).data(CompareTableModel::marked_role).toBool() ? 1 : 0;
    return marked;
  }
  QString answer() { return page().findChild<AnswerBanner*>()->text(); }
  void choose(const char* box, const QString& item) {
    auto* combo = named<QComboBox>(box);
    const int index = combo->findText(item);
    QVERIFY2(index >= 0, qPrintable(item));
    combo->setCurrentIndex(index);
    Q_EMIT combo->activated(index);
  }
  QAction* action(const QString& text) {
    for (QAction* action : page().page_actions())
      if (action->text() == text)
        return action;
    return nullptr;
  }
};

} // namespace

/// The page with real keys and a real database: one answer, and the same runs marked everywhere.
class TestComparePage : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void saysWhatTheCommandLineSays() {
    ComparePageHere here;
    const auto expected = [&](const char* goal) {
      const store::RunReader reader(here.database());
      const compare::Comparison comparison(compare::read_runs(reader, reader.runs_of_sweep(1)));
      return QString::fromStdString(compare::answer(comparison, compare::parse_goal(goal, "Goal")).text);
    };
    QTRY_COMPARE_WITH_TIMEOUT(here.answer(), expected("accuracy"), patience_ms);
    QVERIFY(here.answer().contains("batch size", Qt::CaseInsensitive));
    here.choose("goal", "Best throughput");
    QTRY_COMPARE_WITH_TIMEOUT(here.answer(), expected("throughput"), patience_ms);
    here.choose("goal", "Best within a time");
    here.named<QLineEdit>("goal-value")->selectAll();
    QTest::keyClicks(here.named<QLineEdit>("goal-value"), "3s");
    QTRY_COMPARE_WITH_TIMEOUT(here.answer(), expected("time:3s"), patience_ms);
    QTest::keyClicks(here.named<QLineEdit>("goal-value"), "x");
    QVERIFY(here.named<QLineEdit>("goal-value")->property("wrong").toBool());
    QVERIFY2(here.answer().contains("Enter"), qPrintable(here.answer()));
    here.keep_picture("sweep");
  }

  /// Batches 256 and 1024 are 2.4 and 10 points below 16.
  void findingsLeadToARun() {
    ComparePageHere here;
    auto* findings = here.page().findChild<FindingsButton*>();
    QTRY_VERIFY(findings->isVisible());
    QVERIFY(findings->text().contains("12 runs"));
    QSignalSpy page(&here.bench(), &Workbench::page_wanted);
    findings->menu()->actions().first()->trigger();
    QCOMPARE(page.last().first().toString(), QString("advice"));
    QVERIFY(here.bench().current() != nullptr);
  }

  void marksTheSameRunsEverywhere() {
    ComparePageHere here;
    auto& parallel = *here.page().findChild<ParallelPlot*>();
    auto& scatter = *here.page().findChild<ScatterPlot*>();
    // Dragging along the first axis, over the largest size.
    const QPoint from = parallel.point(0, 1).toPoint() - QPoint(0, 3);
    const QPoint to = parallel.point(0, 0.9).toPoint();
    QTest::mousePress(&parallel, Qt::LeftButton, {}, from);
    QTest::mouseMove(&parallel, to);
    QTest::mouseRelease(&parallel, Qt::LeftButton, {}, to);
    QCOMPARE(here.view().marked_runs().size(), std::size_t(6));
    QCOMPARE(here.marked_rows(), 6);
    QCOMPARE(here.view().comparison().runs()[here.view().marked_runs().front()].row.outcome.batch, 1024);
    // A point of the scatter plot: the mean of three repeats.
    QTest::mouseClick(&scatter, Qt::LeftButton, {}, scatter.position(0)->toPoint());
    QCOMPARE(here.view().marked_runs(), (std::vector<std::size_t>{0, 1, 2}));
    QVERIFY(!parallel.axes().brushed());
    QCOMPARE(here.marked_rows(), 3);
    // Rows of the table, the second with Shift.
    const auto row = [&](int number) { return here.table().visualRect(here.table().runs().index(number, 0)).center(); };
    QTest::mouseClick(here.table().viewport(), Qt::LeftButton, {}, row(1));
    QTest::mouseClick(here.table().viewport(), Qt::LeftButton, Qt::ShiftModifier, row(3));
    QCOMPARE(here.view().marked_runs(), (std::vector<std::size_t>{1, 2, 3}));
    here.keep_picture("marked");
    QTest::keyClick(&here.table(), Qt::Key_Escape);
    QVERIFY(!here.view().marking());
    QCOMPARE(here.marked_rows(), 0);
  }

  void brushesWithKeys() {
    ComparePageHere here;
    auto& parallel = *here.page().findChild<ParallelPlot*>();
    parallel.setFocus();
    QTest::keyClick(&parallel, Qt::Key_Down); // the upper quarter of the first axis
    QCOMPARE(here.view().marked_runs().size(), std::size_t(6));
    QTest::keyClick(&parallel, Qt::Key_Right, Qt::ControlModifier);
    QCOMPARE(parallel.axes().axes()[1].axis.key(), QString("batch"));
    QCOMPARE(here.view().marked_runs().size(), std::size_t(6));
    QTest::keyClick(&parallel, Qt::Key_L);
    QVERIFY(!parallel.axes().axes()[1].axis.log());
    QTest::keyClick(&parallel, Qt::Key_Delete);
    QCOMPARE(parallel.axes().axes().size(), std::size_t(6));
    QTest::keyClick(&parallel, Qt::Key_Escape);
    QVERIFY(!here.view().marking());
  }

  void answersForWhatTheFilterLeaves() {
    ComparePageHere here;
    QTRY_VERIFY_WITH_TIMEOUT(here.answer().startsWith("Batch size 16"), patience_ms);
    here.named<QLineEdit>("compare-filter")->setText("batch >= 256");
    QTRY_VERIFY_WITH_TIMEOUT(here.answer().startsWith("Batch size 256"), patience_ms);
    QCOMPARE(here.table().runs().rowCount(), 12);
    // While it is being typed, what was shown stays.
    here.named<QLineEdit>("compare-filter")->setText("batch >= 256 and");
    QVERIFY(here.named<QLineEdit>("compare-filter")->property("wrong").toBool());
    QCOMPARE(here.table().runs().rowCount(), 12);
    here.named<QLineEdit>("compare-filter")->setText("nothing like this");
    QCOMPARE(here.table().runs().rowCount(), 0);
    here.named<QLineEdit>("compare-filter")->clear();
    QCOMPARE(here.table().runs().rowCount(), 24);
  }

  void findsTheFrontThatNoOtherRunBeats() {
    ComparePageHere here;
    auto& scatter = *here.page().findChild<ScatterPlot*>();
    // Smaller sizes take less memory and are more accurate: the smallest beats all others.
    QCOMPARE(scatter.title(), QString("validation accuracy (%) against peak memory (MB)"));
    QCOMPARE(scatter.front().size(), std::size_t(1));
    here.choose("scatter-y", "examples/s");
    // Larger sizes are faster and take more memory: each is best at something.
    QCOMPARE(scatter.front().size(), std::size_t(4));
  }

  void showsRunsAsTheyCome() {
    ComparePageHere here(false);
    auto runs = compared_sweep();
    runs.resize(3);
    store_sweep(here.database(), runs);
    here.wait_for(3);
    {
      store::RunStore store(here.database());
      store::NewRun run;
      run.name = "the fourth";
      run.spec_json = R"({"batch": 2048, "lr": 0.1, "seed": 1})";
      telemetry::RunOutcome outcome = runs.front().run.row.outcome;
      outcome.status = telemetry::RunStatus::failed;
      store.add_finished(run, outcome);
    }
    here.wait_for(4);
    QCOMPARE(here.table().runs().rowCount(), 4);
  }

  void comparesASweepOrChosenRuns() {
    ComparePageHere here;
    store::RunStore(here.database())
        .add_finished({.name = "another", .spec_json = "{}"}, compared_sweep().front().run.row.outcome);
    here.wait_for(25);
    here.bench().compare_sweep(1);
    here.wait_for(24);
    QVERIFY(here.named<QComboBox>("scope")->currentText().startsWith("Sweep 1"));
    here.bench().compare({1, 4, 25});
    here.wait_for(3);
    QCOMPARE(here.named<QComboBox>("scope")->currentText(), QString("Chosen runs (3)"));
    here.choose("scope", "All runs");
    here.wait_for(25);
  }

  void keepsViewsInTheDatabase() {
    ComparePageHere here;
    here.named<QLineEdit>("compare-filter")->setText("lr = 0.01");
    here.choose("grouping", "repeats");
    here.choose("scatter-y", "examples/s");
    const QJsonObject state = here.page().state();
    ComparePageHere other(false);
    store_sweep(other.database());
    other.page().restore(state);
    other.wait_for(24);
    QCOMPARE(other.named<QLineEdit>("compare-filter")->text(), QString("lr = 0.01"));
    QCOMPARE(other.table().runs().rowCount(), 4);
    QCOMPARE(other.named<QComboBox>("scatter-y")->currentText(), QString("examples/s"));
    // The sweep with this number is another one there.
    here.bench().compare_sweep(1);
    other.page().restore(here.page().state());
    QCOMPARE(other.named<QComboBox>("scope")->currentText(), QString("All runs"));
    // Whatever stands in a settings file is ignored if it makes no sense.
    other.page().restore({{"axes", 7}, {"scope", "x"}, {"table", QJsonArray{1}}, {"goal", "gold"}});
    QCOMPARE(other.table().runs().rowCount(), 24);

    here.bench().run_database().save_view("mine", R"({"page": "compare", "filter": "batch = 64"})");
    QTRY_COMPARE_WITH_TIMEOUT(here.bench().run_database().views().size(), std::size_t(1), patience_ms);
    QMenu* views = nullptr;
    for (auto* menu : here.page().findChildren<QMenu*>())
      if (menu->title() == "Views")
        views = menu;
    QVERIFY(views);
    Q_EMIT views->aboutToShow();
    QCOMPARE(views->actions().front()->text(), QString("mine"));
    views->actions().front()->trigger();
    QCOMPARE(here.named<QLineEdit>("compare-filter")->text(), QString("batch = 64"));
  }

  void comparesEverythingWithABaseline() {
    ComparePageHere here;
    here.table().setCurrentIndex(here.table().runs().index(0, 0));
    here.action("Use as baseline")->trigger();
    QVERIFY(here.cell(0, 0).endsWith("baseline"));
    here.keep_picture("baseline");
    here.action("Use as baseline")->trigger();
    QVERIFY(!here.cell(0, 0).endsWith("baseline"));
  }

  void drawsCurvesOfTheRuns() {
    ComparePageHere here;
    QCOMPARE(here.named<QComboBox>("curve-series")->currentText(), QString("validation loss")); // there are several
    here.choose("curve-series", "loss");
    auto& card = *here.page().findChild<CurvesCard*>();
    QTRY_VERIFY_WITH_TIMEOUT(card.plots().visible_range().second >= 10, patience_ms);
    here.choose("curve-axis", "time (s)");
    QTRY_VERIFY_WITH_TIMEOUT(card.plots().visible_range().second > 14, patience_ms);
    QCOMPARE(here.named<QComboBox>("curve-axis")->findText("tokens of a step"), -1); // these runs have none
    // Too many to follow: the mean of each setting's three seeds, with its interval, named in one legend.
    QTRY_COMPARE_WITH_TIMEOUT(card.plots().readings().size(), 8, patience_ms);
    QCOMPARE(card.plots().readings().first().name, QString("batch size 16, lr 0.001"));
    here.keep_picture("means");
    // A few marked runs are named, and can be hidden in the legend.
    here.view().mark({0, 3}, nullptr);
    QTRY_COMPARE_WITH_TIMEOUT(card.plots().readings().size(), 2, patience_ms);
  }

  void drawsASeriesOverTokens() {
    ComparePageHere here(false);
    store_sweep(here.database(), compared_sweep(), true);
    here.wait_for(24);
    here.choose("curve-series", "loss");
    here.choose("curve-axis", "tokens of a step");
    auto& card = *here.page().findChild<CurvesCard*>();
    QTRY_VERIFY_WITH_TIMEOUT(card.plots().visible_range().first > 800, patience_ms);
    QVERIFY(card.plots().visible_range().second < 1100);
  }
};

BATCHSCOPE_TEST(TestComparePage)
#include "tst_compare_page.moc"
