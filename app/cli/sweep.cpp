#include "core/sweep/sweep.h"

#include <memory>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/describe.h"
#include "app/cli/display.h"
#include "app/cli/interrupt.h"
#include "app/cli/run_options.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace batchscope::cli {

namespace {

struct SweepOptions {
  RunOptions run;
  CLI::Option* file = nullptr;
  CLI::Option* batches = nullptr;
  CLI::Option* rates = nullptr;
  CLI::Option* repeats = nullptr;
  CLI::Option* resume = nullptr;
};

sweep::SweepSpec spec_of(const SweepOptions& options) {
  sweep::SweepSpec spec;
  if (const auto file = text_of(options.file)) {
    try {
      spec = sweep::sweep_spec_from_json(read_text_file(*file));
      check(spec);
    } catch (const Error& error) {
      const std::string what = error.what();
      throw input_error(what.starts_with(*file) ? what : *file + ": " + what);
    }
  }
  options.run.apply(spec.base);
  if (options.batches->count() > 0)
    spec.batches.clear();
  for (const auto& text : list_of(options.batches))
    spec.batches.push_back(run::parse_batch(text, "--batch"));
  if (options.rates->count() > 0)
    spec.learning_rates.clear();
  for (const auto& text : list_of(options.rates))
    spec.learning_rates.push_back(parse_number(text, "--lr"));
  spec.repeats = integer_of(options.repeats).value_or(spec.repeats);
  check(spec);
  return spec;
}

/// What was asked for besides --resume, which takes everything from the database.
void refuse_beside_resume(const SweepOptions& options) {
  for (const CLI::Option* option : {options.file, options.batches, options.rates, options.repeats})
    exclude(options.resume, option);
  const auto given = options.run.given();
  if (!given.empty())
    throw input_error(fmt::format("--resume and {} are both given; accepted: one of them", given.front()));
}

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

int run_sweep_verb(const SweepOptions& options, const Context& context) {
  const auto resumed = integer_of(options.resume);
  sweep::SweepPlan plan;
  if (resumed) {
    refuse_beside_resume(options);
    plan = sweep::plan_rest(store::RunReader(context.database()), *resumed);
  } else {
    const sweep::SweepSpec spec = spec_of(options);
    refuse_unusable(context.database());
    plan = sweep::plan_sweep(spec);
  }
  const auto control = std::make_shared<run::JobControl>();
  const InterruptGuard guard(*control);
  sweep::SweepResult result;
  std::int64_t id = 0;
  {
    Display display(context);
    store::RunStore store(context.database());
    id = resumed ? *resumed : store.add_sweep(sweep::to_json(plan.spec));
    result = sweep::run_sweep(std::move(plan), id, store, display, control);
  }
  print_result(id, result, context);
  if (result.stopped)
    return exit_status::interrupted;
  return any_finished(result, context) ? exit_status::done : exit_status::job_failed;
}

} // namespace

Verb add_sweep(CLI::App& program) {
  auto* app = program.add_subcommand("sweep", "Train every combination of batch sizes and learning rates");
  auto options = std::make_shared<SweepOptions>();
  options->file = add_argument(*app, "SPEC.json", "Sweep specification; options override it");
  options->batches = add_value(*app, "--batch", "N,N,...", "Batch sizes, as for train");
  options->rates = add_value(*app, "--lr", "X,X,...", "Learning rates");
  options->repeats = add_value(*app, "--repeats", "N", "Runs of each combination, with the seeds seed, seed + 1, ...");
  options->resume = add_value(*app, "--resume", "ID", "Run the missing runs of a stored sweep");
  options->run.add_to(*app, {"--batch", "--lr"});
  app->footer(schedule_help());
  return {app, [options](const Context& context) { return run_sweep_verb(*options, context); }};
}

} // namespace batchscope::cli
