#include <QAction>
#include <QComboBox>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTableView>

#include "core/compare/answer.h"
#include "core/store/run_reader.h"
#include "made_sweep.h"
#include "test_program.h"
#include "ui/page_test.h"
#include "ui/sweep/cells_picture.h"
#include "ui/sweep/how_card.h"
#include "ui/sweep/sweep_page.h"
#include "ui/sweep/sweep_table.h"
#include "ui/sweep/value_row.h"
#include "ui/widgets/answer_banner.h"
#include "ui/widgets/labelled_edit.h"
#include "ui/widgets/widgets.h"
#include "ui/workbench/goal_box.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;
using batchscope::test::grid_spec;
using batchscope::test::MadeSweep;

namespace {

/// A small net, of which runs take a moment.
sweep::SweepSpec small_sweep(const std::string& batches, std::int64_t steps = 8, std::int64_t repeats = 1) {
  sweep::SweepSpec spec;
  spec.base = small_run(steps);
  spec.vary = {sweep::parse_values("batch", batches)};
  spec.repeats = repeats;
  return spec;
}

class SweepHere : public PageHere<SweepPage> {
public:
  void plan(const sweep::SweepSpec& spec) {
    page().restore({{"planning", true}, {"plan", QString::fromStdString(to_json(spec, -1))}});
  }
  const SweepView& view() { return page().view(); }
  CellsPicture& cells() { return *named<CellsPicture>("cells"); }
  SweepTable& table() { return *named<SweepTable>("sweep_runs"); }
  QString answer() { return page().findChild<AnswerBanner*>()->text(); }
  QString status() { return named<QLabel>("state")->text(); }
  QPushButton& main() { return *named("main"); }
  QAction& action(const char* name) { return *page().findChild<QAction*>(QLatin1String(name)); }
  QLineEdit* input(const char* field) { return named<QWidget>(field)->findChild<QLineEdit*>(); }
  QStringList column(const QString& title) {
    const QAbstractItemModel& model = *table().model();
    QStringList texts;
    for (int column = 0; column < model.columnCount(); ++column)
      if (model.headerData(column, Qt::Horizontal).toString() == title)
        for (int row = 0; row < model.rowCount(); ++row)
          texts << model.index(row, column).data().toString();
    return texts;
  }
  Job* job() { return bench().job_queue().jobs().last(); }
  std::string cli_answer(std::int64_t sweep) {
    const store::RunReader reader(database());
    const compare::Comparison comparison(compare::read_runs(reader, reader.runs_of_sweep(sweep)));
    return compare::answer(comparison, {}).text;
  }
};

} // namespace

class TestSweepPage : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void an_empty_page_says_what_will_be_here_and_begins_a_plan();
  void a_plan_shows_its_runs_while_values_are_typed();
  void errors_of_the_whole_plan_are_said_at_their_field();
  void a_plan_becomes_a_sweep_that_ends_on_the_answer();
  void a_sweep_of_another_program_is_shown_as_it_goes_on();
  void a_paused_sweep_continues();
  void a_stopped_sweep_is_resumed();
  void waiting_runs_are_moved_and_skipped();
  void values_are_added_to_a_finished_sweep();
  void chosen_cells_are_chosen_rows_and_are_compared();
  void the_answer_follows_the_goal();
  void settings_come_from_new_run_and_go_back();
  void common_settings_are_edited_here();
  void what_varies_is_not_set_for_all();
  void a_program_has_only_a_budget();
  void an_earlier_sweep_is_shown_again();
  void its_state_comes_back();
};

void TestSweepPage::an_empty_page_says_what_will_be_here_and_begins_a_plan() {
  SweepHere here;
  QTRY_VERIFY(here.bench().run_database().loaded());
  QTest::qWait(0);
  auto* plan = here.page().findChild<EmptyState*>()->findChild<QPushButton*>();
  here.click(plan);
  QTRY_COMPARE(here.view().runs.size(), std::size_t{4});
  QCOMPARE(here.status(), QString("planning"));
  QVERIFY(here.main().isVisible() && here.main().text() == "Start sweep");
}

