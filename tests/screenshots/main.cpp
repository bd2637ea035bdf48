// Writes every page of the window, filled with real runs, light and dark, into a folder:
// batchscope_screenshots FOLDER SUFFIX. The scale is that of QT_SCALE_FACTOR.
#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QEventLoop>
#include <QFile>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QScreen>
#include <QTemporaryDir>
#include <QTimer>

#include <algorithm>
#include <cstdio>

#include "core/sweep/demo.h"
#include "tests/ui/sweep/made_sweep.h"
#include "ui/new_run/new_run_page.h"
#include "ui/plan/plan_editor.h"
#include "ui/widgets/answer_banner.h"
#include "ui/widgets/widgets.h"
#include "ui/window/import_dialog.h"
#include "ui/window/main_window.h"
#include "ui/window/pages.h"

using namespace batchscope;
using namespace batchscope::ui;

namespace {

constexpr QSize window_size(1440, 900);
constexpr QSize small_size(1024, 700); ///< the least that is promised to do
constexpr int patience_ms = 600'000;
constexpr int look_interval_ms = 20;

[[noreturn]] void fail(const QString& what) {
  std::fprintf(stderr, "screenshots: %s\n", qPrintable(what));
  std::exit(1);
}

/// Lets the window live until `done` holds.
void until(const char* what, const std::function<bool()>& done) {
  QEventLoop loop;
  QTimer look;
  QTimer patience;
  QObject::connect(&look, &QTimer::timeout, &loop, [&] {
    if (done())
      loop.quit();
  });
  QObject::connect(&patience, &QTimer::timeout, &loop, [&] { fail(QString("waited in vain for %1").arg(what)); });
  look.start(look_interval_ms);
  patience.start(patience_ms);
  loop.exec();
}

/// Lets what was asked for by now be laid out and drawn.
void settle() {
  QElapsedTimer time;
  time.start();
  constexpr qint64 long_enough_ms = 700; // the slowest pace of any label or plot
  until("the window to settle", [&] { return time.elapsed() > long_enough_ms; });
}

class Photographer {
public:
  Photographer(MainWindow& window, Theme& theme, QString folder, QString suffix)
      : window_(window), theme_(theme), folder_(std::move(folder)), suffix_(std::move(suffix)) {}

  void show(const QString& key) { window_.show_page(key); }
  template <typename Widget> Widget* find(const QString& name) { return window_.findChild<Widget*>(name); }

  /// The window as it is, once light and once dark.
  void take(const QString& name) { take_widget(window_, name); }
  void take_widget(QWidget& widget, const QString& name) {
    for (const auto mode : {Theme::Mode::light, Theme::Mode::dark}) {
      theme_.set_mode(mode);
      settle();
      const QString file =
          QString("%1/%2-%3%4.png").arg(folder_, name, mode == Theme::Mode::dark ? "dark" : "light", suffix_);
      if (!widget.grab().save(file))
        fail("cannot write " + file);
      std::printf("%s\n", qPrintable(file));
    }
    theme_.set_mode(Theme::Mode::light);
  }

  void take_page(const QString& key, const QString& name) {
    window_.findChild<Banner*>()->dismiss_note(); // of what led here
    window_.show_page(key);
    take(name);
  }

  /// The same in a large and in a small window.
  void take_sizes(const QString& key, const QString& name) {
    take_page(key, name);
    window_.resize(small_size);
    take(name + "-small");
    window_.resize(window_size);
  }

private:
  MainWindow& window_;
  Theme& theme_;
  QString folder_;
  QString suffix_;
};

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

/// The sweep of a program that reports its training loss only.
void take_program_sweep(Workbench& bench, Photographer& photographer, run::RunSpec base) {
  base.program->command = {"sh", "-c", "for i in 1 2 3; do echo loss=0.{lr}$i; done"};
  base.program->set = {{"lr", "1"}};
  sweep::SweepSpec spec;
  spec.base = base;
  spec.vary = {{.field = "set.lr", .values = {"1", "3", "9"}, .interval = {}},
               {.field = "batch", .values = {"16", "32"}, .interval = {}}};
  Job* job = bench.start_sweep(spec);
  until("the sweep of a program", [&] { return job->over(); });
  photographer.take_sizes("sweep", "sweep-program");
  photographer.take_sizes("runs", "runs-program");
}

/// New run for a program of the user's own, before and after its test; its runs and its sweep.
void take_program(Workbench& bench, Photographer& photographer) {
  run::RunSpec spec;
  spec.batch = {run::BatchChoice::Kind::number, 32};
  spec.program =
      run::ProgramSpec{.command = {"sh", "-c", "for i in 1 2 3; do echo step $i of batch {batch}: loss=0.$i; done"},
                       .metrics = {{"loss", "loss=([0-9.]+)"}}};
  bench.propose_run(spec);
  photographer.take_sizes("new-run", "new-run-program");
  photographer.find<NewRunPage>({})->test();
  until("the program to be tested", [&] { return bench.engine().idle(); });
  photographer.take_sizes("new-run", "new-run-program-tested");
  train_to_the_end(bench, spec);
  photographer.take_sizes("live", "live-program");
  spec.program->command = {"sh", "-c", "echo 'RuntimeError: no such data' >&2; exit 3"};
  train_to_the_end(bench, spec);
  photographer.take_sizes("live", "live-program-failed");
  take_program_sweep(bench, photographer, spec);
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
  until("what is foreseen of the runs", [&] { return banner->text().contains("peak"); });
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

void take_all(Workbench& bench, Photographer& photographer) {
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
  take_program(bench, photographer);
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
  until("the run to stop", [&] { return bench.engine().idle(); });

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
  if (argc != 3)
    fail("usage: batchscope_screenshots FOLDER SUFFIX");
  const QTemporaryDir scratch;
  if (!QDir().mkpath(argv[1]) || !scratch.isValid())
    fail(QString("%1 cannot be made").arg(argv[1]));
  Theme theme;
  theme.set_mode(Theme::Mode::light);
  theme.apply_to(application);
  Workbench bench(theme, (scratch.path() + "/mnist-study.db").toStdString());
  MainWindow window(theme, bench, Settings(scratch.path() + "/window.json"), make_pages(bench));
  window.resize(window_size);
  window.show();
  Photographer photographer(window, theme, argv[1], argv[2]);
  take_import(bench, window, photographer, scratch.path());
  take_all(bench, photographer);
  return 0;
}
