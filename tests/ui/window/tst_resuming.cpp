#include <QProcess>

#include <csignal>
#include <numeric>

#include "core/checkpoint/folder.h"
#include "core/store/run_reader.h"
#include "test_events.h"
#include "test_program.h"
#include "tests/core/program/program_runs.h"
#include "ui/window/all_pages.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

namespace {

std::vector<double> stored_losses(const std::filesystem::path& database, std::int64_t run) {
  std::vector<double> losses;
  for (const store::Point& point : store::RunReader(database).series(run, "loss"))
    losses.push_back(point.value);
  return losses;
}

std::vector<double> shown_steps(const OpenRun& run) {
  const series::Series* seconds = run.history()->find("seconds");
  std::vector<double> steps;
  for (std::size_t i = 0; seconds != nullptr && i < seconds->values.size(); ++i)
    steps.push_back(seconds->frame->x(series::Axis::step)[i]);
  return steps;
}

void expect_every_step(const OpenRun& run) {
  std::vector<double> expected(static_cast<std::size_t>(run.steps()));
  std::iota(expected.begin(), expected.end(), 1);
  QCOMPARE(shown_steps(run), expected);
}

void stop(AllPages& here) {
  here.click("Stop run");
  QTRY_VERIFY_WITH_TIMEOUT(here.bench().job_queue().idle(), patience_ms);
}

} // namespace

/// Runs that have ended before their end go on in the window.
class TestResuming : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void a_stopped_run_goes_on_from_its_checkpoint() {
    AllPages here;
    run::RunSpec spec = small_run(1'000'000);
    spec.checkpoint_every = 400;
    here.bench().start_run(spec);
    QTRY_VERIFY_WITH_TIMEOUT(here.run() && here.run()->steps() > 500, patience_ms);
    stop(here);
    const std::vector<double> before = stored_losses(here.database(), 1);
    const std::string uid = store::RunReader(here.database()).run(1).uid;
    const auto checkpoints = checkpoint::files_in(checkpoint::folder_of_run(here.database(), uid));
    QVERIFY(!checkpoints.empty());

    here.select_run(1);
    here.choose_in_menu("Resume run");
    QTRY_COMPARE_WITH_TIMEOUT(here.window().shown_page(), QString("live"), patience_ms);
    const auto done = static_cast<std::int64_t>(before.size());
    QTRY_VERIFY_WITH_TIMEOUT(here.run() && here.run()->running() && here.run()->steps() > done + 50, patience_ms);
    QCOMPARE(here.run()->id(), 1);
    stop(here);
    QCOMPARE(here.run()->status(), QString("stopped"));
    expect_every_step(*here.run());
    const auto& events = here.run()->events();
    const auto resumed =
        std::find_if(events.begin(), events.end(), [](const auto& event) { return kind_text(event) == "resumed"; });
    QVERIFY(resumed != events.end());
    QCOMPARE(resumed->step, checkpoints.front().step);
    // The steps after the checkpoint, made twice, came out the same.
    std::vector<double> again = stored_losses(here.database(), 1);
    QVERIFY(again.size() > before.size());
    again.resize(before.size());
    QCOMPARE(again, before);
  }

  void a_program_whose_batchscope_was_killed_is_watched_again() {
    const ProgramRuns runs;
    AllPages here;
    const run::RunSpec spec = runs.loader(R"(
batchscope.RECONNECT_EVERY = 0.01
loader = Sizes(run, 16, 1000)
while not os.path.exists(os.path.join(sys.argv[1], "finish")):
    loader.fetch()
    run.step(loss=1)
    time.sleep(0.001)
)");
    QStringList arguments{"run", "--db", QString::fromStdString(here.database().string()), "--"};
    for (const std::string& word : spec.program->command)
      arguments << QString::fromStdString(word);
    QProcess first;
    first.start(BATCHSCOPE_CLI, arguments);
    const auto stored_steps = [&] { return store::RunReader(here.database()).run(1).outcome.steps; };
    QTRY_VERIFY_WITH_TIMEOUT(!here.bench().run_database().runs().empty() && stored_steps() > 20, patience_ms);
    here.select_run(1);
    QAction* resume = here.command_of_page("Resume run");
    QVERIFY(!resume->isEnabled());
    first.kill();
    QVERIFY(first.waitForFinished(patience_ms));
    const std::int64_t stored = stored_steps();

    here.choose_in_menu("Resume run");
    QTRY_VERIFY_WITH_TIMEOUT(here.run() && here.run()->running() && here.run()->steps() > stored + 50, patience_ms);
    runs.allow("finish");
    QTRY_COMPARE_WITH_TIMEOUT(here.run()->status(), QString("finished"), patience_ms);
    QTRY_VERIFY_WITH_TIMEOUT(here.bench().job_queue().idle(), patience_ms);
    expect_every_step(*here.run());
    here.select_run(1);
    QVERIFY2(!resume->isEnabled(), qPrintable(resume->toolTip()));
  }

  void a_program_that_has_ended_is_trained_again_instead() {
    const ProgramRuns runs;
    AllPages here;
    run::RunSpec spec = runs.command({"sh", "-c", "exit 3"});
    spec.name = "mine";
    here.bench().start_run(spec);
    QTRY_VERIFY_WITH_TIMEOUT(here.bench().job_queue().idle(), patience_ms);
    here.select_run(1);
    const QAction* resume = here.command_of_page("Resume run");
    QTRY_VERIFY2_WITH_TIMEOUT(resume->toolTip().contains("Train it again"), qPrintable(resume->toolTip()), patience_ms);
    QVERIFY(!resume->isEnabled());
    here.choose_in_menu("Train again with changes");
    QTRY_COMPARE_WITH_TIMEOUT(here.window().shown_page(), QString("new-run"), patience_ms);
    QVERIFY(here.button("Your own program")->isChecked());
  }
};

BATCHSCOPE_TEST(TestResuming)
#include "tst_resuming.moc"
