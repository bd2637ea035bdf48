#include <QAbstractItemModelTester>
#include <QAbstractItemView>
#include <QCompleter>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSignalSpy>
#include <QTranslator>

#include "core/search/run_search.h"
#include "core/search/throughput.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "test_program.h"
#include "ui/find/find_setup.h"
#include "ui/find/find_test.h"
#include "ui/widgets/format.h"
#include "ui/widgets/labelled_edit.h"
#include "ui/widgets/widgets.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

namespace {

/// Sizes up to two, so that a search takes a moment only.
run::RunSpec brief_net() {
  run::RunSpec spec = tight_net();
  spec.max_batch = 2;
  spec.length = {.epochs = std::nullopt, .examples = std::nullopt, .steps = 3};
  return spec;
}

bool ended(const Job* job) {
  return job->state() != Job::State::waiting && job->state() != Job::State::working;
}

} // namespace

class TestFindPage : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void while_there_is_nothing_one_button_leads_to_a_search();
  void an_answer_starts_a_real_run_with_its_batch();
  void an_answer_can_be_edited_first();
  void sizes_are_trained_for_a_goal();
  void a_chosen_row_shows_its_mark_and_its_memory();
  void other_searches_of_the_same_are_listed_and_shown_again();
  void what_is_wrong_is_said_at_its_field();
  void options_that_are_wrong_are_said_at_their_field();
  void an_error_moves_nothing_below();
  void an_error_of_the_search_is_said_at_its_field();
  void where_nothing_fits_it_says_what_was_tried();
  void a_search_can_be_cancelled();
  void a_search_that_never_began_leaves_the_answer_before();
  void chips_are_of_the_answer_below_them();
  void the_strategy_is_that_of_the_search_that_is_shown();
  void searches_of_earlier_sittings_are_shown();
  void a_strategy_that_cannot_know_says_largest_tried();
  void a_small_data_set_gets_a_size_with_enough_steps();
  void a_narrow_window_is_enough();
  void the_search_before_a_run_is_shown_too();
  void fields_are_called_as_in_the_form_of_a_run();
  void what_was_typed_is_kept();
  void broken_state_is_ignored();
};

void TestFindPage::while_there_is_nothing_one_button_leads_to_a_search() {
  FindHere here;
  auto* empty = here.page().findChild<EmptyState*>();
  QVERIFY(empty->isVisible());
  here.keep_picture("empty");
  here.bench().propose_run(brief_net());
  QSignalSpy wanted(&here.bench(), &Workbench::page_wanted);
  here.click(empty->findChild<QPushButton*>());
  QCOMPARE(here.bench().job_queue().jobs().size(), 1);
  QCOMPARE(wanted.last().first().toString(), QString("find"));
  QVERIFY(!empty->isVisible());
  QVERIFY(here.named("cancel")->isVisible());
  QTRY_COMPARE_WITH_TIMEOUT(here.job()->state(), Job::State::done, patience_ms);
  QVERIFY(here.named("find")->isVisible());
  QVERIFY(!here.named("cancel")->isVisible());
}

void TestFindPage::an_answer_starts_a_real_run_with_its_batch() {
  FindHere here;
  Job* search = here.search(brief_net(), "predictive");
  QTRY_COMPARE_WITH_TIMEOUT(search->state(), Job::State::done, patience_ms);
  QCOMPARE(here.text("largest"), QString("2"));
  // What is in the fields by now is not what was searched.
  run::RunSpec other = brief_net();
  other.model = "mlp";
  here.bench().propose_run(other);
  QSignalSpy wanted(&here.bench(), &Workbench::page_wanted);
  here.click(here.named("train-largest"));
  QCOMPARE(wanted.last().first().toString(), QString("live"));
  Job* run = here.job();
  QVERIFY(run != search);
  QTRY_COMPARE_WITH_TIMEOUT(run->state(), Job::State::done, patience_ms);
  const store::RunReader reader(here.database());
  QCOMPARE(reader.list().size(), std::size_t(1));
  const auto row = reader.run(1);
  QCOMPARE(row.outcome.status, telemetry::RunStatus::finished);
  QCOMPARE(row.outcome.batch, std::optional<std::int64_t>(2));
  QCOMPARE(row.outcome.steps, std::int64_t(3));
  const auto spec = run::run_spec_from_json(reader.spec_json(1));
  QCOMPARE(spec.model, std::string("cnn"));
  QCOMPARE(run::to_string(spec.batch), std::string("2"));
}

