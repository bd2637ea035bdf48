#include "tests/screenshots/programs.h"

#include <QCoreApplication>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QProcess>
#include <QPushButton>
#include <QTabBar>

#include <algorithm>

#include "core/run/spec_fields.h"
#include "ui/new_run/new_run_page.h"
#include "ui/plan/plan_editor.h"
#include "ui/plot/linked_plots.h"
#include "ui/workbench/workbench.h"

namespace batchscope::ui::pictures {

namespace {

run::RunSpec program(const std::vector<std::string>& command, std::int64_t batch) {
  run::RunSpec spec;
  spec.batch = {run::BatchChoice::Kind::number, batch};
  spec.program = run::ProgramSpec{.command = command};
  return spec;
}

/// The pretended training that is beside this file, under the name that a user's would have.
class Trainings {
public:
  explicit Trainings(const QString& folder) : folder_(folder.toStdString()) {
    const QString source = BATCHSCOPE_SOURCE_DIR "/tests/screenshots/pretended_training.py";
    // Not a copy: it finds the client by its own place.
    QFile script(folder + "/train.py");
    if (!script.open(QIODevice::WriteOnly) ||
        script.write("import runpy\nrunpy.run_path('" + source.toUtf8() + "', run_name='__main__')\n") < 0)
      fail("cannot write " + script.fileName());
  }

