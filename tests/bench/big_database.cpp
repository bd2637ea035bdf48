#include "big_database.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <numeric>

#include <sys/resource.h>

#include <QApplication>
#include <QComboBox>
#include <QElapsedTimer>
#include <QLineEdit>
#include <QTableView>
#include <QTemporaryDir>
#include <QTimer>

#include <fmt/format.h>

#include "core/exchange/export.h"
#include "core/exchange/import.h"
#include "core/run/run_spec.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "ui/compare/comparison_view.h"
#include "ui/compare/curve_reader.h"
#include "ui/compare/curves_card.h"
#include "ui/plot/linked_plots.h"
#include "ui/window/main_window.h"
#include "ui/window/pages.h"

namespace batchscope::bench {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double milliseconds_since(Clock::time_point start) {
  return 1e3 * seconds_since(start);
}

run::RunSpec spec_of(std::int64_t number) {
  const char* models[] = {"mlp:hidden=256", "cnn:width=32,norm=group", "resnet:width=16,norm=group"};
  run::RunSpec spec;
  spec.name = fmt::format("{} {}", number % 7 == 0 ? "baseline" : "sweep", number);
  spec.model = models[number % 3];
  spec.data = "demo";
  spec.batch = {run::BatchChoice::Kind::number, std::int64_t{1} << (3 + number % 8)};
  spec.seed = number % 5;
  return spec;
}

telemetry::StepRecord record_of(const run::RunSpec& spec, std::int64_t number, std::int64_t step) {
  const std::int64_t batch = spec.batch.number;
  const double progress = static_cast<double>(step);
  const double noise = std::sin(progress * (1 + 1e-3 * static_cast<double>(number)));
  telemetry::StepRecord record;
  record.step = step;
  record.examples_seen = step * batch;
  record.epoch = static_cast<double>(record.examples_seen) / 8000;
  record.train_coverage = record.epoch - std::floor(record.epoch);
  record.batch = record.micro_batch = record.effective_batch = batch;
  record.micro_batches = record.accumulate = 1;
  record.loss = 2.3 / std::sqrt(progress) * (1 + 0.1 * noise);
  record.learning_rate = 1e-3;
  record.grad_norm = 1 + noise;
  record.seconds = 0.01 * progress;
  record.allocated_bytes = 40'000'000;
  record.reserved_bytes = 60'000'000;
  record.peak_bytes = 50'000'000 + 1000 * (step % 50);
  return record;
}

telemetry::RunOutcome outcome_of(const telemetry::StepRecord& last, std::int64_t number) {
  using Status = telemetry::RunStatus;
  telemetry::RunOutcome outcome;
  outcome.status = number % 50 == 0 ? Status::failed : number % 33 == 0 ? Status::stopped : Status::finished;
  outcome.reason = number % 50 == 0 ? "out of memory" : "";
  outcome.batch = last.batch;
  outcome.steps = last.step;
  outcome.examples_seen = last.examples_seen;
  outcome.epoch = last.epoch;
  outcome.loss = last.loss;
  outcome.validation_loss = last.loss * 1.1;
  outcome.validation_accuracy = 0.9 + 0.0001 * static_cast<double>(number % 1000);
  outcome.peak_bytes = static_cast<std::uint64_t>(last.peak_bytes);
  outcome.seconds = last.seconds;
  outcome.examples_per_second = static_cast<double>(last.examples_seen) / last.seconds;
  return outcome;
}

void add_run(store::RunStore& store, std::int64_t number, std::int64_t steps) {
  const run::RunSpec spec = spec_of(number);
  store::NewRun run;
  run.name = spec.name;
  run.spec_json = run::to_json(spec);
  run.batch = spec.batch.number;
  const auto writer = store.begin(run);
  telemetry::StepRecord record;
  for (std::int64_t step = 1; step <= steps; ++step) {
    record = record_of(spec, number, step);
    writer->sink().record(record);
  }
  writer->finish(outcome_of(record, number));
}

// --- the window ---

/// The longest time that the event loop took for one round.
double slowest_round = 0;

template <typename Done> bool wait_for(const Done& done) {
  constexpr double patience = 120;
  QTimer wake; // so that it does not sleep past what comes without an event
  wake.start(1);
  const auto start = Clock::now();
  while (!done() && seconds_since(start) < patience) {
    QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    const auto round = Clock::now();
    QCoreApplication::processEvents();
    slowest_round = std::max(slowest_round, milliseconds_since(round));
  }
  return done();
}

template <typename Widget> Widget* shown(const ui::MainWindow& window, const char* name = nullptr) {
  for (auto* widget : window.findChildren<Widget*>())
    if (widget->isVisible() && (name == nullptr || widget->accessibleName() == QLatin1String(name)))
      return widget;
  std::fprintf(stderr, "bench: the window has changed\n");
  std::exit(1);
}

/// The slowest of filters as they are typed, each key until the table is drawn.
double slowest_filter(QLineEdit& filter, QTableView& table) {
  double slowest = 0;
  for (const QString text :
       {"baseline", "cnn 12", "batch >= 64 and loss < 0.1", "accuracy > 95% and status = finished", ""}) {
    for (qsizetype typed = 1; typed <= std::max<qsizetype>(1, text.size()); ++typed) {
      const auto start = Clock::now();
      filter.setText(text.left(typed));
      table.viewport()->repaint();
      slowest = std::max(slowest, milliseconds_since(start));
    }
  }
  return slowest;
}

/// Another series of a run chosen in the curves of the Compare page, until it is drawn.
double chosen_curve(const ui::Theme& theme, const std::filesystem::path& file, std::int64_t run) {
  const store::RunReader reader(file);
  ui::ReadRun read{.run = compare::read_runs(reader, {run}).front(), .series = reader.summaries(run)};
  ui::ComparisonView view;
  ui::CurvesCard card(theme, view, file);
  card.resize(640, 300);
  card.show();
  bool complete = false;
  QObject::connect(card.findChild<ui::CurveReader*>(), &ui::CurveReader::read_so_far, &card,
                   [&](const auto&, bool all) { complete = all; });
  const auto comparison = std::make_shared<const ui::Comparison>(ui::make_comparison({read}));
  view.set_comparison(comparison, {0});
  wait_for([&] { return complete; });
  auto* series = card.findChild<QComboBox*>(QStringLiteral("curve-series"));
  series->setCurrentIndex(series->findData(QStringLiteral("grad_norm")));
  complete = false;
  const auto start = Clock::now();
  Q_EMIT series->activated(series->currentIndex());
  wait_for([&] { return complete; });
  card.plots().refresh_now();
  return milliseconds_since(start);
}

std::uint64_t peak_memory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

std::vector<std::int64_t> all_runs(const store::RunReader& reader) {
  std::vector<std::int64_t> ids;
  for (const store::RunRow& run : reader.list())
    ids.push_back(run.id);
  return ids;
}

} // namespace

