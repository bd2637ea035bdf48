#include <QSignalSpy>
#include <QTest>

#include "test_program.h"
#include "tests/core/program/program_runs.h"
#include "ui/find/find_test.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

namespace {

/// A program that takes every size, in no time.
run::RunSpec quick_program() {
  run::RunSpec spec;
  spec.program = run::ProgramSpec{.command = {"sh", "-c", "exit 0", "{batch}"}, .folder = "/tmp"};
  spec.max_batch = 2;
  return spec;
}

run::RunSpec quick_net() {
  run::RunSpec spec = tight_net();
  spec.max_batch = 2;
  return spec;
}

/// The page, on which a program is searched.
class ProgramSearched : public FindHere {
public:
  void search_program() { finish(bench().start_search({.spec = quick_program()})); }
  void search_net() { finish(bench().start_search({.spec = quick_net()})); }

  void finish(Job* search) {
    QTRY_COMPARE_WITH_TIMEOUT(search->state(), Job::State::done, patience_ms);
    QTRY_VERIFY_WITH_TIMEOUT(search->stored_search().has_value(), patience_ms);
  }
  bool sees(const char* name) { return named<QWidget>(name)->isVisible(); }
  void choose_earlier() {
    auto* link = named<QWidget>("earlier")->findChild<QToolButton*>("search");
    QVERIFY(link != nullptr);
    QTest::mouseClick(link, Qt::LeftButton);
    QCoreApplication::processEvents();
  }

  const ProgramRuns runs;
};

/// The settings of the next search are those of the program.
void verify_program_is_shown(FindPage& page) {
  const auto field = [&](const char* name) { return page.findChild<QWidget*>(name)->findChild<QLineEdit*>(); };
  QVERIFY(field("command")->isVisible());
  QCOMPARE(field("command")->text(), QString("sh -c 'exit 0' {batch}"));
  QVERIFY(field("command")->isReadOnly() && field("folder")->isReadOnly());
  QCOMPARE(field("folder")->text(), QString("/tmp"));
  QCOMPARE(field("max_batch")->text(), QString("2"));
  QVERIFY(field("memory_budget")->isVisible());
  QVERIFY(!field("model")->isVisible() && !field("data")->isVisible());
  QCOMPARE(page.findChild<QPushButton*>("find")->text(), QString("Find again"));
}

} // namespace

/// Searches of programs of the user's own.
class TestFindProgram : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void a_program_takes_the_place_of_the_built_in_form() {
    ProgramSearched here;
    here.click(here.named("change")); // the form is open, and stays as the user left it
    QVERIFY(here.sees("model"));
    here.search_program();
    verify_program_is_shown(here.page());
    here.keep_picture("program");
    here.search_net();
    QVERIFY(here.sees("model") && !here.sees("command"));
    QVERIFY(here.named("change")->isChecked());
    here.choose_earlier();
    verify_program_is_shown(here.page());
    here.choose_earlier();
    QVERIFY(here.sees("model") && !here.sees("command"));
    QCOMPARE(here.field("model")->text(), QString("cnn"));
  }

  void it_is_searched_again() {
    ProgramSearched here;
    here.search_program();
    // Neither another form nor another program is what this page is about.
    here.bench().propose_run(quick_net());
    run::RunSpec other = quick_program();
    other.program->command.push_back("other");
    here.bench().propose_run(other);
    verify_program_is_shown(here.page());
    QTest::keyClick(&here.page(), Qt::Key_F5);
    QCOMPARE(here.bench().job_queue().jobs().size(), 2);
    QCOMPARE(here.job()->spec().program, quick_program().program);
    here.finish(here.job());
  }

  void another_form_leaves_the_built_in_search_alone() {
    ProgramSearched here;
    here.search_net();
    here.bench().propose_run(quick_program());
    QCOMPARE(here.named("find")->text(), QString("Find again"));
    QVERIFY(!here.sees("command"));
  }

  void other_settings_are_on_the_page_of_a_new_run() {
    ProgramSearched here;
    here.search_program();
    QSignalSpy proposed(&here.bench(), &Workbench::run_proposed);
    here.click(here.named("change"));
    QCOMPARE(proposed.count(), 1);
    QCOMPARE(proposed[0][0].value<run::RunSpec>().program, quick_program().program);
    QVERIFY(!here.named("change")->isChecked());
    QTest::keyClick(&here.page(), Qt::Key_E, Qt::ControlModifier);
    QCOMPARE(proposed.count(), 2);
    verify_program_is_shown(here.page());
    here.search_net();
    QVERIFY(!here.sees("command") && !here.sees("model")); // closed, as it was
    here.click(here.named("change"));
    QVERIFY(here.sees("model"));
    QCOMPARE(proposed.count(), 2);
  }

  void what_is_wrong_is_said_at_its_field() {
    ProgramSearched here;
    here.search_program();
    here.type("memory_budget", "much");
    QVERIFY(!here.error_of("memory_budget").isEmpty());
    QTest::keyClick(&here.page(), Qt::Key_F5);
    QCOMPARE(here.bench().job_queue().jobs().size(), 1);
  }

  /// Whatever the form had then.
  void a_window_that_is_opened_again_shows_it() {
    ProgramSearched here;
    here.click(here.named("change"));
    const QJsonObject state = here.page().state(); // of the built-in form, and open
    here.search_program();
    for (const bool first_restored : {true, false}) {
      Theme theme;
      Workbench bench(theme, here.database());
      FindPage page(bench);
      page.resize(1360, 800);
      page.show();
      if (first_restored)
        page.restore(state);
      QTRY_VERIFY_WITH_TIMEOUT(page.findChild<QPushButton*>("find")->isVisible(), patience_ms);
      if (!first_restored)
        page.restore(state);
      verify_program_is_shown(page);
      page.findChild<QPushButton*>("find")->click();
      QCOMPARE(bench.job_queue().jobs().size(), 1);
      QCOMPARE(bench.job_queue().jobs().last()->spec().program, quick_program().program);
      QTRY_VERIFY_WITH_TIMEOUT(bench.job_queue().idle(), patience_ms);
    }
  }
};

BATCHSCOPE_TEST(TestFindProgram)
#include "tst_find_program.moc"