void TestFindPage::sizes_are_trained_for_a_goal() {
  FindHere here;
  run::RunSpec spec = brief_net();
  spec.data = "synthetic:examples=60,shape=1x8x8,classes=2";
  Job* search = here.search(spec, "predictive");
  QTRY_COMPARE_WITH_TIMEOUT(search->state(), Job::State::done, patience_ms);
  QTRY_VERIFY(here.named("train-sizes")->isEnabled());
  QVERIFY(!here.named<QWidget>("goal-sizes")->isVisible());
  QSignalSpy wanted(&here.bench(), &Workbench::page_wanted);
  here.click(here.named("train-sizes"));
  QCOMPARE(wanted.last().first().toString(), QString("sweep"));
  Job* sweep = here.job();
  QVERIFY(sweep->kind() == Job::Kind::sweep);
  QTRY_COMPARE_WITH_TIMEOUT(sweep->state(), Job::State::done, patience_ms);
  // What the card says is the answer of the comparison of these runs, a row a size.
  const store::RunReader reader(here.database());
  const auto runs = reader.runs_of_sweep(*sweep->sweep());
  const auto answer = compare::answer(compare::Comparison(compare::read_runs(reader, runs)), {});
  QVERIFY(!answer.headline.empty());
  QTRY_COMPARE(here.text("goal-answer"), QString::fromStdString(answer.text));
  for (const auto& standing : answer.standings) // labels are shown by the next event
    QTRY_VERIFY2(here.texts("goal-sizes").contains(QString::fromStdString(standing.text)), standing.text.c_str());
  QVERIFY(here.texts("goal-sizes").contains("recommended"));
  here.keep_picture("goal");
  QSignalSpy compared(&here.bench(), &Workbench::sweep_comparison_wanted);
  here.click(here.named("compare-sizes"));
  QCOMPARE(compared.last().first().toLongLong(), *sweep->sweep());
}

void TestFindPage::an_answer_can_be_edited_first() {
  FindHere here;
  Job* search = here.search(brief_net(), "power");
  QTRY_COMPARE_WITH_TIMEOUT(search->state(), Job::State::done, patience_ms);
  run::RunSpec proposed;
  connect(&here.bench(), &Workbench::run_proposed, this, [&](const run::RunSpec& spec) { proposed = spec; });
  here.click(here.named("edit-largest")); // other work on the machine may leave none to be recommended
  QCOMPARE(run::to_string(proposed.batch), std::to_string(*search->search_result()->largest));
  QCOMPARE(proposed.memory_budget, brief_net().memory_budget);
  QCOMPARE(here.bench().job_queue().jobs().size(), 1);
}

