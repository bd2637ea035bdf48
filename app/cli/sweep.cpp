#include "core/sweep/sweep.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/describe.h"
#include "app/cli/display.h"
#include "app/cli/interrupt.h"
#include "app/cli/run_options.h"
#include "app/cli/sweep_workers.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/run/engine.h"
#include "core/sweep/outlook.h"

namespace batchscope::cli {

namespace {

struct SweepOptions {
  RunOptions run;
  CLI::Option* file = nullptr;
  CLI::Option* batches = nullptr;
  CLI::Option* rates = nullptr;
  CLI::Option* vary = nullptr;
  CLI::Option* only = nullptr;
  CLI::Option* random = nullptr;
  CLI::Option* random_seed = nullptr;
  CLI::Option* repeats = nullptr;
  CLI::Option* stop_weak = nullptr;
  CLI::Option* workers = nullptr;
  CLI::Option* plan = nullptr;
  CLI::Option* resume = nullptr;
  CLI::Option* join = nullptr;

  /// Those that say what to run.
  std::vector<const CLI::Option*> of_spec() const {
    return {file, batches, rates, vary, only, random, random_seed, repeats, stop_weak};
  }
};

sweep::SweepSpec spec_of(const SweepOptions& options) {
  sweep::SweepSpec spec;
  if (const auto file = text_of(options.file)) {
    try {
      spec = sweep::sweep_spec_from_json(read_spec_file(*file));
      check(spec);
    } catch (const Error& error) {
      const std::string what = error.what();
      throw input_error(what.starts_with(*file) ? what : *file + ": " + what);
    }
  }
  options.run.apply(spec.base);
  if (const auto values = text_of(options.batches))
    set_variation(spec, sweep::parse_values("batch", *values));
  if (const auto values = text_of(options.rates))
    set_variation(spec, sweep::parse_values("lr", *values));
  for (const std::string& text : options.vary->results())
    set_variation(spec, sweep::parse_variation(text));
  spec.only = text_of(options.only).value_or(spec.only);
  if (const auto random = integer_of(options.random))
    spec.random = random;
  if (const auto seed = integer_of(options.random_seed, 0))
    spec.random_seed = static_cast<std::uint64_t>(*seed);
  spec.repeats = integer_of(options.repeats).value_or(spec.repeats);
  if (const auto weak = text_of(options.stop_weak)) {
    if (*weak != "median" && *weak != "never")
      throw input_error(fmt::format("--stop-weak: {} is not accepted; accepted: median, never", in_quotes(*weak)));
    spec.stop_weak = *weak == "median" ? sweep::StopWeak::median : sweep::StopWeak::never;
  }
  check(spec);
  return spec;
}

/// What was asked for besides --resume or --join, which take everything from the database.
void refuse_beside(const CLI::Option* stored, const SweepOptions& options) {
  for (const CLI::Option* option : options.of_spec())
    exclude(stored, option);
  exclude(stored, options.plan);
  const auto given = options.run.given();
  if (!given.empty())
    throw input_error(
        fmt::format("{} and {} are both given; accepted: one of them", stored->get_name(), given.front()));
}

// ---- what will be ----

/// Runs of the database from which times are estimated; none if there is no database yet.
sweep::Throughputs earlier_runs(const Context& context) {
  if (!std::filesystem::exists(context.database()))
    return {};
  return sweep::Throughputs(store::RunReader(context.database()).list("status = finished"));
}

/// The sum of the times; nothing if one is unknown.
std::optional<double> total_seconds(const std::vector<sweep::RunOutlook>& outlooks) {
  double sum = 0;
  for (const sweep::RunOutlook& outlook : outlooks) {
    if (!outlook.seconds)
      return std::nullopt;
    sum += *outlook.seconds;
  }
  return sum;
}

/// `12 runs, peak 5.1 MB to 99.6 MB, 2 will not fit, about 3:20`.
std::string outlook_line(const std::vector<sweep::RunOutlook>& outlooks) {
  std::optional<std::uint64_t> least;
  std::optional<std::uint64_t> most;
  std::int64_t too_large = 0;
  std::int64_t refused = 0;
  for (const sweep::RunOutlook& outlook : outlooks) {
    if (outlook.peak_bytes) {
      least = std::min(least.value_or(*outlook.peak_bytes), *outlook.peak_bytes);
      most = std::max(most.value_or(0), *outlook.peak_bytes);
    }
    too_large += outlook.fits ? 0 : 1;
    refused += outlook.problem.empty() ? 0 : 1;
  }
  std::string line =
      format_count(static_cast<std::int64_t>(outlooks.size())) + (outlooks.size() == 1 ? " run" : " runs");
  if (least)
    line += ", predicted peak " + format_bytes(*least) + (least == most ? "" : " to " + format_bytes(*most));
  if (too_large > 0)
    line += fmt::format(", {} will not fit", too_large);
  if (refused > 0)
    line += fmt::format(", {} cannot run", refused);
  const auto seconds = total_seconds(outlooks);
  return line + (seconds ? ", about " + format_duration(*seconds) : ", time unknown (no similar run is stored)");
}

std::vector<sweep::RunOutlook> outlooks_of(const sweep::SweepPlan& plan, const Context& context) {
  std::vector<run::RunSpec> specs;
  for (const sweep::PlannedRun& planned : plan.runs)
    specs.push_back(planned.spec);
  return sweep::foresee(specs, *plan.pool, earlier_runs(context));
}

int print_plan(const sweep::SweepPlan& plan, const Context& context) {
  const auto outlooks = outlooks_of(plan, context);
  if (context.json) {
    Json runs = Json::array();
    for (std::size_t i = 0; i < outlooks.size(); ++i) {
      const sweep::RunOutlook& outlook = outlooks[i];
      runs.push_back({{"name", plan.runs[i].spec.name},
                      {"batch", outlook.batch ? Json(*outlook.batch) : Json(nullptr)},
                      {"predicted_bytes", outlook.peak_bytes ? Json(*outlook.peak_bytes) : Json(nullptr)},
                      {"fits", outlook.fits},
                      {"seconds", outlook.seconds ? json_number(*outlook.seconds) : Json(nullptr)},
                      {"problem", outlook.problem.empty() ? Json(nullptr) : Json(outlook.problem)}});
    }
    const auto seconds = total_seconds(outlooks);
    print_json({{"runs", runs}, {"seconds", seconds ? json_number(*seconds) : Json(nullptr)}});
    return exit_status::done;
  }
  Table table({{"run", Table::Align::left}, {"batch"}, {"peak"}, {"time"}, {"", Table::Align::left}});
  for (std::size_t i = 0; i < outlooks.size(); ++i) {
    const sweep::RunOutlook& outlook = outlooks[i];
    table.add({plan.runs[i].spec.name, outlook.batch ? format_count(*outlook.batch) : "-",
               outlook.peak_bytes ? format_bytes(*outlook.peak_bytes) : "-",
               outlook.seconds ? format_duration(*outlook.seconds) : "-",
               !outlook.problem.empty() ? outlook.problem
               : outlook.fits           ? ""
                                        : "will not fit"});
  }
  print(table.text(Palette::for_stdout()));
  print('\n' + outlook_line(outlooks) + '\n');
  return exit_status::done;
}

// ---- running it ----

void print_result(std::int64_t id, const sweep::SweepResult& result, const Context& context) {
  if (context.json) {
    print_json({{"sweep", id}, {"runs", result.runs}});
    return;
  }
  const auto rows = store::RunReader(context.database()).present(result.runs);
  print(runs_table(rows, Palette::for_stdout()));
  print(fmt::format("\nsweep {}: {} of {} runs finished\n", id,
                    std::count_if(rows.begin(), rows.end(),
                                  [](const auto& row) { return row.outcome.status == telemetry::RunStatus::finished; }),
                    rows.size()));
}

/// Whether any run of the sweep is finished, those of earlier times included.
bool any_finished(const sweep::SweepResult& result, const Context& context) {
  if (result.finished > 0)
    return true;
  const auto rows = store::RunReader(context.database()).present(result.runs);
  return std::any_of(rows.begin(), rows.end(),
                     [](const auto& row) { return row.outcome.status == telemetry::RunStatus::finished; });
}

/// So that the runs of all workers stay within one budget, also if the user gave none.
void fix_budget(sweep::SweepSpec& spec, const std::shared_ptr<data::DataPool>& pool) {
  run::RunSpec first = combinations(spec).front();
  first.batch = {};
  if (!first.memory_budget && first.device == "cpu")
    spec.base.memory_budget = run::open_session(first, pool)->budget_bytes();
}

struct Task {
  sweep::SweepPlan plan;
  std::optional<std::int64_t> stored; ///< number of a sweep that is there
  std::int64_t workers = 1;
  sweep::WorkOptions work;
};

Task task_of(const SweepOptions& options, const Context& context) {
  Task task;
  task.workers = integer_of(options.workers, 1, 1000).value_or(1);
  const auto joined = integer_of(options.join);
  task.stored = joined ? joined : integer_of(options.resume);
  task.work = {.shared = joined || task.workers > 1, .add_missing = !joined};
  if (task.workers > 1)
    share_cores(task.workers);
  if (task.stored) {
    exclude(options.resume, options.join);
    refuse_beside(joined ? options.join : options.resume, options);
    task.plan = sweep::plan_rest(store::RunReader(context.database()), *task.stored);
  } else {
    sweep::SweepSpec spec = spec_of(options);
    refuse_unusable(context.database());
    const auto pool = std::make_shared<data::DataPool>();
    if (task.work.shared)
      fix_budget(spec, pool);
    task.plan = sweep::plan_sweep(spec, pool);
  }
  return task;
}

int run_sweep_verb(const SweepOptions& options, const Context& context) {
  Task task = task_of(options, context);
  if (options.plan->count() > 0)
    return print_plan(task.plan, context);
  const auto control = std::make_shared<run::JobControl>();
  const InterruptGuard guard(*control);
  sweep::SweepResult result;
  std::int64_t id = 0;
  {
    Display display(context);
    if (!task.stored)
      display.say(outlook_line(outlooks_of(task.plan, context)));
    store::RunStore store(context.database());
    id = task.stored ? *task.stored : store.add_sweep(sweep::to_json(task.plan.spec));
    if (std::exchange(task.work.add_missing, false)) // before further workers look for runs
      sweep::enqueue(task.plan, id, store);
    SweepWorkers workers(context.database(), id, task.workers - 1);
    result = sweep::run_sweep(std::move(task.plan), id, store, display, control, task.work);
    if (result.stopped)
      workers.stop();
  }
  print_result(id, result, context);
  if (result.stopped)
    return exit_status::interrupted;
  return any_finished(result, context) ? exit_status::done : exit_status::job_failed;
}

} // namespace

Verb add_sweep(CLI::App& program) {
  auto* app = program.add_subcommand("sweep", "Train every combination of settings, such as batch sizes");
  auto options = std::make_shared<SweepOptions>();
  options->file = add_argument(*app, "SPEC.json", "Sweep specification; options override it");
  options->batches = add_value(*app, "--batch", "N,N,...",
                               "Batch sizes, as for train; ranges such as \"16..256 x2\"; shares of the largest size "
                               "that fits such as 25%,50%,100%");
  options->rates = add_value(*app, "--lr", "X,X,...", "Learning rates, ranges included");
  options->vary = add_repeatable(*app, "--vary", "FIELD=VALUES",
                                 "Values of any other setting, such as dropout=0,0.1 or \"steps=100..400 +100\"; "
                                 "separated by semicolons for model, data and schedule. Repeatable");
  options->only =
      add_value(*app, "--only", "CONDITION", "Leave out combinations that do not meet it: 'batch >= 64 or lr < 0.01'");
  options->random = add_value(*app, "--random", "N",
                              "Only N combinations, drawn by chance; a setting may then have a range without steps: "
                              "\"lr=0.0001..0.1 log\", \"dropout=0..0.5 uniform\"");
  options->random_seed = add_value(*app, "--random-seed", "N", "Seed of that choice (default 1)");
  options->repeats = add_value(*app, "--repeats", "N", "Runs of each combination, with the seeds seed, seed + 1, ...");
  options->stop_weak = add_value(*app, "--stop-weak", "RULE",
                                 "median: end a run early whose training loss is above the median of the finished "
                                 "runs at equal progress, once there are four; never (default)");
  options->workers = add_value(*app, "--workers", "N",
                               "Processes that train at the same time, within one memory budget (default 1). Times "
                               "are comparable only with 1");
  options->plan =
      add_switch(*app, "--plan", "Only show what would be run: batch size, predicted peak and time of each");
  options->resume = add_value(*app, "--resume", "ID", "Run the missing runs of a stored sweep");
  options->join = add_value(*app, "--join", "ID", "Work at a sweep that another process began");
  options->run.add_to(*app, {"--batch", "--lr"});
  app->footer(schedule_help());
  return {app, [options](const Context& context) { return run_sweep_verb(*options, context); }};
}

} // namespace batchscope::cli
