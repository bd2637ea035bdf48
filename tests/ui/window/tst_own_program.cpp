#include <QTabBar>
#include <QTimer>

#include "core/search/run_search.h"
#include "core/store/run_reader.h"
#include "test_program.h"
#include "tests/core/program/program_runs.h"
#include "ui/live/live_page.h"
#include "ui/new_run/field_editor.h"
#include "ui/new_run/spec_form.h"
#include "ui/output/output_text.h"
#include "ui/window/all_pages.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

namespace {

/// The form of a program, with this command.
SpecForm& fill_in(AllPages& here, const QString& command) {
  here.window().show_page("new-run");
  here.click("Your own program");
  auto& form = *here.window().findChild<SpecForm*>("program-form");
  form.editor("command")->set_text("command", command);
  form.editor("grace")->set_text("grace", "1");
  return form;
}

} // namespace

/// A program of the user's own, from the form to its end.
class TestOwnProgram : public QObject {
  Q_OBJECT

private Q_SLOTS:
  /// A process for each size; those above 12 run out of memory.
  void a_size_is_searched_and_used() {
    AllPages here;
    const SpecForm& form = fill_in(here, "sh -c 'test {batch} -le 12 || { echo MemoryError; exit 1; }'");
    here.click("Find the batch size first");
    QCOMPARE(here.window().shown_page(), QString("find"));
    QTRY_VERIFY_WITH_TIMEOUT(here.bench().job_queue().idle(), patience_ms);
    QTRY_VERIFY_WITH_TIMEOUT(here.says("Result"), patience_ms);
    QCOMPARE(here.window().findChild<QLabel*>("largest")->text(), QString("12"));
    here.window().findChild<QPushButton*>("edit-largest")->click();
    QTRY_COMPARE_WITH_TIMEOUT(here.window().shown_page(), QString("new-run"), patience_ms);
    QCOMPARE(form.editor("batch")->text(), QString("12"));
    QVERIFY(here.says("{batch} becomes 12"));
    here.click("Start");
    QTRY_VERIFY_WITH_TIMEOUT(here.run() && here.run()->status() == "finished", patience_ms);
    QTRY_VERIFY_WITH_TIMEOUT(here.bench().job_queue().idle(), patience_ms);
    const auto spec = run::stored_spec(store::RunReader(here.database()).spec_json(1));
    QVERIFY(spec);
    QCOMPARE(spec->batch.number, 12);
  }

  void a_search_shows_how_far_it_is_and_can_be_stopped() {
    AllPages here;
    fill_in(here, "sh -c 'test {batch} -lt 16 || exec sleep 600'");
    here.click("Find the batch size first");
    Job* job = here.bench().job_queue().jobs().front();
    QTRY_VERIFY_WITH_TIMEOUT(!job->probes().empty(), patience_ms);
    QTRY_VERIFY_WITH_TIMEOUT(here.says("fits"), patience_ms);
    QVERIFY(here.says("largest so far"));
    here.click("Stop search");
    QTRY_VERIFY_WITH_TIMEOUT(here.bench().job_queue().idle(), patience_ms);
    QCOMPARE(job->state(), Job::State::cancelled);
    QTRY_VERIFY_WITH_TIMEOUT(here.says("The search was stopped; "), patience_ms);
    QVERIFY(job->stored_search());
    QVERIFY(search::search_result_from_json(store::RunReader(here.database()).search_json(1)).interrupted);
  }

  /// Each line is a step, and what is no text is no reason to stand still: the window's loop turns while they come, and
  /// while they are shown.
  void a_program_that_writes_more_than_can_be_read_holds_nothing_up_data() {
    QTest::addColumn<QString>("source");
    QTest::newRow("lines") << "for i in range(100000): print('step', i, 'loss=0.5')";
    QTest::newRow("garbage") << "import os\nfor i in range(200): os.write(1, os.urandom(65536))\nprint('\\nloss=0.5')";
    QTest::newRow("one line") << "print('x' * 20000000)\nprint('loss=0.5')";
  }

  void a_program_that_writes_more_than_can_be_read_holds_nothing_up() {
    QFETCH(QString, source);
    const ProgramRuns runs;
    AllPages here;
    run::RunSpec spec = runs.python(source.toStdString());
    spec.program->metrics = {{"loss", "loss=([0-9.]+)"}};
    here.window().findChild<QTabBar*>("run-tabs")->setCurrentIndex(1);
    auto& output = *here.window().findChild<LivePage*>()->findChild<OutputText*>();
    int turns = 0;
    qint64 longest = 0;
    QElapsedTimer since;
    QElapsedTimer whole;
    QTimer turn;
    connect(&turn, &QTimer::timeout, this, [&] {
      ++turns;
      longest = std::max(longest, since.restart());
    });
    here.bench().start_run(spec);
    since.start();
    whole.start();
    turn.start(1);
    QTRY_VERIFY_WITH_TIMEOUT(here.bench().job_queue().idle() && here.run() && !here.run()->running(), patience_ms);
    QCOMPARE(here.run()->status(), QString("finished"));
    QVERIFY(here.run()->steps() >= 1);
    QTRY_VERIFY_WITH_TIMEOUT(output.document()->lastBlock().text().endsWith("loss=0.5"), patience_ms);
    QVERIFY(output.isVisible());
    QVERIFY(output.document()->characterCount() <= OutputText::most_characters);
    qInfo("%lld steps; the loop turned %d times in %lld ms and was held for %lld ms at most",
          static_cast<long long>(here.run()->steps()), turns, static_cast<long long>(whole.elapsed()),
          static_cast<long long>(longest));
    QVERIFY(turns > 5); // all at once would be a turn or two
  }
};

BATCHSCOPE_TEST(TestOwnProgram)
#include "tst_own_program.moc"
