#include <memory>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/describe.h"
#include "app/cli/display.h"
#include "app/cli/interrupt.h"
#include "app/cli/run_options.h"
#include "core/base/error.h"
#include "core/job/job.h"
#include "core/run/engine.h"
#include "core/run/session.h"
#include "core/store/run_store.h"

namespace batchscope::cli {

namespace {

struct TrainOptions {
  RunOptions run;
  CLI::Option* file = nullptr;
  CLI::Option* print_spec = nullptr;
};

run::RunSpec spec_of(const TrainOptions& options) {
  run::RunSpec spec;
  if (const auto file = text_of(options.file)) {
    try {
      spec = run::run_spec_from_json(read_spec_file(*file));
      check(spec);
    } catch (const Error& error) {
      // Report an invalid file as such, even if options would correct it.
      const std::string what = error.what();
      throw input_error(what.starts_with(*file) ? what : *file + ": " + what);
    }
  }
  options.run.apply(spec);
  check(spec);
  return spec;
}

int exit_status_of(telemetry::RunStatus status) {
  switch (status) {
  case telemetry::RunStatus::finished:
    return exit_status::done;
  case telemetry::RunStatus::stopped:
    return exit_status::interrupted;
  default:
    return exit_status::job_failed;
  }
}

void print_result(const job::JobResult& job, const Context& context) {
  if (context.json) {
    Json json{{"run", job.id}};
    json.update(summary_json(job.outcome));
    if (!job.start.batch_reason.empty())
      json["batch_reason"] = job.start.batch_reason;
    if (job.search)
      json["search"] = *job.search;
    print_json(json);
    return;
  }
  print(fmt::format("run {}\n", job.id) + summary_text(job.outcome, job.start.batch_reason));
}

int train_and_store(const run::RunSpec& spec, const Context& context) {
  refuse_unusable(context.database());
  const auto control = std::make_shared<run::JobControl>();
  const InterruptGuard guard(*control);
  std::optional<job::JobResult> job;
  {
    Display display(context);
    const auto session = run::open_session(spec);
    std::optional<search::SearchResult> search;
    try {
      search = job::settle_batch(*session, display, *control);
    } catch (const Error&) {
      if (!control->stopping())
        throw;
      display.say("stopped before the first step; nothing was stored");
      return exit_status::interrupted;
    }
    session->start();
    store::RunStore store(context.database());
    job = job::run_and_store(*session, spec, search, store, {}, display, control);
  }
  print_result(*job, context);
  return exit_status_of(job->outcome.status);
}

int run_train(const TrainOptions& options, const Context& context) {
  const run::RunSpec spec = spec_of(options);
  if (options.print_spec->count() > 0) {
    print(run::to_json(spec) + '\n');
    return exit_status::done;
  }
  return train_and_store(spec, context);
}

} // namespace

Verb add_train(CLI::App& program) {
  auto* app = program.add_subcommand("train", "Train one run and store it");
  auto options = std::make_shared<TrainOptions>();
  options->file = add_argument(*app, "SPEC.json", "Run specification; options override it");
  options->print_spec = add_switch(*app, "--print-spec", "Print the run specification as JSON and exit");
  options->run.add_to(*app);
  app->footer(schedule_help());
  return {app, [options](const Context& context) { return run_train(*options, context); }};
}

} // namespace batchscope::cli
