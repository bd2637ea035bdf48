#include "core/sweep/sweep.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/describe.h"
#include "app/cli/display.h"
#include "app/cli/interrupt.h"
#include "app/cli/program_options.h"
#include "app/cli/run_options.h"
#include "app/cli/sweep_cards.h"
#include "app/cli/sweep_plan.h"
#include "app/cli/sweep_waiting.h"
#include "app/cli/sweep_workers.h"
#include "core/base/device_name.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/run/engine.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"

namespace batchscope::cli {

namespace {

struct SweepOptions {
  RunOptions run;
  ProgramOptions program;
  CLI::Option* file = nullptr;
  CLI::Option* batches = nullptr;
  CLI::Option* rates = nullptr;
  CLI::Option* vary = nullptr;
  CLI::Option* only = nullptr;
  CLI::Option* random = nullptr;
  CLI::Option* random_seed = nullptr;
  CLI::Option* repeats = nullptr;
  CLI::Option* stop_weak = nullptr;
  CLI::Option* goal = nullptr;
  CLI::Option* workers = nullptr;
  CLI::Option* plan = nullptr;
  CLI::Option* resume = nullptr;
  CLI::Option* join = nullptr;
  CLI::Option* skip = nullptr;
  CLI::Option* first = nullptr;

  /// Those that say what to run.
  std::vector<const CLI::Option*> of_spec() const {
    return {file, batches, rates, vary, only, random, random_seed, repeats, stop_weak, goal};
  }
  /// Those of them that can add to a sweep.
  bool can_add(const CLI::Option* option) const {
    return option == batches || option == rates || option == vary || option == repeats || option == random;
  }
};

std::vector<sweep::Variation> variations_of(const SweepOptions& options) {
  std::vector<sweep::Variation> variations;
  if (const auto values = text_of(options.batches))
    variations.push_back(sweep::parse_values("batch", *values));
  if (const auto values = text_of(options.rates))
    variations.push_back(sweep::parse_values("lr", *values));
  for (const std::string& text : options.vary->results())
    variations.push_back(sweep::parse_variation(text));
  return variations;
}

/// The GPUs of the workers: several devices, or, of a stored sweep, one that is this process's; else nothing.
std::optional<std::string> cards_of(const SweepOptions& options) {
  const auto devices = text_of(options.run.find("--device"));
  const bool stored = options.resume->count() > 0 || options.join->count() > 0;
  return devices && (stored || devices->find(',') != std::string::npos) ? devices : std::nullopt;
}

sweep::SweepSpec spec_of(const SweepOptions& options, const Context& context) {
  sweep::SweepSpec spec;
  if (const auto file = text_of(options.file))
    spec = sweep_spec_from_file(*file);
  options.run.apply(spec.base);
  if (cards_of(options))
    spec.base.device = "cuda:0"; // the only one that each worker sees
  if (context.command)
    options.program.apply(spec.base, *context.command, options.run);
  else if (!spec.base.program)
    options.program.refuse_given();
  for (sweep::Variation& variation : variations_of(options))
    set_variation(spec, std::move(variation));
  for (sweep::Variation& variation : options.program.variations())
    if (variation.values.size() > 1)
      set_variation(spec, std::move(variation));
  spec.only = text_of(options.only).value_or(spec.only);
  if (const auto random = integer_of(options.random))
    spec.random = random;
  if (const auto seed = integer_of(options.random_seed, 0))
    spec.random_seed = static_cast<std::uint64_t>(*seed);
  spec.repeats = integer_of(options.repeats).value_or(spec.repeats);
  spec.goal = text_of(options.goal).value_or(spec.goal);
  if (const auto weak = text_of(options.stop_weak)) {
    if (*weak != "median" && *weak != "never")
      throw input_error(fmt::format("--stop-weak: {} is not accepted; accepted: median, never", in_quotes(*weak)));
    spec.stop_weak = *weak == "median" ? sweep::StopWeak::median : sweep::StopWeak::never;
  }
  check(spec);
  return spec;
}

/// Refuses other options beside `stored`, which concerns a stored sweep; --resume can add to it.
void refuse_beside(const CLI::Option* stored, const SweepOptions& options) {
  for (const CLI::Option* option : options.of_spec())
    if (stored != options.resume || !options.can_add(option))
      exclude(stored, option);
  exclude(stored, options.plan);
  options.program.refuse_settings(stored);
  auto given = options.run.given();
  if (stored == options.resume || stored == options.join)
    std::erase(given, "--device"); // of the workers
  if (!given.empty())
    throw input_error(
        fmt::format("{} and {} are both given; accepted: one of them", stored->get_name(), given.front()));
}

/// `planned`: runs of the whole sweep, as far as they were known when it began.
void print_result(std::int64_t id, const sweep::SweepResult& result, std::size_t planned, const Context& context) {
  if (context.json) {
    print_json({{"sweep", id}, {"runs", result.runs}});
    return;
  }
  const store::RunReader reader(context.database());
  const auto rows = reader.present(result.runs);
  print(runs_table(rows, Palette::for_stdout()));
  const auto finished = std::count_if(
      rows.begin(), rows.end(), [](const auto& row) { return row.outcome.status == telemetry::RunStatus::finished; });
  std::size_t all = rows.size() + reader.waiting_runs(id).size(); // those that other programs have added, too
  if (result.stopped)                                             // what waited was withdrawn
    all = std::max(all, planned);
  print(fmt::format("\nsweep {}: {} of {} runs finished\n", id, finished, all));
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
  if (first.program)
    return; // each of its runs has a budget of its own
  if (!first.memory_budget && first.device == "cpu")
    spec.base.memory_budget = run::open_session(first, pool)->budget_bytes();
}

struct Task {
  sweep::SweepPlan plan;
  std::optional<std::int64_t> stored; ///< number of a sweep that is there
  bool extended = false;              ///< whether it gets further combinations
  std::int64_t workers = 1;
  std::vector<std::string> cards; ///< of the workers, see cards_of_workers(); empty: they share what there is
  sweep::WorkOptions work;
};

/// Takes the first card for this process, before anything looks for GPUs.
void take_cards(const SweepOptions& options, const std::string& devices, Task& task) {
  task.cards = cards_of_workers(devices);
  const auto count = static_cast<std::int64_t>(task.cards.size());
  if (options.workers->count() > 0 && task.workers != count)
    throw input_error(
        fmt::format("--workers: {} is not accepted with {} GPUs in --device; accepted: {}, a GPU for each",
                    task.workers, count, count));
  task.workers = count;
  task.work.own_card = true;
  ::setenv(visible_devices, task.cards.front().c_str(), 1);
}

Task task_of(const SweepOptions& options, const Context& context) {
  Task task;
  task.workers = integer_of(options.workers, 1, 1000).value_or(1);
  const auto joined = integer_of(options.join);
  task.stored = joined ? joined : integer_of(options.resume);
  // Another program may still work at a sweep that is resumed.
  task.work = {.shared = task.stored || task.workers > 1,
               .add_missing = !joined,
               .surroundings = options.program.surroundings()};
  if (const auto devices = cards_of(options)) {
    take_cards(options, *devices, task);
    task.work.shared = task.work.shared || task.workers > 1;
  }
  if (task.workers > 1) // they start programs, too
    for (const auto& [name, value] : task.work.surroundings.environment)
      ::setenv(name.c_str(), value.c_str(), 1);
  if (task.workers > 1)
    share_cores(task.workers);
  if (task.stored) {
    exclude(options.resume, options.join);
    refuse_beside(joined ? options.join : options.resume, options);
    const sweep::Extension extension{
        .values = variations_of(options), .repeats = integer_of(options.repeats), .random = integer_of(options.random)};
    task.extended = !extension.empty();
    task.plan = sweep::plan_rest(store::RunReader(context.database()), *task.stored, extension);
    if (!task.cards.empty() && !task.plan.spec.base.program && task.plan.spec.base.device != "cuda:0")
      throw input_error(
          fmt::format("--device: the runs of that sweep are on {}; accepted: without it", task.plan.spec.base.device),
          "device");
  } else {
    sweep::SweepSpec spec = spec_of(options, context);
    refuse_unusable(context.database());
    const auto pool = std::make_shared<data::DataPool>();
    if (task.work.shared)
      fix_budget(spec, pool);
    task.plan = sweep::plan_sweep(spec, pool);
  }
  return task;
}

int edit_waiting(const CLI::Option* edit, const SweepOptions& options, const Context& context) {
  refuse_beside(edit, options);
  for (const CLI::Option* other : {options.resume, options.join, options.workers})
    exclude(edit, other);
  return edit == options.skip ? skip_waiting(integers_of(edit), context) : put_first(integers_of(edit), context);
}

int run_sweep_verb(const SweepOptions& options, const Context& context) {
  exclude(options.skip, options.first);
  if (context.command && (options.resume->count() > 0 || options.join->count() > 0))
    throw input_error("a stored sweep has its command; accepted: --resume or --join without --");
  for (const CLI::Option* edit : {options.skip, options.first})
    if (edit->count() > 0)
      return edit_waiting(edit, options, context);
  Task task = task_of(options, context);
  if (options.plan->count() > 0)
    return print_plan(task.plan, context);
  const auto control = std::make_shared<run::JobControl>();
  const InterruptGuard guard(*control, task.plan.spec.base.program.has_value());
  const std::size_t planned = task.plan.runs.size();
  sweep::SweepResult result;
  std::int64_t id = 0;
  {
    Display display(context);
    const std::string prediction = task.stored ? std::string() : prediction_line(task.plan, context);
    store::RunStore store(context.database()); // may refuse its file
    if (!prediction.empty())
      display.say(prediction);
    id = task.stored ? *task.stored : store.add_sweep(sweep::to_json(task.plan.spec));
    if (task.extended)
      store.set_sweep(id, sweep::to_json(task.plan.spec));
    if (std::exchange(task.work.add_missing, false)) // before further workers look for runs
      sweep::enqueue(task.plan, id, store);
    SweepWorkers workers(context.database(), id, task.workers - 1, task.cards);
    const sweep::SweepPlan plan = task.plan;
    result = sweep::run_sweep(std::move(task.plan), id, store, display, control, task.work);
    workers.wait(*control);
    result.stopped = control->stopping();
    if (!result.left.empty()) { // the other workers have made its runs, or have none either
      result.runs = sweep::begun_runs(plan, id, store);
      const bool alone = task.workers == 1; // then other programs make the runs, if any do
      if (alone || (!result.stopped && !store::RunReader(context.database()).waiting_runs(id).empty()))
        throw Error(Error::Kind::failed, result.left);
      display.say(result.left);
    }
  }
  print_result(id, result, planned, context);
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
                                 "separated by semicolons for model, data, augment, schedule and shares. Repeatable");
  options->only =
      add_value(*app, "--only", "CONDITION", "Leave out combinations that do not meet it: 'batch >= 64 or lr < 0.01'");
  options->random = add_value(*app, "--random", "N",
                              "Only N combinations, drawn at random; a setting may then have a range without steps: "
                              "\"lr=0.0001..0.1 log\", \"dropout=0..0.5 uniform\"");
  options->random_seed = add_value(*app, "--random-seed", "N", "Seed of that choice (default 1)");
  options->repeats = add_value(*app, "--repeats", "N", "Runs of each combination, with the seeds seed, seed + 1, ...");
  options->stop_weak = add_value(*app, "--stop-weak", "RULE",
                                 "median: end a run early (median stopping rule) whose training loss is, from 40 % of "
                                 "the run on, above the median of the finished "
                                 "runs at equal progress, once there are four; never (default)");
  options->goal = add_value(*app, "--goal", "GOAL",
                            "What `compare` and the window answer about the sweep: accuracy (default), throughput, "
                            "target:97%, time:2min");
  options->workers = add_value(*app, "--workers", "N",
                               "Processes that train at the same time, within one memory budget (default 1; with "
                               "several GPUs in --device one for each). Times are comparable only with 1");
  options->plan =
      add_switch(*app, "--plan", "Only show what would be run: batch size, predicted peak and time of each");
  options->resume =
      add_value(*app, "--resume", "ID",
                "Run the missing runs of a stored sweep; with --batch, --lr, --vary, --repeats or --random, first add "
                "the combinations that these give");
  options->join = add_value(*app, "--join", "ID", "Help with a sweep that another process started");
  options->skip = add_list(*app, "--skip", "RUN", "Leave out these runs of a sweep, which wait in the database");
  options->first = add_list(*app, "--first", "RUN", "Make these waiting runs of a sweep next, in this order");
  options->run.add_to(
      *app, {"--batch", "--lr"},
      {{"--device", "cpu or cuda:N; several as in cuda:0,cuda:1 for a worker each, which sees no other"}});
  options->program.add_to(*app, true);
  app->footer(schedule_help() +
              "With -- COMMAND, the runs are those of a training program of your own; its command has {batch} if\n"
              "--batch has several. " +
              placeholder_help());
  return {app, [options](const Context& context) { return run_sweep_verb(*options, context); }};
}

} // namespace batchscope::cli
