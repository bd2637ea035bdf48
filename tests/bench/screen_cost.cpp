#include "screen_cost.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QTimer>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <memory>
#include <random>

#include "ui/plot/linked_plots.h"

namespace batchscope::bench {

namespace {

using namespace batchscope::ui;

constexpr int records_a_second = 2000;
constexpr int drain_milliseconds = 33; ///< between two looks at what has come

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// A run of noisy values, step by step.
class NoisyRun {
public:
  NoisyRun() {
    std::mt19937_64 random(1);
    for (double& value : noise_)
      value = std::normal_distribution<double>()(random);
  }

  void add(series::History& history) {
    telemetry::StepRecord record;
    record.step = ++step_;
    const auto noise = [&](std::int64_t stride) {
      return noise_[static_cast<std::size_t>(step_ * stride) % noise_.size()];
    };
    record.batch = 32 + 16 * (step_ / 100'000);
    record.effective_batch = record.batch;
    record.micro_batch = record.batch / 2;
    record.examples_seen = examples_ += record.batch;
    record.epoch = static_cast<double>(examples_) / 60'000;
    record.train_coverage = record.epoch - std::floor(record.epoch);
    record.seconds = static_cast<double>(step_) / records_a_second;
    record.loss = 2 / std::sqrt(1 + static_cast<double>(step_) * 1e-4) * (1 + 0.1 * noise(1));
    record.grad_norm = std::exp(0.5 * noise(3));
    record.learning_rate = 1e-3 * (1 + 0.1 * noise(5));
    record.allocated_bytes = 200'000'000 + static_cast<std::int64_t>(5e6 * noise(7));
    record.peak_bytes = 300'000'000 + static_cast<std::int64_t>(5e6 * noise(11));
    record.reserved_bytes = 350'000'000;
    history.append(record);
  }

private:
  std::array<double, 65'537> noise_{};
  std::int64_t step_ = 0;
  std::int64_t examples_ = 0;
};

void add_plots(LinkedPlots& plots, const std::shared_ptr<series::History>& history) {
  const struct {
    const char* title;
    const char* first;
    const char* second;
    double scale;
  } panels[] = {{"Memory (MB)", "allocated_bytes", "peak_bytes", 1e-6},
                {"Loss", "loss", "grad_norm", 1},
                {"Batch size (examples)", "effective_batch", "micro_batch", 1},
                {"train_coverage (%)", "train_coverage", "learning_rate", 100}};
  int color = 0;
  for (const auto& [title, first, second, scale] : panels) {
    PanelSpec spec;
    spec.title = QString::fromLatin1(title);
    const int panel = plots.add_panel(spec);
    for (const char* name : {first, second}) {
      CurveStyle style;
      style.name = QString::fromLatin1(name);
      style.series = color++;
      plots.add_curve(panel, std::make_shared<HistoryCurve>(history, name, series::Axis::step, scale), style);
    }
  }
}

/// Appends what a run would have reported by now, and says so.
class Stream {
public:
  Stream(NoisyRun& run, series::History& history, LinkedPlots& plots) : run_(run), history_(history), plots_(plots) {
    clock_.start();
    QObject::connect(&timer_, &QTimer::timeout, &plots_, [this] { add_new(); });
    timer_.start(drain_milliseconds);
  }

private:
  void add_new() {
    const auto due = clock_.elapsed() * records_a_second / 1000;
    for (; added_ < due; ++added_)
      run_.add(history_);
    plots_.refresh();
  }

  NoisyRun& run_;
  series::History& history_;
  LinkedPlots& plots_;
  QElapsedTimer clock_;
  QTimer timer_;
  std::int64_t added_ = 0;
};

void run_events(double seconds) {
  QEventLoop loop;
  QTimer::singleShot(static_cast<int>(seconds * 1000), &loop, &QEventLoop::quit);
  loop.exec();
}

std::vector<double> lateness(double seconds) {
  std::vector<double> late;
  QElapsedTimer since;
  QTimer probe;
  probe.setTimerType(Qt::PreciseTimer);
  QObject::connect(&probe, &QTimer::timeout, &probe, [&] {
    late.push_back(std::max(0.0, static_cast<double>(since.nsecsElapsed()) * 1e-6 - 1));
    since.start();
  });
  since.start();
  probe.start(1);
  run_events(seconds);
  std::sort(late.begin(), late.end());
  return late;
}

double crosshair_cost(LinkedPlots& plots) {
  std::vector<double> times;
  const auto [from, to] = plots.visible_range();
  for (int i = 1; i < 100; ++i) {
    QElapsedTimer clock;
    clock.start();
    plots.set_crosshair(from + (to - from) * i / 100);
    QCoreApplication::processEvents();
    times.push_back(static_cast<double>(clock.nsecsElapsed()) * 1e-6);
  }
  plots.set_crosshair(std::nullopt);
  std::nth_element(times.begin(), times.begin() + 50, times.end());
  return times[50];
}

/// Draws 100,000 marks, nearly all of which lie on each other, then adds 2,000 one by one.
MarksCost marks_cost(LinkedPlots& plots) {
  constexpr int count = 100'000;
  constexpr int added = 2'000;
  QList<PlotMark> marks;
  for (int i = 0; i < count; ++i)
    marks += {.id = i, .kind = PlotMark::Kind::oom, .x = double(i), .panel = 0, .y = 5, .through = true};
  plots.set_marks(marks);
  plots.show_all();
  MarksCost cost;
  QElapsedTimer clock;
  clock.start();
  plots.refresh_now();
  cost.draw_milliseconds = static_cast<double>(clock.nsecsElapsed()) * 1e-6;
  clock.restart();
  for (int i = count; i < count + added; ++i)
    plots.add_marks({{.id = i, .x = double(i), .panel = 0, .y = 5}});
  cost.add_microseconds = static_cast<double>(clock.nsecsElapsed()) * 1e-3 / added;
  return cost;
}

} // namespace

ScreenCost measure_screen(std::int64_t points, std::int64_t visible, double seconds) {
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
    qputenv("QT_QPA_PLATFORM", "offscreen");
  int count = 1;
  std::string name = "bench";
  char* arguments[] = {name.data(), nullptr};
  QApplication application(count, arguments);
  Theme theme;
  theme.apply_to(application);

  const auto history = std::make_shared<series::History>();
  NoisyRun run;
  for (std::int64_t i = 0; i < points; ++i)
    run.add(*history);
  LinkedPlots plots(theme);
  add_plots(plots, history);
  plots.set_end(1.2 * static_cast<double>(points)); // the plan's
  plots.resize(1200, 700);
  plots.show();
  if (visible < points) {
    plots.show_range(static_cast<double>(points - visible), static_cast<double>(points));
    plots.set_following(true);
  }
  run_events(0.5);

  ScreenCost cost;
  const Stream stream(run, *history, plots);
  cost.late_milliseconds = lateness(seconds);
  const double before = processor_seconds();
  QElapsedTimer clock;
  clock.start();
  run_events(seconds);
  const double passed = static_cast<double>(clock.nsecsElapsed()) * 1e-9;
  cost.share_of_core = (processor_seconds() - before) / passed;
  cost.refresh_milliseconds = plots.refresh_times();
  cost.refreshes_a_second = static_cast<double>(cost.refresh_milliseconds.size()) / (2 * seconds);
  std::sort(cost.refresh_milliseconds.begin(), cost.refresh_milliseconds.end());
  cost.crosshair_milliseconds = crosshair_cost(plots);
  cost.marks = marks_cost(plots);
  return cost;
}

} // namespace batchscope::bench
