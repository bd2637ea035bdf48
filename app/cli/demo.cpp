#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/describe.h"
#include "app/cli/display.h"
#include "app/cli/interrupt.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/search/drive.h"
#include "core/store/export.h"
#include "core/sweep/recommend.h"
#include "core/sweep/sweep.h"

namespace batchscope::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t demo_budget = 100'000'000;
constexpr std::int64_t demo_epochs = 2;
constexpr std::size_t sizes_in_sweep = 5;

/// What every run of the demonstration has in common.
train::RunSpec demo_spec() {
  train::RunSpec spec;
  spec.model = "cnn";
  spec.data = "demo";
  spec.memory_budget = demo_budget;
  spec.length = {.epochs = demo_epochs, .examples = std::nullopt, .steps = std::nullopt};
  // So that large batches are not judged by a rate that is right for small ones.
  spec.lr_rule = "sqrt";
  spec.lr_reference_batch = 32;
  return spec;
}

/// The largest size that fits and powers of two well below it; the upper ones where there are many.
std::vector<std::int64_t> sizes_up_to(std::int64_t largest) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = 1; size <= largest * 2 / 3; size *= 2)
    sizes.push_back(size);
  sizes.push_back(largest);
  if (sizes.size() > sizes_in_sweep)
    sizes.erase(sizes.begin(), sizes.end() - sizes_in_sweep);
  return sizes;
}

/// Everything that the demonstration has done so far.
struct Progress {
  std::int64_t search_id = 0;
  search::SearchResult search;
  std::int64_t sweep_id = 0;
  sweep::SweepResult sweep;
  std::vector<sweep::JobResult> schedules;
  std::int64_t validation_examples = 0;

  std::vector<std::int64_t> runs() const {
    std::vector<std::int64_t> ids = sweep.runs;
    for (const auto& job : schedules)
      ids.push_back(job.id);
    return ids;
  }
};

class Demo {
public:
  Demo(store::RunStore& store, Display& display, train::RunControl& control)
      : palette_(Palette::for_stderr()), store_(store), display_(display), control_(control) {}

  /// False where it was interrupted.
  bool run(Progress& progress) {
    find(progress);
    if (!control_.stopping() && progress.search.found)
      sweep(progress);
    if (!control_.stopping() && progress.search.found)
      schedules(progress);
    return !control_.stopping();
  }

private:
  void heading(const std::string& text) { display_.say('\n' + palette_.paint(Colour::accent, text)); }

  void find(Progress& progress) {
    heading(fmt::format("Which batch size fits into {}? Two small probes, a prediction, one run that proves it",
                        format_bytes(demo_budget)));
    train::Session session(demo_spec());
    progress.search = search_with(session, "predictive", true);
    if (control_.stopping())
      return;
    progress.search_id = store_.add_search(train::to_json(demo_spec()), search::to_json(progress.search));
    const auto& result = progress.search;
    display_.say(fmt::format("largest {}, safe {}, recommended {}: {}", count_or_dash(result.largest),
                             count_or_dash(result.safe), count_or_dash(result.recommended), result.reason));

    heading("The same answer by bisection, which has to run out of memory to learn");
    const auto bisection = search_with(session, "binary", false);
    if (!control_.stopping())
      display_.say(fmt::format("largest {}: {} runs and {} out-of-memory errors, against {} and {} by prediction",
                               count_or_dash(bisection.largest), bisection.probes.size(), refusals(bisection),
                               result.probes.size(), refusals(result)));
  }

  /// An empty result where it was interrupted.
  search::SearchResult search_with(train::Session& session, const std::string& strategy, bool timings) {
    train::Session::SearchOptions options;
    options.strategy = strategy;
    options.timings = timings;
    options.on_timing = [&](const search::Timing& timing) { display_.timing(timing); };
    options.stop = [&] { return control_.stopping(); };
    display_.begin_search();
    try {
      return session.find(options, [&](const search::Probe& probe) { display_.probe(probe, session.budget_bytes()); });
    } catch (const Error&) {
      if (!control_.stopping())
        throw;
      return {};
    }
  }

  static std::int64_t refusals(const search::SearchResult& result) {
    return std::count_if(result.probes.begin(), result.probes.end(),
                         [](const search::Probe& probe) { return probe.outcome == search::Outcome::out_of_memory; });
  }

  void sweep(Progress& progress) {
    sweep::SweepSpec spec;
    spec.base = demo_spec();
    for (const std::int64_t size : sizes_up_to(*progress.search.largest))
      spec.batches.push_back({train::BatchChoice::Kind::number, size});
    heading(fmt::format("What does each size cost and bring? ({} sizes, two epochs each)", spec.batches.size()));
    progress.sweep_id = store_.add_sweep(sweep::to_json(spec));
    progress.sweep = sweep::run_sweep(sweep::plan_sweep(spec), progress.sweep_id, store_, display_, control_);
  }

