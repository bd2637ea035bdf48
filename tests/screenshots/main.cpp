// Writes every page of the window, filled with real runs, light and dark, into a folder:
// batchscope_screenshots FOLDER SUFFIX [PART...]. The scale is that of QT_SCALE_FACTOR. Parts: import, programs,
// loop (needs the Python named by BATCHSCOPE_TEST_PYTHON), counts (1 to 300 runs), answers and networks; without one,
// all. The README and the pages of docs have the light ones of live, find-goal, sweep-answer, compare-answer and
// own-training.
#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QTemporaryDir>

#include <algorithm>

#include "core/sweep/demo.h"
#include "tests/screenshots/counts.h"
#include "tests/screenshots/fit.h"
#include "tests/screenshots/photographer.h"
#include "tests/screenshots/programs.h"
#include "tests/ui/sweep/made_sweep.h"
#include "ui/widgets/answer_banner.h"
#include "ui/window/import_dialog.h"
#include "ui/window/main_window.h"
#include "ui/window/pages.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::pictures;

namespace {

constexpr std::int64_t met_limit = 190; ///< step by which the run below has met its limit

/// Asks for more than fits on the way, so that there is something to see.
run::RunSpec growing_run() {
  run::RunSpec spec = sweep::demo_spec();
  spec.name = "cnn, +24 every 20 steps";
  spec.batch = {run::BatchChoice::Kind::number, 32};
  spec.schedule = "step:interval=20,increment=24";
  spec.length = {.epochs = std::nullopt, .examples = std::nullopt, .steps = 240};
  spec.memory_budget = 100'000'000;
  return spec;
}

/// One of several that are to be compared: a name as people give them, and a length of its own.
run::RunSpec compared_run(int number) {
  run::RunSpec spec = sweep::demo_spec();
  spec.model = "mlp:hidden=64";
  const std::int64_t batch = std::int64_t{8} << number;
  spec.name = "mlp of 64 on the demo images, batch " + std::to_string(batch);
  spec.batch = {run::BatchChoice::Kind::number, batch};
  spec.length = {.epochs = 1, .examples = std::nullopt, .steps = std::nullopt};
  return spec;
}

void train_to_the_end(Workbench& bench, const run::RunSpec& spec) {
  const Job* job = bench.start_run(spec);
  until("a run", [&] { return job->over(); });
}

/// 1, 3 and 7 runs opened together, and one that failed.
void take_several(Workbench& bench, Photographer& photographer) {
  QList<qint64> ids;
  for (int number = 0; number < 7; ++number) {
    train_to_the_end(bench, compared_run(number));
    ids.prepend(bench.current()->id());
  }
  for (const qsizetype count : {1, 3, 7}) {
    bench.open(ids.first(count));
    until("runs to be read", [&] {
      return std::all_of(bench.opened().begin(), bench.opened().end(),
                         [](const OpenRun* run) { return run->status() == "finished"; });
    });
    photographer.take_sizes("live", QString("live-%1-runs").arg(count));
    photographer.take_sizes("schedule", QString("schedule-%1-runs").arg(count));
    photographer.take_sizes("runs", QString("runs-%1-plotted").arg(count));
  }
  run::RunSpec spec = growing_run();
  spec.name = "cnn that is told to fail";
  spec.on_oom = run::OnOom::fail;
  train_to_the_end(bench, spec);
  photographer.take_sizes("live", "live-failed");
  photographer.take_sizes("runs", "runs-failed");
}

/// A language model on New run, with the card that it should fit into.
void fit_into_a_card(Workbench& bench, Photographer& photographer) {
  run::RunSpec spec;
  spec.model = "llama:layers=12,heads=12,width=768,context=1024";
  spec.data = "synthetic:examples=100000,vocabulary=32000";
  spec.batch = {run::BatchChoice::Kind::number, 32};
  bench.propose_run(spec);
  photographer.show("new-run");
  auto* targets = photographer.find<QComboBox>("fit-into");
  targets->setCurrentIndex(targets->findData("rtx-4090"));
  Q_EMIT targets->activated(targets->currentIndex());
  until("what fits into the card", [&] { return photographer.find<QLabel>("savings")->isVisible(); });
  photographer.take_sizes("new-run", "new-run-card");
  targets->setCurrentIndex(0);
  Q_EMIT targets->activated(0);
}

/// Files of other programs that are to be imported, and a table whose columns have names of its own.
void take_import(Workbench& bench, MainWindow& window, Photographer& photographer, const QString& scratch) {
  const QString files = BATCHSCOPE_SOURCE_DIR "/tests/core/exchange/files/";
  const QString table = scratch + "/measured.csv";
  QFile file(table);
  if (!file.open(QIODevice::WriteOnly) ||
      file.write("iteration,error,learning rate,remark\n1,0.5,0.1,a\n2,0.4,0.1,b\n") < 0)
    fail("cannot write " + table);
  file.close();
  for (const auto& [paths, name] :
       {std::pair{QStringList{files + "tensorboard", files + "transformers", files + "mlflow/mlruns"}, "import"},
        {QStringList{files + "lightning", table}, "import-table"}}) {
    auto* dialog = new ImportDialog(bench, paths, &window);
    dialog->open();
    until("files to be read", [&] { return !dialog->findChild<QProgressBar*>()->isVisible(); });
    photographer.take_widget(*dialog, name);
    dialog->close();
  }
}

/// A plan, a sweep under way, and finished ones of 3, 24 and 300 runs.
void take_sweeps(Workbench& bench, Photographer& photographer) {
  using batchscope::test::grid_spec;
  using batchscope::test::MadeSweep;
  bench.propose_sweep(sweep::demo_spec());
  photographer.show("sweep");
  auto* banner = photographer.find<AnswerBanner>("plan_or_answer");
  until("the predictions of the runs", [&] { return banner->text().contains("peak"); });
  photographer.take_sizes("sweep", "sweep-planning");
  auto* sweeps = photographer.find<QComboBox>("sweeps");
  const auto show = [&](const sweep::SweepSpec& spec, std::size_t finished, std::int64_t steps, const QString& name) {
    MadeSweep made(bench.run_database().database(), spec, finished);
    if (steps > 0)
      made.train(steps);
    until("a sweep to be listed", [&] { return sweeps->itemData(0).toLongLong() == made.id(); });
    Q_EMIT sweeps->activated(0);
    photographer.take_sizes("sweep", name);
  };
  show(grid_spec(), 38, 77, "sweep-running");
  show(grid_spec("16,32,64", "", 1), 3, 0, "sweep-3-runs");
  show(grid_spec("8,16,32,64", "0.001,0.003", 3), 24, 0, "sweep-24-runs");
  show(grid_spec("4,8,16,24,32,48,64,96,128,206", "0.0003,0.0005,0.001,0.0015,0.002,0.003,0.005,0.007,0.01,0.02", 3),
       300, 0, "sweep-300-runs");
}

/// Advice for a language model, and what is found in the current run and in those of the demo.
void take_advice(Photographer& photographer) {
  for (const char* answer : {"instruction-tuning", "7B", "4bit", "16"})
    photographer.find<QPushButton>(answer)->click();
  photographer.show("advice");
  photographer.take_sizes("advice", "advice");
}

/// The best size for a goal, and a sweep over two fields with repeats.
void take_answers(Workbench& bench, Photographer& photographer) {
  FindRequest request;
  request.spec = sweep::demo_spec();
  const Job* search = bench.start_search(request);
  until("a search", [&] { return search->over(); });
  photographer.click("Train the sizes");
  until("the sizes to be trained", [&] { return bench.job_queue().idle(); });
  photographer.take_sizes("find", "find-goal");
  sweep::SweepSpec spec;
  spec.base = sweep::demo_spec();
  spec.base.model = "mlp:hidden=64";
  spec.base.length = {.epochs = 2, .examples = std::nullopt, .steps = std::nullopt};
  spec.vary = {{.field = "batch", .values = {"16", "32", "64", "128", "256"}, .interval = {}},
               {.field = "lr", .values = {"0.001", "0.003", "0.01"}, .interval = {}}};
  spec.repeats = 3;
  const Job* job = bench.start_sweep(spec);
  until("a sweep", [&] { return job->over(); });
  photographer.take_sizes("sweep", "sweep-answer");
  bench.compare_sweep(*job->sweep());
  photographer.take_sizes("compare", "compare-answer");
}

void take_networks(Workbench& bench, Photographer& photographer) {
  photographer.take_sizes("runs", "runs-empty");
  photographer.take_sizes("live", "live-empty");
  photographer.take_sizes("find", "find-empty");
  photographer.take_sizes("sweep", "sweep-empty");
  photographer.take_sizes("advice", "advice-empty");

  FindRequest request;
  request.spec = sweep::demo_spec();
  Job* search = bench.start_search(request);
  until("a search", [&] { return search->state() == Job::State::done || search->state() == Job::State::failed; });
  photographer.take_sizes("find", "find");

  fit_into_a_card(bench, photographer);
  bench.propose_run(growing_run());
  photographer.take_sizes("new-run", "new-run");
  photographer.take_sizes("schedule", "schedule-draft");

  bench.start_run(growing_run());
  until("a run to have met its limit", [&] { return bench.current() && bench.current()->steps() >= met_limit; });
  bench.current()->pause();
  until("the run to pause", [&] { return bench.current()->paused(); });
  photographer.take_sizes("live", "live");
  photographer.take_sizes("schedule", "schedule-run");
  bench.current()->stop();
  until("the run to stop", [&] { return bench.job_queue().idle(); });

  Job* demo = bench.start_demo();
  until("the demo", [&] { return demo->state() == Job::State::done || demo->state() == Job::State::failed; });
  photographer.take_sizes("live", "live-several");
  photographer.take_sizes("runs", "runs");
  photographer.take_sizes("compare", "compare");
  photographer.take_sizes("sweep", "sweep-demo");
  take_advice(photographer);
  take_several(bench, photographer);
  take_sweeps(bench, photographer);
}

} // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  if (argc < 3)
    fail("usage: batchscope_screenshots FOLDER SUFFIX [PART...]");
  const QTemporaryDir scratch;
  if (!QDir().mkpath(argv[1]) || !scratch.isValid())
    fail(QString("%1 cannot be made").arg(argv[1]));
  Theme theme;
  theme.set_mode(Theme::Mode::light);
  theme.apply_to(application);
  const QStringList parts = QApplication::arguments().mid(3);
  // Each part has a window and a database of its own, which are empty at first.
  const auto take_part = [&](const char* part, const char* database, const auto& take) {
    if (!parts.isEmpty() && !parts.contains(QLatin1String(part)))
      return;
    const QString folder = scratch.filePath(part);
    QDir().mkpath(folder);
    Workbench bench(theme, (folder + '/' + database).toStdString());
    MainWindow window(theme, bench, Settings(folder + "/window.json"), make_pages(bench));
    window.resize(window_size);
    window.show();
    Photographer photographer(window, theme, argv[1], argv[2]);
    take(bench, window, photographer, folder);
  };
  take_part("import", "imported.db", take_import);
  take_part("programs", "experiments.db", [](Workbench& bench, MainWindow&, Photographer& photographer, auto& folder) {
    take_programs(bench, photographer, folder);
  });
  if (const QString python = qEnvironmentVariable("BATCHSCOPE_TEST_PYTHON"); !python.isEmpty())
    take_part("loop", "clocks.db", [&](Workbench& bench, MainWindow&, Photographer& photographer, auto&) {
      take_unchanged_loop(bench, photographer, python);
    });
  take_part("fit", "experiments.db", [](Workbench& bench, MainWindow&, Photographer& photographer, auto& folder) {
    take_fit_page(bench, photographer, folder);
  });
  for (const std::int64_t count : {1, 3, 30, 300})
    take_part("counts", QByteArray("of-" + QByteArray::number(count) + ".db").constData(),
              [count](Workbench& bench, MainWindow&, Photographer& photographer, auto&) {
                take_counts(bench, photographer, count);
              });
  take_part("answers", "mnist-study.db", [](Workbench& bench, MainWindow&, Photographer& photographer, auto&) {
    take_answers(bench, photographer);
  });
  take_part("networks", "mnist-study.db", [](Workbench& bench, MainWindow&, Photographer& photographer, auto&) {
    take_networks(bench, photographer);
  });
  return 0;
}