  /// One that tells of its steps and lets its size be changed.
  run::RunSpec reporting(std::int64_t batch, const std::vector<std::string>& options) const {
    std::vector<std::string> command{"python3", "train.py", "--bs", "{batch}", "--reports"};
    command.insert(command.end(), options.begin(), options.end());
    run::RunSpec spec = program(command, batch);
    spec.program->folder = folder_;
    return spec;
  }
  /// One that prints lines.
  run::RunSpec printing(std::int64_t batch) const {
    run::RunSpec spec = program({"python3", "train.py", "--bs", "{batch}", "--lr", "{lr}", "--seed", "{seed}"}, batch);
    spec.program->folder = folder_;
    spec.program->set = {{"lr", "0.01"}};
    spec.program->metrics = {{"loss", "step (?<step>\\d+) of .* loss=([0-9.]+)"},
                             {"validation_accuracy", "accuracy=([0-9.]+)"}};
    return spec;
  }

private:
  std::string folder_;
};

void run_to_the_end(Workbench& bench, const run::RunSpec& spec) {
  const Job* job = bench.start_run(spec);
  until("the run of a program", [&] { return job->over(); });
}

void take_form(Workbench& bench, Photographer& photographer, const Trainings& trainings) {
  bench.propose_run(program({"python", "train.py", "--batch_size", "{batch}", "--seed", "{seed}"}, 32));
  photographer.take_sizes("new-run", "program-form");
  const auto take_test = [&](const run::RunSpec& spec, const QString& name) {
    bench.propose_run(spec);
    photographer.find<NewRunPage>({})->test();
    until("the test of a program", [&] { return bench.job_queue().idle(); });
    photographer.take_sizes("new-run", name);
  };
  take_test(trainings.printing(32), "program-tested");
  take_test(trainings.reporting(32, {}), "program-tested-reporting");
  take_test(program({"python3", "-c", "import no_such_module", "{batch}"}, 32), "program-test-failed");
}

/// What a program needs on a card that is not here.
void take_fit(Workbench& bench, Photographer& photographer) {
  const QString python = qEnvironmentVariable("BATCHSCOPE_TEST_PYTHON");
  if (python.isEmpty())
    return;
  bench.propose_run(program({python.toStdString(), BATCHSCOPE_SOURCE_DIR "/tests/gpu/training.py", "loop", "wide_gpt",
                             "{batch}", "1000000", "cuda:0"},
                            32));
  photographer.page("new-run")->findChild<QPushButton*>("fit-start")->click();
  until("the sizes of a program on a card", [&] { return bench.job_queue().idle(); });
  photographer.take_sizes("new-run", "program-fit");
}

/// A run that survives an out-of-memory error on the way, paused; and its plan.
void take_steered(Workbench& bench, Photographer& photographer, const Trainings& trainings) {
  run::RunSpec spec = trainings.reporting(16, {"--fits", "100", "--examples", "6000", "--seconds", "0.01"});
  spec.schedule = "step:interval=30,increment=24";
  spec.memory_budget = 100'000'000;
  const Job* test = bench.job_queue().try_out(spec);
  until("the test of the program", [&] { return test->over(); });
  bench.propose_plan(spec);
  photographer.take_sizes("schedule", "program-schedule-draft");
  bench.start_run(spec);
  until("a program to have made its steps", [&] { return bench.current() && bench.current()->steps() >= 130; });
  bench.current()->pause();
  until("the program to pause", [&] { return bench.current()->paused(); });
  photographer.take_sizes("live", "program-live");
  photographer.take_sizes("schedule", "program-schedule");
  bench.current()->stop();
  until("the program to stop", [&] { return bench.job_queue().idle(); });
}

void take_ended(Workbench& bench, Photographer& photographer, const Trainings& trainings) {
  run_to_the_end(bench, trainings.printing(24));
  photographer.take_sizes("live", "program-live-printing");
  auto* tabs = photographer.find<QTabBar>("run-tabs");
  tabs->setCurrentIndex(1);
  photographer.show("live");
  QWidget* live = photographer.page("live");
  until("the output of a program", [&] { return !live->findChild<QLabel*>("output-note")->text().isEmpty(); });
  photographer.take_sizes("live", "program-live-output");
  live->findChild<QAction*>("search-output")->trigger();
  live->findChild<QLineEdit*>("output-search")->setText("loss");
  photographer.take_sizes("live", "program-live-output-search");
  tabs->setCurrentIndex(0);
  run::RunSpec broken =
      program({"python3", "-c", "def load(name):\n    return dict()[name]\n\nload('train')", "{batch}"}, 32);
  run_to_the_end(bench, broken);
  photographer.take_sizes("live", "program-live-failed");
  Q_EMIT bench.selection_wanted({bench.current()->id()});
  photographer.take_sizes("runs", "program-runs-failed");
  Q_EMIT bench.selection_wanted({bench.current()->id() - 1});
  photographer.click("Show output");
  until("the output of an old run",
        [&] { return photographer.page("runs")->findChild<QLabel*>("output-note")->text().contains("lines"); });
  photographer.take_sizes("runs", "program-runs-output");
  photographer.click("Hide output");
}

/// A run whose BatchScope was killed, before and after the window has taken it over.
void take_adopted(Workbench& bench, Photographer& photographer, const Trainings& trainings) {
  run::RunSpec spec = trainings.reporting(16, {"--seconds", "0.05", "--examples", "40000"});
  spec.name = "train.py of a killed BatchScope";
  QProcess command_line;
  command_line.start("sh", {"-c", "exec \"$0\" --db \"$1\" run " + QString::fromStdString(run::to_command_line(spec)),
                            QCoreApplication::applicationDirPath() + "/batchscope-cli",
                            QString::fromStdString(bench.run_database().database().string())});
  const auto newest = [&]() -> const store::RunRow* {
    const auto& runs = bench.run_database().runs();
    return runs.empty() || runs.back().name != spec.name ? nullptr : &runs.back();
  };
  until("a run of the command line", [&] { return newest() && newest()->outcome.steps > 20; });
  command_line.kill();
  command_line.waitForFinished();
  until("the run to be interrupted", [&] { return newest()->outcome.status == telemetry::RunStatus::interrupted; });
  photographer.take_sizes("runs", "program-runs-interrupted");
  const std::int64_t left_at = newest()->outcome.steps;
  bench.resume_run(newest()->id, spec);
  until("the run to go on", [&] { return bench.current() && bench.current()->steps() > left_at + 20; });
  bench.current()->pause();
  until("the run to pause", [&] { return bench.current()->paused(); });
  photographer.take_sizes("live", "program-live-adopted");
  bench.current()->stop();
  until("the run to stop", [&] { return bench.job_queue().idle(); });
}

/// A search with a process for each size, under way and at its end.
void take_search(Workbench& bench, Photographer& photographer, const Trainings& trainings) {
  FindRequest request;
  request.spec = trainings.printing(16);
  request.spec.memory_budget = 120'000'000;
  Job* search = bench.start_search(request);
  until("some sizes to be tried", [&] { return search->probes().size() >= 3 || search->over(); });
  photographer.take_page("find", "program-find-searching");
  until("the search of a program", [&] { return search->over(); });
  photographer.take_sizes("find", "program-find");
}

void take_sweep(Workbench& bench, Photographer& photographer, const Trainings& trainings) {
  sweep::SweepSpec spec;
  spec.base = trainings.printing(16);
  spec.vary = {{.field = "set.lr", .values = {"0.003", "0.01", "0.03"}, .interval = {}},
               {.field = "batch", .values = {"16", "32", "64"}, .interval = {}}};
  spec.repeats = 3;
  bench.propose_sweep(spec.base);
  photographer.take_sizes("sweep", "program-sweep-planning");
  Job* job = bench.start_sweep(spec);
  const auto ended = [&] {
    const auto& runs = bench.run_database().runs();
    return std::count_if(runs.begin(), runs.end(), [&](const store::RunRow& run) {
      return job->sweep() && run.sweep == job->sweep() && run.outcome.status == telemetry::RunStatus::finished;
    });
  };
  until("some runs of the sweep", [&] { return ended() >= 11 || job->over(); });
  photographer.take_page("sweep", "program-sweep-running");
  until("the sweep of a program", [&] { return job->over(); });
  photographer.take_sizes("sweep", "program-sweep");
  bench.compare_sweep(*job->sweep());
  photographer.take_sizes("compare", "program-compare");
  photographer.take_sizes("runs", "program-runs");
  photographer.take_sizes("advice", "program-advice");
}

} // namespace

void take_programs(Workbench& bench, Photographer& photographer, const QString& folder) {
  const Trainings trainings(folder);
  take_form(bench, photographer, trainings);
  take_fit(bench, photographer);
  take_steered(bench, photographer, trainings);
  take_ended(bench, photographer, trainings);
  take_adopted(bench, photographer, trainings);
  take_search(bench, photographer, trainings);
  take_sweep(bench, photographer, trainings);
}

void take_unchanged_loop(Workbench& bench, Photographer& photographer, const QString& python) {
  run::RunSpec spec =
      program({python.toStdString(), BATCHSCOPE_SOURCE_DIR "/examples/unchanged_loop.py", "--epochs", "6"}, 64);
  spec.name = "unchanged PyTorch loop";
  spec.program->attach = true;
  bench.start_run(spec);
  const auto steps = [&] { return bench.current() ? bench.current()->steps() : 0; };
  until("the loop to be steered", [&] { return bench.current() && bench.current()->plannable() && steps() >= 60; });
  photographer.show("live");
  auto* plots = photographer.page("live")->findChild<LinkedPlots*>();
  until("the plan to be dragged", [&] {
    Q_EMIT plots->handle_dropped(PlanEditor::to_the_end, 200);
    return bench.current()->pending_edit().has_value();
  });
  const std::int64_t dragged_at = steps();
  until("the new size", [&] { return !bench.current()->pending_edit() && steps() >= dragged_at + 25; });
  bench.current()->pause();
  until("the loop to pause", [&] { return bench.current()->paused(); });
  photographer.take_sizes("live", "own-training");
  bench.current()->stop();
  until("the loop to stop", [&] { return bench.job_queue().idle(); });
}

} // namespace batchscope::ui::pictures