void TestSweepPage::a_plan_shows_its_runs_while_values_are_typed() {
  SweepHere here;
  here.plan(small_sweep("16,32"));
  QTRY_VERIFY_WITH_TIMEOUT(here.view().runs.size() == 2 && here.view().runs[1].prediction.peak_bytes, patience_ms);
  QTest::keyClicks(here.input("batch"), "64, 8000000");
  QTRY_VERIFY_WITH_TIMEOUT(here.view().runs.size() == 4 && here.view().runs[2].prediction.peak_bytes, patience_ms);
  QVERIFY(!here.view().runs[3].prediction.problem.empty());
  QVERIFY(here.answer().startsWith("4 runs"));
  QVERIFY2(here.answer().contains("1 cannot run"), qPrintable(here.answer()));
  QVERIFY(here.column("Status")[3].contains("8000000") || here.column("Status")[3].contains("8,000,000"));
  QCOMPARE(here.column("Status").mid(0, 3), QStringList({"fits", "fits", "fits"}));
}

void TestSweepPage::errors_of_the_whole_plan_are_said_at_their_field() {
  SweepHere here;
  here.plan(small_sweep("16,32"));
  QTRY_COMPARE_WITH_TIMEOUT(here.view().runs.size(), std::size_t{2}, patience_ms);
  here.type("only", "btach > 16");
  QTRY_VERIFY_WITH_TIMEOUT(here.error_of("only").contains("btach"), patience_ms);
  QVERIFY(!here.main().isEnabled());
  here.type("only", "batch > 16");
  QTRY_COMPARE_WITH_TIMEOUT(here.view().runs.size(), std::size_t{1}, patience_ms);
  QVERIFY(here.error_of("only").isEmpty());
  QTRY_VERIFY(here.main().isEnabled());
  here.type("random", "many");
  QVERIFY(here.error_of("random").contains("many"));
  QVERIFY(!here.main().isEnabled());
}

void TestSweepPage::a_plan_becomes_a_sweep_that_ends_on_the_answer() {
  SweepHere here;
  QSignalSpy wanted(&here.bench(), &Workbench::page_wanted);
  here.plan(small_sweep("16,32", 8, 2));
  QTRY_VERIFY_WITH_TIMEOUT(here.main().isEnabled(), patience_ms);
  auto* charts = here.named<QWidget>("sweep_charts");
  QVERIFY(charts && !charts->isVisible()); // there is nothing to see yet
  QTest::keyClick(&here.page(), Qt::Key_Return, Qt::ControlModifier);
  QCOMPARE(here.bench().job_queue().jobs().size(), 1);
  QCOMPARE(wanted.last().first().toString(), QString("sweep"));
  QTRY_VERIFY_WITH_TIMEOUT(here.page().shown().has_value(), patience_ms);
  QTRY_COMPARE_WITH_TIMEOUT(here.job()->state(), Job::State::done, patience_ms);
  QTRY_COMPARE_WITH_TIMEOUT(here.status(), QString("finished"), patience_ms);
  QTRY_COMPARE(here.answer().toStdString(), here.cli_answer(*here.page().shown()));
  QCOMPARE(here.view().count(RunStage::finished), std::size_t{4});
  QTRY_VERIFY(charts->isVisible()); // accuracy and throughput over the batch size
  QCOMPARE(here.main().text(), QString("Compare"));
  QSignalSpy compared(&here.bench(), &Workbench::sweep_comparison_wanted);
  here.click(&here.main());
  QCOMPARE(compared.count(), 1);
  QCOMPARE(compared.first().first().toLongLong(), *here.page().shown());
}

void TestSweepPage::a_sweep_of_another_program_is_shown_as_it_goes_on() {
  SweepHere here;
  MadeSweep made(here.database(), grid_spec("16,32,64", "0.001,0.003", 2), 7);
  QTRY_COMPARE_WITH_TIMEOUT(here.view().over(), std::size_t{7}, patience_ms);
  QTRY_VERIFY(here.answer().startsWith("So far: "));
  made.train(50);
  QTRY_COMPARE_WITH_TIMEOUT(here.status(), QString("running"), patience_ms);
  QCOMPARE(here.view().count(RunStage::waiting), std::size_t{4});
  QTRY_VERIFY(here.texts("now").contains("50 of 126"));
  QVERIFY(here.named<QLabel>("progress_text")->text().startsWith("7 of 12 runs"));
  QCOMPARE(here.column("Status").first(), QString("running"));
  // A run of another program is paused by a command to it.
  here.action("pause").trigger();
  QTRY_VERIFY_WITH_TIMEOUT(made.commands() == std::vector<std::string>{"pause"}, patience_ms);
}

