#include <memory>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/display.h"
#include "app/cli/interrupt.h"
#include "app/cli/job_result.h"
#include "app/cli/run_options.h"
#include "core/base/error.h"
#include "core/job/job.h"
#include "core/job/resume.h"
#include "core/run/engine.h"
#include "core/run/session.h"
#include "core/store/run_store.h"
#include "core/telemetry/english.h"

namespace batchscope::cli {

namespace {

struct TrainOptions {
  RunOptions run;
  CLI::Option* file = nullptr;
  CLI::Option* print_spec = nullptr;
  CLI::Option* resume = nullptr;
};

run::RunSpec spec_of(const TrainOptions& options) {
  run::RunSpec spec;
  if (const auto file = text_of(options.file))
    spec = run_spec_from_file(*file);
  options.run.apply(spec);
  check(spec);
  if (spec.program)
    throw input_error("the specification is one of a program; accepted: batchscope-cli run");
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

int train_and_store(const run::RunSpec& spec, const Context& context) {
  refuse_unusable(context.database());
  const auto control = std::make_shared<run::JobControl>();
  const InterruptGuard guard(*control);
  std::optional<job::JobResult> job;
  {
    Display display(context);
    const auto session = run::open_session(spec);
    job::check_can_begin(spec);
    // Before the search, so that what it has run is stored if it is stopped.
    store::RunStore store(context.database());
    std::optional<search::SearchResult> search;
    try {
      search = job::choose_batch(*session, store, display, *control);
    } catch (const Error&) {
      if (!control->stopping())
        throw;
      display.say(display.search()
                      ? fmt::format("stopped before the first step; what the search has tried is stored as "
                                    "search {}",
                                    *display.search())
                      : "stopped before the first step; nothing was stored");
      return exit_status::interrupted;
    }
    session->start();
    job = job::run_and_store(*session, spec, search, store, {}, display, control);
  }
  print_run(*job, context);
  return exit_status_of(job->outcome.status);
}

int resume_and_store(std::int64_t run, const Context& context) {
  const auto control = std::make_shared<run::JobControl>();
  const InterruptGuard guard(*control);
  std::optional<job::JobResult> job;
  {
    job::Resumable resumable = job::find_resumable(context.database(), run);
    refuse_unusable(context.database());
    Display display(context);
    const auto session = job::open_resumed(resumable);
    for (const telemetry::Reason& note : resumable.notes)
      display.say("note: " + telemetry::english(note));
    store::RunStore store(context.database());
    const job::RunOptions options{.sweep = {}, .claimed = {}, .end_early = {}, .resumed = &resumable};
    job = job::run_and_store(*session, resumable.spec, std::nullopt, store, options, display, control);
  }
  print_run(*job, context);
  return exit_status_of(job->outcome.status);
}

/// A resumed run has the settings with which it began.
void refuse_settings(const TrainOptions& options) {
  exclude(options.resume, options.file);
  exclude(options.resume, options.print_spec);
  if (const auto given = options.run.given(); !given.empty())
    throw input_error(fmt::format("--resume: the run has settings of its own; accepted: no other options, but {} was "
                                  "given",
                                  given.front()));
}

int run_train(const TrainOptions& options, const Context& context) {
  if (options.resume->count() > 0) {
    refuse_settings(options);
    return resume_and_store(*integer_of(options.resume), context);
  }
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
  options->resume = add_value(*app, "--resume", "RUN",
                              "Go on with a run that was interrupted, was stopped or failed, from its last checkpoint "
                              "(see --checkpoint-every), exactly as if it had not ended");
  options->run.add_to(*app);
  app->footer(schedule_help());
  return {app, [options](const Context& context) { return run_train(*options, context); }};
}

} // namespace batchscope::cli