  void schedules(Progress& progress) {
    heading("A schedule: one example more every 5 steps");
    train::RunSpec growing = demo_spec();
    growing.name = "every 5 steps, +1";
    growing.batch = {train::BatchChoice::Kind::number, 16};
    growing.schedule = "step:interval=5,increment=1";
    train_one(growing, progress);
    if (control_.stopping())
      return;

    const std::int64_t largest = *progress.search.largest;
    heading("A schedule that asks for more than fits: the same examples go on in smaller pieces");
    train::RunSpec greedy = demo_spec();
    greedy.name = "more than fits";
    greedy.batch = {train::BatchChoice::Kind::number, std::max<std::int64_t>(largest / 4, 1)};
    greedy.schedule = fmt::format("linear:max={}", largest * 2);
    train_one(greedy, progress);
  }

  void train_one(const train::RunSpec& spec, Progress& progress) {
    train::Session session(spec);
    progress.schedules.push_back(
        sweep::run_and_store(session, spec, std::nullopt, store_, std::nullopt, display_, control_));
    progress.validation_examples = progress.schedules.back().start.validation_examples;
  }

  Palette palette_;
  store::RunStore& store_;
  Display& display_;
  train::RunControl& control_;
};

std::vector<store::RunRow> rows_of(const store::RunReader& reader, const std::vector<std::int64_t>& ids) {
  std::vector<store::RunRow> rows;
  for (const std::int64_t id : ids)
    rows.push_back(reader.run(id));
  return rows;
}

std::optional<sweep::Recommendation> recommendation(const store::RunReader& reader, const Progress& progress) {
  std::vector<sweep::SizeResult> sizes;
  for (const auto& row : rows_of(reader, progress.sweep.runs))
    if (row.outcome.status == "finished" && row.outcome.batch && row.outcome.validation_accuracy)
      sizes.push_back({*row.outcome.batch, *row.outcome.validation_accuracy, row.outcome.examples_per_second});
  return sweep::recommend(sizes, progress.validation_examples);
}

std::vector<std::string> write_files(const store::RunReader& reader, const std::vector<std::int64_t>& runs,
                                     const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem)
    throw input_error(fmt::format("-o: {} cannot be made: {}", folder.string(), problem.message()));
  std::vector<std::string> files;
  for (const char* format : {"csv", "json"}) {
    files.push_back((folder / (std::string("runs.") + format)).string());
    store::export_to_file(reader, runs, format, files.back(), true);
  }
  return files;
}

void print_result(const store::RunReader& reader, const Progress& progress, const std::vector<std::string>& files,
                  const Context& context) {
  const auto chosen = recommendation(reader, progress);
  if (context.json) {
    print_json({{"search", progress.search_id},
                {"sweep", progress.sweep_id},
                {"runs", progress.runs()},
                {"largest", progress.search.largest ? Json(*progress.search.largest) : Json(nullptr)},
                {"recommended", chosen ? Json(chosen->batch) : Json(nullptr)},
                {"reason", chosen ? Json(chosen->reason) : Json(nullptr)},
                {"files", files}});
    return;
  }
  print('\n' + runs_table(rows_of(reader, progress.runs()), Palette::for_stdout()) + '\n');
  if (chosen)
    print(Palette::for_stdout().paint(Colour::good, fmt::format("Recommended batch size: {}", chosen->batch)) +
          fmt::format("\nWhy: {}.\n", chosen->reason));
  for (const auto& file : files)
    print(fmt::format("written: {}\n", file));
  print(fmt::format("stored:  {} (batchscope-cli list)\n", context.database().string()));
}

int run_demo(const CLI::Option* output, const Context& context) {
  const fs::path folder = text_of(output).value_or("batchscope-demo");
  refuse_unusable(context.database());
  train::RunControl control;
  const InterruptGuard guard(control);
  Progress progress;
  {
    Display display(context);
    store::RunStore store(context.database());
    if (!Demo(store, display, control).run(progress))
      return exit_status::interrupted;
  }
  if (!progress.search.found)
    throw Error(Error::Kind::failed, "no batch size was found: " + progress.search.reason);
  const store::RunReader reader(context.database());
  print_result(reader, progress, write_files(reader, progress.runs(), folder), context);
  return progress.sweep.finished > 0 ? exit_status::done : exit_status::job_failed;
}

} // namespace

Verb add_demo(CLI::App& program) {
  auto* app = program.add_subcommand("demo", "Find, sweep, survive running out of memory, compare: on real images, in "
                                             "a few minutes");
  auto* output = add_value(*app, "-o,--output", "FOLDER", "Where CSV and JSON go (default batchscope-demo)");
  return {app, [output](const Context& context) { return run_demo(output, context); }};
}

} // namespace batchscope::cli