BigDatabase make_big_database(const std::filesystem::path& file, std::int64_t runs, std::int64_t points,
                              std::int64_t longest) {
  const auto series = static_cast<std::int64_t>(telemetry::step_series().size());
  const std::int64_t others =
      std::max<std::int64_t>(1, (points / series - longest) / std::max<std::int64_t>(1, runs - 1));
  const auto start = Clock::now();
  BigDatabase result;
  {
    store::RunStore store(file);
    for (std::int64_t number = 1; number <= runs; ++number) {
      const std::int64_t steps = number == runs / 2 ? longest : others;
      add_run(store, number, steps);
      result.points += steps * series;
    }
  }
  result.runs = runs;
  result.seconds = seconds_since(start);
  result.bytes = std::filesystem::file_size(file);
  return result;
}

BigCost measure_big_database(const std::filesystem::path& file) {
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
    qputenv("QT_QPA_PLATFORM", "offscreen");
  int count = 1;
  std::string name = "bench";
  char* arguments[] = {name.data(), nullptr};
  QApplication application(count, arguments);
  const QTemporaryDir scratch;
  BigCost cost;
  auto start = Clock::now();
  ui::Theme theme;
  theme.apply_to(application);
  ui::Workbench bench(theme, file);
  ui::MainWindow window(theme, bench, ui::Settings(scratch.path() + "/window.json"), ui::make_pages(bench));
  window.resize(1440, 900);
  window.show();
  window.show_page(QStringLiteral("runs"));
  wait_for([&] { return bench.run_database().loaded(); });
  auto* table = shown<QTableView>(window, "Runs");
  table->viewport()->repaint();
  cost.table = milliseconds_since(start);
  cost.runs = bench.run_database().runs().size();
  wait_for([&, idle = Clock::now()] { return seconds_since(idle) > 1; });
  cost.filter = slowest_filter(*shown<QLineEdit>(window, "Filter"), *table);

  const auto& runs = bench.run_database().runs();
  const auto longest = std::max_element(runs.begin(), runs.end(),
                                        [](const auto& a, const auto& b) { return a.outcome.steps < b.outcome.steps; });
  const auto steps = static_cast<std::size_t>(longest->outcome.steps);
  slowest_round = 0;
  start = Clock::now();
  bench.open({longest->id});
  window.show_page(QStringLiteral("live"));
  auto* plots = shown<ui::LinkedPlots>(window);
  const auto history = bench.current()->history();
  wait_for([&] { return history->steps() > 0; });
  plots->refresh_now();
  cost.first = milliseconds_since(start);
  wait_for([&] { return history->steps() == steps; });
  plots->refresh_now();
  cost.drawn = milliseconds_since(start);
  cost.longest = slowest_round;
  cost.steps = history->steps();
  cost.peak_bytes = peak_memory();
  cost.curve = chosen_curve(theme, file, longest->id);
  return cost;
}

EventFileCost measure_event_files(const std::filesystem::path& folder, std::int64_t runs, std::int64_t points,
                                  const std::string& python) {
  const auto file = folder / "hundredth.db";
  const auto events = folder / "events";
  EventFileCost cost;
  cost.points = make_big_database(file, runs, points, points / 18 / runs).points;
  cost.runs = static_cast<std::size_t>(runs);
  exchange::export_to_file(store::RunReader(file), all_runs(store::RunReader(file)), "tensorboard", events.string(),
                           false);
  auto start = Clock::now();
  const store::RunReader reader(file);
  for (const std::int64_t id : all_runs(reader))
    for (const std::string& series : reader.series_names(id))
      reader.series(id, series);
  cost.open = seconds_since(start);
  start = Clock::now();
  const auto read = exchange::read_runs_of(events);
  cost.read = seconds_since(start);
  {
    store::RunStore store(folder / "imported.db");
    exchange::store_runs(read, store);
  }
  cost.import = seconds_since(start);
  if (!python.empty()) {
    const std::string command =
        fmt::format("'{}' '{}/tests/bench/tensorboard_twin.py' '{}'", python, BATCHSCOPE_SOURCE_DIR, events.string());
    FILE* pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr || std::fscanf(pipe, "%lf", &cost.theirs) != 1)
      cost.theirs = 0;
    if (pipe != nullptr)
      ::pclose(pipe);
  }
  return cost;
}

} // namespace batchscope::bench