void TestFindPage::a_chosen_row_shows_its_mark_and_its_memory() {
  FindHere here;
  const QAbstractItemModelTester tester(here.table().model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
  Job* search = here.search(tight_net(), "predictive");
  QTRY_COMPARE_WITH_TIMEOUT(search->state(), Job::State::done, patience_ms);
  const auto card = [&] { return here.page().findChild<Card*>("memory")->findChild<QLabel*>()->text(); };
  const search::SearchResult& result = *search->search_result(); // timings may not tell a recommended size
  const std::int64_t shown = result.recommended.value_or(*result.largest);
  QVERIFY(card().endsWith(QString("size %1").arg(shown)));

  QTest::mouseClick(here.table().viewport(), Qt::LeftButton, {},
                    here.table().visualRect(here.table().model()->index(0, 1)).center());
  const auto size = [&](int row) { return QString("size %1").arg(search->probes()[row].batch); };
  QVERIFY2(card().endsWith(size(0)), qPrintable(card()));
  QTest::keyClick(&here.table(), Qt::Key_Down);
  QVERIFY2(card().endsWith(size(1)), qPrintable(card()));
  // And the other way round: a mark in the plots chooses its row.
  Q_EMIT here.plots().mark_chosen(1);
  QCOMPARE(here.table().currentIndex().row(), 0);
  QVERIFY2(card().endsWith(size(0)), qPrintable(card()));
  here.keep_picture("row");
}

void TestFindPage::other_searches_of_the_same_are_listed_and_shown_again() {
  FindHere here;
  Job* first = here.search(brief_net(), "halving");
  QTRY_COMPARE_WITH_TIMEOUT(first->state(), Job::State::done, patience_ms);
  QVERIFY(here.named<QWidget>("others")->findChildren<QToolButton*>("search").isEmpty());
  Job* second = here.search(brief_net(), "power");
  QTRY_COMPARE_WITH_TIMEOUT(second->state(), Job::State::done, patience_ms);
  auto links = here.named<QWidget>("others")->findChildren<QToolButton*>("search");
  QCOMPARE(links.size(), 1);
  QVERIFY(links.first()->text().contains("halving"));

  links.first()->setFocus(Qt::TabFocusReason);
  QTest::keyClick(links.first(), Qt::Key_Space);
  const auto title = [&] { return here.page().findChild<Card*>("search")->findChild<QLabel*>()->text(); };
  QTRY_VERIFY(title().contains("halving"));
  links = here.named<QWidget>("others")->findChildren<QToolButton*>("search");
  QCOMPARE(links.size(), 1);
  QVERIFY(links.first()->text().contains("power"));

  // Of another memory, nothing was searched yet.
  run::RunSpec other = brief_net();
  other.memory_budget = 12'000'000;
  Job* third = here.search(other, "power");
  QTRY_COMPARE_WITH_TIMEOUT(third->state(), Job::State::done, patience_ms);
  QVERIFY(here.named<QWidget>("others")->findChildren<QToolButton*>("search").isEmpty());
}

void TestFindPage::what_is_wrong_is_said_at_its_field() {
  FindHere here;
  here.bench().propose_run(brief_net());
  here.click(here.named("change"));
  QVERIFY(here.named<QWidget>("model")->isVisible());
  here.type("model", "cnnn");
  QVERIFY(here.error_of("model").contains("cnnn"));
  here.type("memory_budget", "much");
  QVERIFY(here.error_of("memory_budget").contains("much"));
  here.keep_picture("wrong");
  QTest::keyClick(&here.page(), Qt::Key_F5);
  QVERIFY(here.bench().job_queue().jobs().isEmpty());
  here.type("model", "cnn");
  QVERIFY(here.error_of("model").isEmpty());
  here.type("optimizer", "nadam");
  QCOMPARE(here.error_of("optimizer"), QString("Accepted: adamw, adam, sgd, rmsprop"));
  // What is chosen of the completions is checked, too.
  QLineEdit* optimizer = here.field("optimizer");
  optimizer->selectAll();
  QTest::keyClicks(optimizer, "sg");
  QTRY_VERIFY(optimizer->completer()->popup()->isVisible());
  QTest::keyClick(optimizer->completer()->popup(), Qt::Key_Down);
  QTest::keyClick(optimizer->completer()->popup(), Qt::Key_Return);
  QTRY_VERIFY(here.error_of("optimizer").isEmpty());
  QCOMPARE(optimizer->text(), QString("sgd"));
  here.type("memory_budget", "10MB");
  QTest::keyClick(&here.page(), Qt::Key_F5);
  QCOMPARE(here.bench().job_queue().jobs().size(), 1);
  QCOMPARE(here.job()->spec().model, std::string("cnn"));
  QCOMPARE(here.job()->spec().optimizer, std::string("sgd"));
  QTRY_VERIFY_WITH_TIMEOUT(ended(here.job()), patience_ms);
}

void TestFindPage::an_error_moves_nothing_below() {
  FindHere here;
  here.bench().propose_run(brief_net());
  here.click(here.named("change"));
  QCoreApplication::processEvents();
  const int height = here.named<QWidget>("model")->height();
  const int below = here.named<QWidget>("model")->mapTo(&here.page(), QPoint(0, height)).y();
  const QSize setup = here.page().findChild<FindSetup*>()->size();
  for (const char* field : {"model", "memory_budget", "max_batch", "start", "margin"})
    here.type(field, "this is nothing that any of these fields would take, and it is long");
  QVERIFY(!here.error_of("margin").isEmpty() && !here.error_of("start").isEmpty());
  // Of fields that are not here, too.
  run::RunSpec spec = brief_net();
  spec.accumulate = 2;
  spec.effective_batch = 64;
  here.page().findChild<FindSetup*>()->set_spec(spec);
  QVERIFY(!here.page().findChild<QLabel*>("elsewhere")->text().isEmpty());
  QCoreApplication::processEvents();
  QCOMPARE(here.page().findChild<FindSetup*>()->size(), setup);
  QCOMPARE(here.named<QWidget>("model")->mapTo(&here.page(), QPoint(0, height)).y(), below);
}

void TestFindPage::options_that_are_wrong_are_said_at_their_field() {
  FindHere here;
  here.bench().propose_run(brief_net());
  here.click(here.named("change"));
  QVERIFY(!here.named<QWidget>("factor")->isVisible());
  const auto* strategies = here.named<QComboBox>("strategy");
  for (int i = 0; i < strategies->count(); ++i)
    QVERIFY2(strategies->toolTip().contains('\n' + strategies->itemText(i) + ": "),
             qPrintable(strategies->itemText(i)));
  QTest::keyClicks(here.named<QComboBox>("strategy"), "shrink");
  QVERIFY(here.named<QWidget>("factor")->isVisible());
  here.type("factor", "1.5");
  QCOMPARE(here.error_of("factor"), QString("Enter a number between 0 and 1"));
  here.type("start", "0");
  QVERIFY(!here.error_of("start").isEmpty());
  here.type("margin", "2");
  QVERIFY(!here.error_of("margin").isEmpty());
  QTest::keyClick(&here.page(), Qt::Key_F5);
  QVERIFY(here.bench().job_queue().jobs().isEmpty());
  here.type("factor", "0.5");
  here.type("start", "2");
  here.type("margin", "0.5");
  QTest::keyClick(&here.page(), Qt::Key_F5);
  QCOMPARE(here.bench().job_queue().jobs().size(), 1);
  QTRY_COMPARE_WITH_TIMEOUT(here.job()->state(), Job::State::done, patience_ms);
  QCOMPARE(here.job()->search_result()->probes.front().batch, std::int64_t(2));
}

void TestFindPage::an_error_of_the_search_is_said_at_its_field() {
  FindHere here;
  run::RunSpec spec = brief_net();
  spec.data = "csv:/nowhere/at-all.csv,target=y";
  spec.model = "mlp";
  Job* search = here.search(spec, "predictive");
  QVERIFY(search != nullptr);
  QTRY_COMPARE_WITH_TIMEOUT(search->state(), Job::State::failed, patience_ms);
  QStringList said;
  for (const auto* empty : here.page().findChildren<EmptyState*>())
    for (const auto* label : empty->findChildren<QLabel*>())
      if (label->isVisible())
        said << label->text();
  QVERIFY2(said.contains(search->error()), qPrintable(said.join('\n')));
  QVERIFY2(here.error_of("data").contains("/nowhere/at-all.csv"), qPrintable(search->error()));
  here.keep_picture("failed");
}

void TestFindPage::where_nothing_fits_it_says_what_was_tried() {
  FindHere here;
  run::RunSpec spec = tight_net();
  spec.memory_budget = 1'100'000;
  Job* search = here.search(spec, "halving");
  QTRY_VERIFY_WITH_TIMEOUT(ended(search), patience_ms);
  QCOMPARE(search->state(), Job::State::done);
  QVERIFY(!search->search_result()->found);
  QCOMPARE(here.text("outcome").toLower(), QString::fromStdString(search->search_result()->reason).toLower());
  QVERIFY(here.named<QLabel>("tried")->text().contains("128 64 32 … 1"));
  QVERIFY(!here.named("train-largest")->isVisible());
  here.keep_picture("nothing");
}

void TestFindPage::a_search_that_never_began_leaves_the_answer_before() {
  FindHere here;
  Job* search = here.search(brief_net(), "predictive");
  QTRY_COMPARE_WITH_TIMEOUT(search->state(), Job::State::done, patience_ms);
  Job* run = here.bench().start_run(small_run(1'000'000));
  here.bench().propose_run(brief_net());
  Job* second = here.search(brief_net(), "power");
  QVERIFY(second != nullptr);
  QCOMPARE(second->state(), Job::State::waiting);
  here.click(here.named("cancel"));
  QTRY_COMPARE_WITH_TIMEOUT(second->state(), Job::State::cancelled, patience_ms);
  QCOMPARE(here.text("largest"), QString("2"));
  QVERIFY(here.named("find")->isVisible());
  run->cancel();
  QTRY_VERIFY_WITH_TIMEOUT(here.bench().job_queue().idle(), patience_ms);
}

void TestFindPage::a_search_can_be_cancelled() {
  FindHere here;
  Job* search = here.search(tight_net(), "predictive");
  QTRY_VERIFY_WITH_TIMEOUT(!search->probes().empty(), patience_ms);
  here.keep_picture("working");
  here.click(here.named("cancel"));
  QTRY_COMPARE_WITH_TIMEOUT(search->state(), Job::State::cancelled, patience_ms);
  QVERIFY(!here.named("cancel")->isVisible());
  QVERIFY(here.named("find")->isVisible());
  QTRY_VERIFY_WITH_TIMEOUT(search->search_result() != nullptr, patience_ms);
  QVERIFY(search->search_result()->interrupted);
  QVERIFY(search->search_result()->found || here.text("outcome").contains("The search was stopped; "));
  // What it has run is kept, as the command line keeps it.
  QVERIFY(!search::search_result_from_json(store::RunReader(here.database()).search_json(1)).probes.empty());
}

void TestFindPage::chips_are_of_the_answer_below_them() {
  FindHere here;
  const auto chips = [&] {
    QStringList texts;
    for (const auto* pill : here.page().findChildren<Pill*>())
      texts << pill->text();
    return texts;
  };
  Job* search = here.search(brief_net(), "power");
  QTRY_COMPARE_WITH_TIMEOUT(search->state(), Job::State::done, patience_ms);
  const QStringList before = chips();
  QVERIFY2(before.contains("cnn"), qPrintable(before.join('|')));
  QCOMPARE(here.named("find")->text(), QString("Find again"));
  // Another run neither changes what is said of the answer nor what is searched next.
  Job* run = here.bench().start_run(small_run(3));
  QTRY_COMPARE_WITH_TIMEOUT(run->state(), Job::State::done, patience_ms);
  QCOMPARE(chips(), before);
  QCOMPARE(here.named("find")->text(), QString("Find again"));
  // Other settings are what is searched next, and the button says that it is something else.
  run::RunSpec other = brief_net();
  other.optimizer = "sgd";
  here.bench().propose_run(other);
  QCOMPARE(chips(), before);
  QCOMPARE(here.named("find")->text(), QString("Find"));
  QVERIFY(here.named("find")->toolTip().contains("sgd"));
  Job* second = here.search(other, "power");
  QTRY_COMPARE_WITH_TIMEOUT(second->state(), Job::State::done, patience_ms);
  QVERIFY(chips().contains("sgd"));
}

void TestFindPage::the_strategy_is_that_of_the_search_that_is_shown() {
  FindHere here;
  Job* search = here.search(brief_net(), "halving");
  QTRY_COMPARE_WITH_TIMEOUT(search->state(), Job::State::done, patience_ms);
  auto* strategy = here.named<QComboBox>("strategy");
  QCOMPARE(strategy->currentText(), QString("halving"));
  // A run whose batch is left to a search, as it is started on the page of a new run.
  run::RunSpec spec = brief_net();
  spec.batch = {};
  Job* run = here.bench().start_run(spec);
  QTRY_VERIFY_WITH_TIMEOUT(!run->probes().empty(), patience_ms);
  QCOMPARE(strategy->currentText(), QString("predictive"));
  QTRY_COMPARE_WITH_TIMEOUT(run->state(), Job::State::done, patience_ms);
  // And back with the search that is looked at again.
  const auto links = here.named<QWidget>("others")->findChildren<QToolButton*>("search");
  QCOMPARE(links.size(), 1);
  QTest::mouseClick(links.first(), Qt::LeftButton);
  QTRY_COMPARE(strategy->currentText(), QString("halving"));
}

void TestFindPage::searches_of_earlier_sittings_are_shown() {
  const QTemporaryDir folder;
  const std::filesystem::path file = folder.filePath("runs.db").toStdString();
  const auto store = [&](const run::RunSpec& spec, const char* strategy, std::int64_t largest) {
    search::SearchResult result;
    result.strategy = strategy;
    result.found = true;
    result.largest = largest;
    result.safe = largest;
    result.budget_bytes = 10'000'000;
    search::Probe probe;
    probe.batch = largest;
    probe.peak_bytes = 9'000'000;
    result.probes = {probe};
    store::RunStore(file).add_search(run::to_json(spec), search::to_json(result));
  };
  run::RunSpec other = brief_net();
  other.model = "mlp:hidden=64";
  store(other, "binary", 33);
  store(brief_net(), "power", 8);
  store(brief_net(), "halving", 16);
  Theme theme;
  Workbench bench(theme, file);
  FindPage page(bench);
  page.resize(1360, 800);
  page.show();
  const auto text = [&](const char* name) { return page.findChild<QLabel*>(QLatin1String(name))->text(); };
  const auto links = [&](const char* card) {
    return page.findChild<QWidget*>(QLatin1String(card))->findChildren<QToolButton*>("search");
  };
  // The newest, with those that asked the same and all others beside it.
  QTRY_COMPARE(text("largest"), QString("16"));
  QCOMPARE(page.findChild<QComboBox*>("strategy")->currentText(), QString("halving"));
  QCOMPARE(links("others").size(), 1);
  QCOMPARE(links("others").first()->text(), QString("power"));
  QCOMPARE(links("earlier").size(), 1);
  QTest::mouseClick(links("earlier").first(), Qt::LeftButton);
  QTRY_COMPARE(text("largest"), QString("33"));
  QCOMPARE(links("earlier").size(), 2);
  QVERIFY(links("others").isEmpty());
  // What can be done with its answer is done with what was searched.
  run::RunSpec proposed;
  connect(&bench, &Workbench::run_proposed, &page, [&](const run::RunSpec& spec) { proposed = spec; });
  QTest::mouseClick(page.findChild<QPushButton*>("edit-largest"), Qt::LeftButton);
  QCOMPARE(proposed.model, std::string("mlp:hidden=64"));
  QCOMPARE(run::to_string(proposed.batch), std::string("33"));
  // A search of this sitting is there once, although the database has it, too.
  FindRequest request;
  request.spec = brief_net();
  request.strategy = "power";
  Job* job = bench.start_search(request);
  QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
  QTRY_COMPARE(bench.run_database().searches().size(), std::size_t(4));
  QTRY_COMPARE(links("others").size(), 2);
  QCOMPARE(links("earlier").size(), 1);
}

void TestFindPage::a_strategy_that_cannot_know_says_largest_tried() {
  FindHere here;
  const auto names = [&] {
    QStringList texts;
    for (const auto* label : here.page().findChildren<QLabel*>())
      if (label->isVisible())
        texts << label->text();
    return texts;
  };
  run::RunSpec spec = tight_net(); // about twenty fit
  here.bench().propose_run(spec);
  here.click(here.named("change"));
  here.type("start", "8");
  Job* halved = here.search(spec, "halving");
  QTRY_COMPARE_WITH_TIMEOUT(halved->state(), Job::State::done, patience_ms);
  QCOMPARE(here.text("largest"), QString("8"));
  QVERIFY(names().contains("Largest tried"));
  QVERIFY(!names().contains("Largest that fits"));
  QVERIFY(!names().filter("no larger size was run").isEmpty());
  here.keep_picture("tried");
  Job* found = here.search(spec, "binary");
  QTRY_COMPARE_WITH_TIMEOUT(found->state(), Job::State::done, patience_ms);
  QVERIFY(names().contains("Largest that fits"));
  QVERIFY(!names().contains("Largest tried"));
}

void TestFindPage::a_small_data_set_gets_a_size_with_enough_steps() {
  FindHere here;
  run::RunSpec spec;
  spec.model = "mlp:hidden=32";
  spec.data = "synthetic:examples=125,shape=1x8x8,classes=4"; // 100 to train on
  spec.memory_budget = 50'000'000;
  Job* search = here.search(spec, "predictive");
  QTRY_COMPARE_WITH_TIMEOUT(search->state(), Job::State::done, patience_ms);
  const search::SearchResult& result = *search->search_result();
  QCOMPARE(result.automatic.value(), std::min(*search::recommended_or_fastest(result), std::int64_t{5}));
  if (!result.recommended || result.automatic == result.recommended)
    QSKIP("a size that needs no holding back was the fastest");
  QCOMPARE(here.text("automatic"), QString("5"));
  QVERIFY(here.named("train-automatic")->isVisible());
  here.keep_picture("small-data");
}

void TestFindPage::a_narrow_window_is_enough() {
  FindHere here;
  run::RunSpec spec = brief_net();
  spec.data = "synthetic:examples=1250,shape=1x8x8,classes=4";
  Job* search = here.search(spec, "binary");
  QTRY_COMPARE_WITH_TIMEOUT(search->state(), Job::State::done, patience_ms);
  here.click(here.named("change"));
  const auto chips = here.page().findChildren<Pill*>();
  QCOMPARE(chips.size(), 4);
  QVERIFY(chips.last()->isVisible());
  const QSize narrow(850, 640); // what the rail leaves of 930
  here.page().resize(narrow);
  QTRY_COMPARE(here.page().size(), narrow);
  QVERIFY(chips.first()->isVisible());
  QVERIFY(!chips.last()->isVisible()); // what does not fit is left out, and not cut
  here.keep_picture("narrow");
  QVERIFY(here.page().rect().contains(
      QRect(here.named("find")->mapTo(&here.page(), QPoint()), here.named("find")->size())));
}

void TestFindPage::the_search_before_a_run_is_shown_too() {
  FindHere here;
  run::RunSpec spec = brief_net();
  spec.batch = {run::BatchChoice::Kind::largest, 0};
  Job* run = here.bench().start_run(spec);
  QTRY_VERIFY_WITH_TIMEOUT(run->search_result() != nullptr, patience_ms);
  QTRY_COMPARE(here.text("largest"), QString("2"));
  QTRY_COMPARE_WITH_TIMEOUT(run->state(), Job::State::done, patience_ms);
  QCOMPARE(here.text("largest"), QString("2"));
  QVERIFY(here.named("find")->isVisible());
}

void TestFindPage::what_was_typed_is_kept() {
  QJsonObject state;
  {
    FindHere here;
    here.bench().propose_run(brief_net());
    here.click(here.named("change"));
    QTest::keyClicks(here.named<QComboBox>("strategy"), "shrink");
    here.type("factor", "0.75");
    here.type("model", "mlp:hidden=32");
    QTest::keyClick(&here.page(), Qt::Key_L, Qt::ControlModifier);
    state = QJsonDocument::fromJson(QJsonDocument(here.page().state()).toJson()).object();
  }
  FindHere here;
  here.page().restore(state);
  QCOMPARE(here.named<QComboBox>("strategy")->currentText(), QString("shrink"));
  QCOMPARE(here.field("factor")->text(), QString("0.75"));
  QCOMPARE(here.field("model")->text(), QString("mlp:hidden=32"));
  QCOMPARE(here.field("max_batch")->text(), QString("2"));
  QVERIFY(here.named<QWidget>("model")->isVisible());
  QCOMPARE(here.page().state(), state);
}

void TestFindPage::broken_state_is_ignored() {
  FindHere here;
  const QJsonObject before = here.page().state();
  here.page().restore({{"strategy", 7}, {"setup", QJsonObject{{"spec", "{\"model\": 3}"}}}, {"log", "yes"}});
  QCOMPARE(here.page().state(), before);
}

void TestFindPage::fields_are_called_as_in_the_form_of_a_run() {
  class Loud : public QTranslator {
  public:
    QString translate(const char* context, const char* text, const char*, int) const override {
      return qstrcmp(context, "SpecField") == 0 ? QString::fromUtf8(text).toUpper() : QString();
    }
    bool isEmpty() const override { return false; }
  };
  Loud loud;
  QCoreApplication::installTranslator(&loud);
  const FindSetup setup;
  QCoreApplication::removeTranslator(&loud);
  const auto* optimizer = setup.findChild<LabelledEdit*>("optimizer");
  QCOMPARE(optimizer->edit()->accessibleName(), QString("OPTIMIZER"));
  QCOMPARE(optimizer->toolTip(), optimizer->toolTip().toUpper());
}

BATCHSCOPE_TEST(TestFindPage)
#include "tst_find_page.moc"