void TestSweepPage::a_paused_sweep_continues() {
  SweepHere here;
  here.plan(small_sweep("16", 40'000));
  QTRY_VERIFY_WITH_TIMEOUT(here.main().isEnabled(), patience_ms);
  here.click(&here.main());
  QTRY_VERIFY_WITH_TIMEOUT(here.action("pause").isEnabled(), patience_ms);
  here.action("pause").trigger();
  QTRY_COMPARE_WITH_TIMEOUT(here.status(), QString("paused"), patience_ms);
  QCOMPARE(here.action("pause").text(), QString("Continue"));
  QCOMPARE(here.column("Status").first(), QString("paused"));
  here.action("pause").trigger();
  QTRY_COMPARE_WITH_TIMEOUT(here.status(), QString("running"), patience_ms);
  QCOMPARE(here.action("pause").text(), QString("Pause"));
  QSignalSpy problems(&here.bench().run_database(), &RunDatabase::problem);
  // Stopped with its button, which goes: the keyboard stays in the header.
  QPushButton* stop = here.named("stop");
  stop->setFocus();
  QTest::keyClick(stop, Qt::Key_Space);
  QTRY_COMPARE_WITH_TIMEOUT(here.status(), QString("incomplete"), patience_ms);
  QCOMPARE(here.main().text(), QString("Resume"));
  QVERIFY(here.main().hasFocus() || here.named<QComboBox>("sweeps")->hasFocus());
  for (const QList<QVariant>& problem : problems) // its own run is not asked to stop once it has
    QCOMPARE(problem.front().toString(), QString());
}

void TestSweepPage::a_stopped_sweep_is_resumed() {
  SweepHere here;
  here.plan(small_sweep("8,12,16,24,32", 150));
  QTRY_VERIFY_WITH_TIMEOUT(here.main().isEnabled(), patience_ms);
  here.click(&here.main());
  QTRY_VERIFY_WITH_TIMEOUT(here.view().stored() && here.view().over() >= 1, patience_ms);
  QTest::keyClick(&here.page(), Qt::Key_Period, Qt::ControlModifier);
  QTRY_COMPARE_WITH_TIMEOUT(here.job()->state(), Job::State::cancelled, patience_ms);
  QTRY_COMPARE_WITH_TIMEOUT(here.status(), QString("incomplete"), patience_ms);
  QVERIFY(here.view().count(RunStage::missing) >= 1);
  QCOMPARE(here.main().text(), QString("Resume"));
  here.click(&here.main());
  QTRY_COMPARE_WITH_TIMEOUT(here.status(), QString("finished"), patience_ms);
  QCOMPARE(here.view().count(RunStage::finished), std::size_t{5});
  QTRY_COMPARE_WITH_TIMEOUT(here.job()->state(), Job::State::done, patience_ms);
}

void TestSweepPage::waiting_runs_are_moved_and_skipped() {
  SweepHere here;
  MadeSweep made(here.database(), grid_spec("8,16,32,64", "", 1), 1);
  const store::RunReader reader(here.database());
  QTRY_COMPARE_WITH_TIMEOUT(here.column("Run"), QStringList({"2", "3", "4", "1"}), patience_ms);
  here.table().choose({2, 3});
  Q_EMIT here.table().choice_changed();
  QVERIFY(here.action("up").isEnabled());
  QTest::keyClick(&here.table(), Qt::Key_Up, Qt::AltModifier);
  QTRY_COMPARE_WITH_TIMEOUT(here.column("Run"), QStringList({"3", "4", "2", "1"}), patience_ms);
  QCOMPARE(reader.waiting_runs(made.id()), (std::vector<std::int64_t>{3, 4, 2}));
  QCOMPARE(here.table().chosen().size(), std::size_t{2}); // they stay chosen
  QTest::keyClick(&here.table(), Qt::Key_Down, Qt::AltModifier);
  QTRY_COMPARE_WITH_TIMEOUT(here.column("Run"), QStringList({"2", "3", "4", "1"}), patience_ms);
  // The words in a row do the same.
  const int last = here.table().model()->columnCount() - 1;
  const QRect words = here.table().visualRect(here.table().model()->index(0, last));
  const QFontMetrics metrics(here.table().font());
  const int arrow = metrics.horizontalAdvance(u'↑') + Theme::lines(0.9);
  here.table().scrollTo(here.table().model()->index(0, last));
  const QRect seen = here.table().visualRect(here.table().model()->index(0, last));
  QVERIFY(!words.isNull());
  QTest::mouseClick(here.table().viewport(), Qt::LeftButton, {},
                    {seen.left() + Theme::lines(0.4) + 2 * arrow + arrow / 2, seen.center().y()});
  QTRY_COMPARE_WITH_TIMEOUT(here.view().count(RunStage::ended), std::size_t{1}, patience_ms);
  QCOMPARE(reader.run(2).outcome.reason, std::string("skipped"));
  QVERIFY(here.column("Status").contains("skipped"));
  QCOMPARE(here.table().chosen(), std::vector<std::size_t>{2}); // the next one that waits, so that it can be skipped
}

void TestSweepPage::values_are_added_to_a_finished_sweep() {
  SweepHere here;
  here.plan(small_sweep("16,32"));
  QTRY_VERIFY_WITH_TIMEOUT(here.main().isEnabled(), patience_ms);
  here.click(&here.main());
  QTRY_COMPARE_WITH_TIMEOUT(here.status(), QString("finished"), patience_ms);
  QTRY_COMPARE_WITH_TIMEOUT(here.job()->state(), Job::State::done, patience_ms);
  const std::int64_t sweep = *here.page().shown();
  QTest::keyClicks(here.input("batch"), "24, 32");
  QTRY_COMPARE(here.main().text(), QString("Add 1 run"));
  here.named<QSpinBox>("repeats")->setValue(2);
  QTRY_COMPARE(here.main().text(), QString("Add 4 runs"));
  here.click(&here.main());
  QTRY_COMPARE_WITH_TIMEOUT(here.view().runs.size(), std::size_t{6}, patience_ms);
  QTRY_COMPARE_WITH_TIMEOUT(here.status(), QString("finished"), patience_ms);
  QCOMPARE(here.view().count(RunStage::finished), std::size_t{6});
  QCOMPARE(store::RunReader(here.database()).runs_of_sweep(sweep).size(), std::size_t{6}); // nothing twice
  QTRY_COMPARE_WITH_TIMEOUT(here.job()->state(), Job::State::done, patience_ms);
}

void TestSweepPage::chosen_cells_are_chosen_rows_and_are_compared() {
  SweepHere here;
  MadeSweep made(here.database(), grid_spec("16,32,64", "0.001,0.003", 2), 12);
  QTRY_COMPARE_WITH_TIMEOUT(here.view().over(), std::size_t{12}, patience_ms);
  QTest::mouseClick(&here.cells(), Qt::LeftButton, {}, here.cells().place_of(0).center());
  QCOMPARE(here.table().chosen().size(), std::size_t{2});
  QTest::mouseClick(&here.cells(), Qt::LeftButton, Qt::ControlModifier, here.cells().place_of(3).center());
  QCOMPARE(here.table().chosen().size(), std::size_t{4});
  QSignalSpy compared(&here.bench(), &Workbench::comparison_wanted);
  here.action("compare").trigger();
  QCOMPARE(compared.count(), 1);
  auto runs = compared.first().first().value<QList<qint64>>();
  std::sort(runs.begin(), runs.end());
  QCOMPARE(runs, (QList<qint64>{1, 2, 7, 8}));
  // With the keyboard, and the other way round.
  QTest::keyClick(&here.cells(), Qt::Key_Right);
  QCOMPARE(here.cells().chosen(), (std::vector<std::size_t>{10, 11})); // beside the last one
  QSignalSpy wanted(&here.bench(), &Workbench::page_wanted);
  QTest::keyClick(&here.cells(), Qt::Key_Return);
  QCOMPARE(wanted.last().first().toString(), QString("live"));
  QCOMPARE(here.bench().opened().size(), 2);
  here.table().clearSelection();
  QVERIFY(here.cells().chosen().empty());
}

void TestSweepPage::the_answer_follows_the_goal() {
  SweepHere here;
  MadeSweep made(here.database(), grid_spec("16,32,64", "0.003", 3), 9);
  QTRY_VERIFY_WITH_TIMEOUT(here.answer().contains("validation accuracy"), patience_ms);
  auto* goal = here.page().findChild<GoalBox*>();
  goal->set_text("throughput");
  Q_EMIT goal->changed();
  QTRY_VERIFY_WITH_TIMEOUT(here.answer().contains("examples/s"), patience_ms);
  // And the cells follow the metric.
  QTRY_VERIFY_WITH_TIMEOUT(here.cells().legend().contains("%"), patience_ms);
  auto* metric = here.named<QComboBox>("metric");
  metric->setCurrentIndex(metric->findData("peak"));
  Q_EMIT metric->activated(metric->currentIndex());
  QVERIFY(here.cells().legend().contains("MB"));
}

void TestSweepPage::settings_come_from_new_run_and_go_back() {
  SweepHere here;
  run::RunSpec base = small_run(5);
  base.dropout = 0.25;
  here.bench().propose_sweep(base);
  QTRY_VERIFY_WITH_TIMEOUT(!here.view().runs.empty(), patience_ms);
  QCOMPARE(here.view().content->spec.base.dropout, 0.25);
  QSignalSpy proposed(&here.bench(), &Workbench::run_proposed);
  here.click(here.named("change_base"));
  QCOMPARE(proposed.count(), 1);
  QCOMPARE(proposed.first().first().value<run::RunSpec>().dropout, 0.25);
}

void TestSweepPage::common_settings_are_edited_here() {
  SweepHere here;
  here.bench().propose_sweep(small_run(5));
  QTRY_VERIFY_WITH_TIMEOUT(!here.view().runs.empty(), patience_ms);
  auto& card = *here.named<QWidget>("how_card");
  const auto edit = [&](const char* name) { return card.findChild<LabelledEdit*>(name); };
  const auto type_into = [&](const char* name, const QString& text) {
    edit(name)->edit()->selectAll();
    QTest::keyClicks(edit(name)->edit(), text);
  };
  const auto base = [&]() -> const run::RunSpec& { return here.view().content->spec.base; };
  QCOMPARE(edit("length")->text(), QString("5 steps"));
  type_into("length", "3 epochs");
  type_into("model", "mlp:hidden=7");
  type_into("memory_budget", "123MB");
  QTRY_COMPARE_WITH_TIMEOUT(base().memory_budget.value_or(0), std::uint64_t{123'000'000}, patience_ms);
  QCOMPARE(base().length, (schedule::RunLength{.epochs = 3, .examples = std::nullopt, .steps = std::nullopt}));
  QCOMPARE(base().model, std::string("mlp:hidden=7"));

  for (const char* wrong : {"", "3", "three epochs", "0 epochs", "-1 steps", "2 weeks", "1,5 epochs", ",,5 steps"}) {
    type_into("length", wrong);
    if (*wrong == '\0')
      QTest::keyClick(edit("length")->edit(), Qt::Key_Backspace);
    QVERIFY2(!edit("length")->error().isEmpty(), wrong);
    QVERIFY(!here.page().findChild<QAction*>("start")->isEnabled());
  }
  QCOMPARE(here.view().content->spec.base.length.epochs.value_or(0), std::int64_t{3}); // the last one that was valid
  type_into("length", "1,000 Examples");
  QCOMPARE(edit("length")->error(), QString());
  QTRY_COMPARE_WITH_TIMEOUT(base().length.examples.value_or(0), std::int64_t{1000}, patience_ms);
  type_into("model", "no_such_model"); // what only the plan can tell
  QTRY_VERIFY_WITH_TIMEOUT(!edit("model")->error().isEmpty(), patience_ms);
  type_into("model", "mlp:hidden=9");
  QCOMPARE(edit("model")->error(), QString());
  QTRY_COMPARE_WITH_TIMEOUT(base().model, std::string("mlp:hidden=9"), patience_ms);

  // A stored sweep in between changes nothing of the plan.
  MadeSweep made(here.database(), grid_spec("16,32", "", 1), 2);
  auto* sweeps = here.named<QComboBox>("sweeps");
  QTRY_COMPARE_WITH_TIMEOUT(sweeps->count(), 2, patience_ms);
  Q_EMIT sweeps->activated(0);
  QTRY_VERIFY_WITH_TIMEOUT(edit("model")->isHidden(), patience_ms);
  Q_EMIT sweeps->activated(1);
  QTRY_VERIFY_WITH_TIMEOUT(!edit("model")->isHidden(), patience_ms);
  QCOMPARE(edit("model")->text(), QString("mlp:hidden=9"));
  QCOMPARE(edit("length")->text(), QString("1000 examples"));
}

void TestSweepPage::what_varies_is_not_set_for_all() {
  HowCard card;
  sweep::SweepSpec spec;
  spec.base = small_run(5);
  spec.vary = {sweep::parse_values("steps", "5,6")};
  card.show_plan(spec);
  auto* length = card.findChild<LabelledEdit*>("length");
  auto* model = card.findChild<LabelledEdit*>("model");
  QVERIFY(!length->edit()->isEnabled());
  QCOMPARE(length->text(), QString("varies"));
  model->edit()->selectAll();
  QTest::keyClicks(model->edit(), "mlp:hidden");
  spec.vary = {sweep::parse_values("memory_budget", "1GB,2GB")};
  card.show_edited(spec);
  QVERIFY(length->edit()->isEnabled());
  QCOMPARE(length->text(), QString("5 steps"));
  QVERIFY(!card.findChild<LabelledEdit*>("memory_budget")->edit()->isEnabled());
  QCOMPARE(model->text(), QString("mlp:hidden")); // it is being typed
  card.apply(spec);
  QCOMPARE(spec.base.memory_budget, small_run(5).memory_budget);
}

void TestSweepPage::a_program_has_only_a_budget() {
  SweepHere here;
  run::RunSpec base;
  base.program = run::ProgramSpec{.command = {"python3", "train.py"}};
  here.bench().propose_sweep(base);
  auto& card = *here.named<QWidget>("how_card");
  QTRY_VERIFY_WITH_TIMEOUT(card.findChild<LabelledEdit*>("model")->isHidden(), patience_ms);
  QVERIFY(card.findChild<LabelledEdit*>("length")->isHidden());
  auto* budget = card.findChild<LabelledEdit*>("memory_budget");
  QVERIFY(!budget->isHidden());
  QCOMPARE(budget->edit()->placeholderText(), QString("no limit"));
  // Its own placeholders are there to be varied, with the value that it has.
  base.program->command = {"python3", "train.py", "{lr}"};
  base.program->set = {{"lr", "0.01"}};
  here.bench().propose_sweep(base);
  const auto rows = here.page().findChildren<ValueRow*>();
  const auto row = std::find_if(rows.begin(), rows.end(), [](const ValueRow* each) { return each->field() == "set.lr"; });
  QVERIFY(row != rows.end());
  QCOMPARE((*row)->variation().values, std::vector<std::string>{"0.01"});
}

void TestSweepPage::an_earlier_sweep_is_shown_again() {
  SweepHere here;
  MadeSweep first(here.database(), grid_spec("16,32", "", 1), 2);
  MadeSweep second(here.database(), grid_spec("", "0.001,0.003,0.01", 1), 1);
  QTRY_VERIFY_WITH_TIMEOUT(here.page().shown().has_value(), patience_ms);
  auto* sweeps = here.named<QComboBox>("sweeps");
  QTRY_COMPARE_WITH_TIMEOUT(sweeps->count(), 3, patience_ms);
  QCOMPARE(sweeps->itemData(0).toLongLong(), second.id());
  Q_EMIT sweeps->activated(1);
  QTRY_COMPARE_WITH_TIMEOUT(here.view().runs.size(), std::size_t{2}, patience_ms);
  QCOMPARE(here.named<QLabel>("title")->text(), QString("Sweep: batch size"));
  Q_EMIT sweeps->activated(0);
  QTRY_COMPARE_WITH_TIMEOUT(here.view().runs.size(), std::size_t{3}, patience_ms);
  Q_EMIT sweeps->activated(2);
  QTRY_COMPARE_WITH_TIMEOUT(here.status(), QString("planning"), patience_ms);
}

void TestSweepPage::its_state_comes_back() {
  QJsonObject kept;
  {
    SweepHere here;
    here.plan(small_sweep("16,48", 8, 3));
    auto* metric = here.named<QComboBox>("metric");
    Q_EMIT metric->activated(metric->findData("throughput"));
    kept = here.page().state();
  }
  SweepHere here;
  here.page().restore({{"plan", 17}, {"metric", "unknown"}, {"goal", "nonsense"}, {"splitter", true}});
  here.page().restore(kept);
  QTRY_COMPARE_WITH_TIMEOUT(here.view().runs.size(), std::size_t{6}, patience_ms);
  QCOMPARE(here.page().state()["plan"], kept["plan"]);
  QCOMPARE(here.page().state()["metric"], QJsonValue("throughput"));
}

BATCHSCOPE_TEST(TestSweepPage)
#include "tst_sweep_page.moc"
