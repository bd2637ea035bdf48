// What the project promises about speed and prediction, measured. Ratios are of things measured side by side in this
// process; single times depend on the machine and on what else it does.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <tuple>

#include <QTemporaryDir>
#include <unistd.h>

#include "big_database.h"
#include "compare_cost.h"
#include "core/base/text.h"
#include "core/schedule/progression.h"
#include "finder_table.h"
#include "memory_table.h"
#include "reading_cost.h"
#include "saver_table.h"
#include "screen_cost.h"
#include "series_rate.h"
#include "store_rate.h"
#include "training_ratio.h"

using namespace batchscope;
using namespace batchscope::bench;

namespace {

void print_training(const std::filesystem::path& folder) {
  std::printf("\nWhole loop with telemetry and store / bare LibTorch loop of the same numbers\n");
  std::printf("%-16s %6s %14s %8s %18s %6s\n", "model", "batch", "bare step", "median", "lowest to highest", "goal");
  const struct {
    const char* model;
    std::int64_t batch, steps;
    const char* goal;
  } cases[] = {{"cnn", 64, 100, "1.01"}, {"mlp:hidden=256", 16, 2000, ""}, {"mlp:hidden=16", 16, 4000, "1.05"}};
  for (const auto& [model, batch, steps, goal] : cases) {
    const TrainingRatio ratio = measure_training(model, batch, steps, 11, folder);
    std::printf("%-16s %6ld %11.1f µs %8.3f %8.3f to %6.3f %6s\n", model, static_cast<long>(batch),
                ratio.bare_step_microseconds, ratio.median, ratio.lowest, ratio.highest, goal);
    std::fflush(stdout);
  }
}

void print_noise(const std::filesystem::path& folder) {
  std::printf("\nRun that measures the gradient noise scale as often as schedules need it / the same run without "
              "(goal: 1.03)\n");
  std::printf("%-16s %6s %12s %14s %8s %18s\n", "model", "batch", "accumulation", "plain step", "median",
              "lowest to highest");
  for (const std::int64_t accumulate : {1, 4}) {
    for (const auto& [model, batch, steps] : {std::tuple("cnn", 64, 100), std::tuple("mlp:hidden=256", 64, 2000)}) {
      const TrainingRatio ratio = measure_noise(model, batch, accumulate, steps / accumulate, 11, folder);
      std::printf("%-16s %6d %12ld %11.1f µs %8.3f %8.3f to %6.3f\n", model, batch, static_cast<long>(accumulate),
                  ratio.bare_step_microseconds, ratio.median, ratio.lowest, ratio.highest);
      std::fflush(stdout);
    }
  }
}

void print_finder() {
  const std::string images = "demo";
  const std::string tokens = "synthetic:examples=5000,vocabulary=65";
  std::printf("\nPredictive search, checked by running one size more\n");
  std::printf("%-40s %9s %8s %6s %7s %5s %11s %8s\n", "model", "budget", "largest", "exact", "probes", "OOMs",
              "worst error", "time");
  const std::pair<const char*, std::string> models[] = {{"mlp:hidden=256", images},
                                                        {"cnn", images},
                                                        {"cnn:norm=batch", images},
                                                        {"resnet", images},
                                                        {"gpt:layers=2,heads=4,width=64,context=64", tokens}};
  for (const auto& [model, data] : models) {
    for (const std::uint64_t megabytes : {25, 50, 100}) {
      const FinderRow row = measure_finder(model, data, megabytes * 1'000'000);
      std::printf("%-40s %9s %8ld %6s %7d %5d %9.4f %% %6.1f s\n", model, format_bytes(row.budget).c_str(),
                  static_cast<long>(row.largest), row.exact ? "yes" : "NO", row.probes, row.out_of_memory,
                  100 * row.worst_error, row.seconds);
      std::fflush(stdout);
    }
  }
}

void print_store(const std::filesystem::path& folder) {
  const StoreRate rate = measure_store(folder, 300'000);
  std::printf("\nStore: %.2f million points/s written (goal 1), %.0f ns a record for the loop, %.1f bytes a point, "
              "a series of 300,000 points read in %.1f ms\n",
              rate.write_points_per_second / 1e6, rate.push_nanoseconds, rate.bytes_per_point, rate.read_milliseconds);
}

void print_reading(const std::filesystem::path& folder) {
  const ReadingCost cost = measure_reading(folder, 10'000, 500, 40'000);
  std::printf("\nList of 10,000 runs: %.1f ms whole, %.3f ms a change of one, %.3f ms a look that finds nothing\n",
              cost.whole_list_milliseconds, cost.change_milliseconds, cost.nothing_milliseconds);
  std::printf("A run of 40,000 steps with 500 more series opened in %.0f ms: %lu of %lu chunks taken apart\n",
              cost.wide_run_milliseconds, static_cast<unsigned long>(cost.chunks_read),
              static_cast<unsigned long>(cost.chunks));
}

void print_plan() {
  schedule::Progression progression({.sampler = {.examples = 3'000'000'000, .ranks = 4},
                                     .length = {.epochs = {}, .examples = {}, .steps = 1'000'000},
                                     .batch = 16,
                                     .schedule = "step:interval=5,increment=1"});
  const auto begin = std::chrono::steady_clock::now();
  while (progression.next())
    progression.done();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("\nPlan of 1,000,000 steps: %.2f s (goal: under 1 s)\n", seconds);
}

void print_series() {
  const SeriesRate rate = measure_series(8, 10'000'000, 1200);
  std::printf(
      "\nSeries in memory: a value appended in %.1f ns (slowest, eight at once: %.0f µs), a record in %.0f ns and "
      "%.0f bytes\n",
      rate.append_nanoseconds, rate.slowest_append_microseconds, rate.record_nanoseconds, rate.record_bytes);
  std::printf("8 series of 10,000,000 points on 1200 pixels, ms a series (goal: under 1): all %.2f (first time %.2f), "
              "half %.2f, 2,000 points %.3f\n",
              rate.out_milliseconds, rate.first_milliseconds, rate.half_milliseconds, rate.in_milliseconds);
  std::printf("Plan of 1,000,000 steps to draw: %.2f s growing, %.2f s restless (goal: 0.3 s)\n", rate.plan_seconds,
              rate.restless_plan_seconds);
}

void print_compare() {
  const CompareCost cost = measure_compare(10'000);
  std::printf(
      "\n10,000 runs compared: columns %.0f ms and answer %.0f ms in the background; parallel coordinates drawn "
      "in %.1f ms, brushed in %.1f ms (worst %.1f; goal 33), scatter plot %.1f ms, filter %.1f ms (goal 50), table "
      "%.1f ms\n",
      cost.columns, cost.answer, cost.axes, cost.brush, cost.worst_brush, cost.scatter, cost.filter, cost.table);
}

void print_screen() {
  std::printf("\n8 series of 10,000,000 points on four plots of 1200x700, 2,000 more a second\n");
  std::printf("%-14s %-30s %-30s %10s %8s %10s %20s\n", "in view", "refresh, ms: 50/95/99 %, most",
              "event late, ms: the same", "a second", "of core", "crosshair", "processor a refresh");
  const auto spread = [](const std::vector<double>& sorted) {
    std::string text;
    for (const double fraction : {0.5, 0.95, 0.99, 1.0}) {
      char number[32] = "-";
      if (!sorted.empty())
        std::snprintf(number, sizeof number, "%6.2f ",
                      sorted[static_cast<std::size_t>(fraction * static_cast<double>(sorted.size() - 1))]);
      text += number;
    }
    return text;
  };
  MarksCost marks;
  for (const std::int64_t visible : {10'000'000, 20'000, 1'000}) {
    const ScreenCost cost = measure_screen(10'000'000, visible, 10);
    std::printf("%-14ld %-30s %-30s %10.1f %6.1f %% %7.2f ms %17.1f ms\n", static_cast<long>(visible),
                spread(cost.refresh_milliseconds).c_str(), spread(cost.late_milliseconds).c_str(),
                cost.refreshes_a_second, 100 * cost.share_of_core, cost.crosshair_milliseconds,
                1e3 * cost.share_of_core / std::max(1.0, cost.refreshes_a_second));
    std::fflush(stdout);
    marks = cost.marks;
  }
  std::printf("100,000 marks drawn: %.0f ms; one more behind them: %.1f us\n", marks.draw_milliseconds,
              marks.add_microseconds);
  std::printf("goals: refresh at most 16 ms, no event later than that, at most 10 %% of a core\n");
}

/// What each setting that saves memory saves and costs.
void print_savers() {
  std::printf("\nPeak of a step, MB, its time, ms, both as a share of the plain step, and the dry run's error "
              "(goal: at most 0.5 %%)\n");
  std::printf("%-46s %-22s %10s %7s %10s %7s %10s\n", "model and batch", "setting", "peak", "", "step", "", "dry run");
  double worst = 0;
  const auto print = [&](const std::string& model, const std::string& data, std::int64_t batch) {
    const std::vector<SaverRow> rows = measure_savers(model, "synthetic:examples=5000," + data, batch);
    for (const SaverRow& row : rows) {
      const double error = row.dry_bytes / row.real_bytes - 1;
      worst = std::max(worst, std::abs(error));
      std::printf("%-46s %-22s %10.2f %5.0f %% %10.2f %5.0f %% %8.4f %%\n",
                  (model + " x " + std::to_string(batch)).c_str(), row.setting.c_str(), row.real_bytes / 1e6,
                  100 * row.real_bytes / rows.front().real_bytes, row.milliseconds,
                  100 * row.milliseconds / rows.front().milliseconds, 100 * error);
    }
  };
  for (const char* model : {"mlp:hidden=512,layers=9", "cnn", "cnn:norm=batch", "resnet"})
    print(model, "shape=3x32x32,classes=10", 64);
  for (const char* model :
       {"gpt:layers=6,heads=4,width=128,context=128", "llama:layers=6,heads=4,kv-heads=2,width=128,context=128",
        "bert:layers=6,heads=4,width=128,context=128"})
    print(model, "vocabulary=500", 16);
  std::printf("largest error of a dry run: %.4f %%\n", 100 * worst);
}

/// All models at five sizes and two lengths or image sizes.
void print_memory() {
  std::printf("\nPeak of a step, MB: a dry run made before it beside the real one (goal: at most 0.1 %% off)\n");
  std::printf("%-42s %6s %10s %10s %10s %8s %9s %9s\n", "model and data", "batch", "real", "dry run", "error", "ms",
              "formula", "thumb");
  const std::vector<std::int64_t> sizes{1, 7, 32, 100, 300};
  double worst = 0;
  const auto print = [&](const std::string& model, const std::string& data) {
    for (const MemoryRow& row : measure_memory(model, "synthetic:examples=5000," + data, sizes)) {
      const double error = row.dry_bytes / row.real_bytes - 1;
      worst = std::max(worst, std::abs(error));
      std::printf("%-42s %6lld %10.3f %10.3f %8.4f %% %8.1f", (model + " " + data).c_str(),
                  static_cast<long long>(row.batch), row.real_bytes / 1e6, row.dry_bytes / 1e6, 100 * error,
                  row.dry_milliseconds);
      if (row.formula_bytes > 0)
        std::printf(" %7.0f %% %7.0f %%", 100 * (row.formula_bytes / row.real_bytes - 1),
                    100 * (row.rule_of_thumb_bytes / row.real_bytes - 1));
      std::printf("\n");
    }
  };
  for (const char* model : {"mlp", "cnn", "cnn:norm=batch", "resnet", "resnet:norm=batch"}) {
    for (const char* shape : {"shape=1x16x16,classes=10", "shape=3x32x32,classes=10"})
      print(model, shape);
  }
  for (const char* context : {"64", "192"})
    for (const char* model : {"gpt", "bert"})
      print(model + std::string(":layers=2,heads=4,width=64,context=") + context, "vocabulary=100");
  print("vit:layers=2,heads=4,width=64", "shape=3x32x32,classes=10");
  const QTemporaryDir folder;
  print(cnn_as_script(folder.path().toStdString()), "shape=1x16x16,classes=10");
  std::printf("largest error: %.4f %%\n", 100 * worst);
}

void print_generated(const std::filesystem::path& file, std::int64_t runs, std::int64_t points) {
  const BigDatabase made = make_big_database(file, runs, points, 1'000'000);
  std::printf("\n%s: %s runs, %s points, written in %.0f s, %s\n", file.c_str(), format_count(made.runs).c_str(),
              format_count(made.points).c_str(), made.seconds, format_bytes(made.bytes).c_str());
}

void print_big(const std::filesystem::path& file) {
  const BigCost cost = measure_big_database(file);
  std::printf("\nA database of %s runs in the window (%s)\n%-58s %10s %10s\n",
              format_count(static_cast<std::int64_t>(cost.runs)).c_str(),
              format_bytes(std::filesystem::file_size(file)).c_str(), "", "measured", "goal");
  const auto line = [](const std::string& what, const std::string& value, const char* goal) {
    std::printf("%-58s %10s %10s\n", what.c_str(), value.c_str(), goal);
  };
  const auto ms = [](double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.0f ms", value);
    return std::string(text);
  };
  line("opened and the table drawn", ms(cost.table), "300 ms");
  line("a key in the filter, slowest", ms(cost.filter), "50 ms");
  const std::string steps = format_count(static_cast<std::int64_t>(cost.steps));
  line("a run of " + steps + " steps: first points drawn", ms(cost.first), "50 ms");
  line("  all points of all series drawn", ms(cost.drawn), "");
  line("  one series of it chosen in Compare, drawn whole", ms(cost.curve), "50 ms");
  line("  slowest round of the event loop meanwhile", ms(cost.longest), "16 ms");
  line("memory of the process, at most", format_bytes(cost.peak_bytes), "500 MB");
}

void print_event_files(const std::filesystem::path& folder) {
  const char* python = std::getenv("BATCHSCOPE_TEST_PYTHON");
  const EventFileCost cost = measure_event_files(folder, 100, 1'000'000, python != nullptr ? python : "");
  std::printf("\n%zu runs with %s points: all series read %.2f s; as event files imported in %.2f s (read in %.2f s)\n",
              cost.runs, format_count(cost.points).c_str(), cost.open, cost.import, cost.read);
  if (cost.theirs > 0)
    std::printf("TensorBoard loads these event files in %.2f s: %.0f times our opening, %.1f times our import\n",
                cost.theirs, cost.theirs / cost.open, cost.theirs / cost.import);
  else
    std::printf("No comparison with TensorBoard: set BATCHSCOPE_TEST_PYTHON to a Python with tensorboard\n");
}

} // namespace

int main(int count, char** arguments) {
  // plan, series, compare, screen, store, reading, events, training, noise, memory, savers or finder; else all of
  // these. Also, since they take minutes and gigabytes: generate FILE [RUNS [POINTS]] and big FILE
  const std::string only = count > 1 ? arguments[1] : "";
  const auto wanted = [&](const char* part) { return only.empty() || only == part; };
  if (count > 2 && only == "generate") {
    const auto number = [&](int at, std::int64_t otherwise) {
      return count > at ? std::stoll(arguments[at]) : otherwise;
    };
    print_generated(arguments[2], number(3, 10'000), number(4, 100'000'000));
    return 0;
  }
  if (count > 2 && only == "big") {
    print_big(arguments[2]);
    return 0;
  }
  const auto folder = std::filesystem::temp_directory_path() / ("batchscope-bench-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  if (wanted("plan"))
    print_plan();
  if (wanted("series"))
    print_series();
  if (wanted("compare"))
    print_compare();
  if (wanted("screen"))
    print_screen();
  if (wanted("store"))
    print_store(folder);
  if (wanted("reading"))
    print_reading(folder);
  if (wanted("events"))
    print_event_files(folder);
  if (wanted("training"))
    print_training(folder);
  if (wanted("noise"))
    print_noise(folder);
  if (wanted("memory"))
    print_memory();
  if (wanted("savers"))
    print_savers();
  if (wanted("finder"))
    print_finder();
  std::filesystem::remove_all(folder);
}
