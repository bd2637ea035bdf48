#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/display.h"
#include "app/cli/interrupt.h"
#include "app/cli/job_result.h"
#include "app/cli/program_options.h"
#include "app/cli/run_options.h"
#include "core/base/error.h"
#include "core/job/adopt.h"
#include "core/job/job.h"
#include "core/job/run_program.h"
#include "core/program/run/program_source.h"
#include "core/run/spec_fields.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"

namespace batchscope::cli {

namespace {

struct RunVerbOptions {
  RunOptions run;
  ProgramOptions program;
  CLI::Option* file = nullptr;
  CLI::Option* print_spec = nullptr;
  CLI::Option* note = nullptr;
  CLI::Option* adopt = nullptr;
};

run::RunSpec spec_of(const RunVerbOptions& options, const Context& context) {
  run::RunSpec spec;
  if (const auto file = text_of(options.file))
    spec = run_spec_from_file(*file);
  if (!context.command && !spec.program)
    throw input_error("no command is given; accepted: options, then -- and the program with its arguments");
  integer_of(options.run.find("--batch")); // of a program it is a number; others are refused
  options.run.apply(spec);
  options.program.apply(spec, context.command.value_or(spec.program.value_or(run::ProgramSpec()).command), options.run);
  check(spec);
  return spec;
}

/// Keeps the user's note with the run from its start.
class NotedDisplay final : public Display {
public:
  NotedDisplay(const Context& context, store::RunStore& store, std::optional<std::string> note)
      : Display(context), store_(store), note_(std::move(note)) {}

  void started(const job::StartedRun& run) override {
    if (note_)
      store_.set_note(run.id, *note_);
    Display::started(run);
  }

private:
  store::RunStore& store_;
  const std::optional<std::string> note_;
};

/// `stored`: the start as the program has told it.
Json program_json(const run::RunSpec& spec, const program::ProgramRun& source, const run::RunStart& stored) {
  const auto& exit = source.exit();
  const auto about = stored.program.value_or(run::ProgramStart());
  return {{"command", spec.program->command},
          {"exit_code", exit ? json_or_null(exit->code) : Json(nullptr)},
          {"signal", exit ? json_or_null(exit->signal) : Json(nullptr)},
          {"framework", about.framework.empty() ? Json(nullptr) : Json(about.framework)},
          {"level", about.level},
          {"output", about.output}};
}

/// A stop that came once the program had ended by itself was too late.
bool was_interrupted(const job::JobResult& job, const run::JobControl& control) {
  return control.stopping() && job.outcome.status != telemetry::RunStatus::finished;
}

int exit_status_of(const job::JobResult& job, const run::JobControl& control) {
  if (was_interrupted(job, control))
    return exit_status::interrupted;
  const telemetry::RunStatus status = job.outcome.status;
  const bool good = status == telemetry::RunStatus::finished || status == telemetry::RunStatus::stopped;
  return good ? exit_status::done : exit_status::job_failed;
}

int run_and_store(const run::RunSpec& spec, const RunVerbOptions& options, const Context& context) {
  refuse_unusable(context.database());
  const auto control = std::make_shared<run::JobControl>();
  const InterruptGuard guard(*control, true);
  program::Surroundings surroundings = options.program.surroundings();
  surroundings.reads_input = true;
  program::open_program(spec, surroundings); // before there is a database
  job::ProgramJob ended;
  {
    store::RunStore store(context.database());
    NotedDisplay display(context, store, text_of(options.note));
    ended = job::run_program(spec, surroundings, store, display, control);
  }
  const store::RunReader reader(context.database());
  const Json about = program_json(spec, *ended.source, run::stored_start(reader.start_json(ended.job.id)));
  print_run(ended.job, context, {{"program", about}});
  if (!context.json)
    print(fmt::format("output of the program: {}\n", about["output"].get<std::string>()));
  return exit_status_of(ended.job, *control);
}

int adopt(const RunVerbOptions& options, const Context& context) {
  for (const CLI::Option* other : {options.file, options.print_spec, options.note})
    exclude(options.adopt, other);
  options.program.refuse_settings(options.adopt);
  if (const auto given = options.run.given(); context.command || !given.empty())
    throw input_error(fmt::format("--adopt: the run has a program and settings of its own; accepted: no others, but {} "
                                  "was given",
                                  context.command ? "a command" : given.front()));
  const auto control = std::make_shared<run::JobControl>();
  const InterruptGuard guard(*control, true);
  std::optional<job::JobResult> job;
  {
    const job::Adoptable adoptable = job::find_adoptable(context.database(), *integer_of(options.adopt));
    store::RunStore store(context.database());
    Display display(context);
    job = job::adopt_and_store(adoptable, store, display, control);
  }
  print_run(*job, context);
  return exit_status_of(*job, *control);
}

int run_run(const RunVerbOptions& options, const Context& context) {
  if (options.adopt->count() > 0)
    return adopt(options, context);
  const run::RunSpec spec = spec_of(options, context);
  if (options.print_spec->count() > 0) {
    print(run::to_json(spec) + '\n');
    return exit_status::done;
  }
  return run_and_store(spec, options, context);
}

/// Help of options of train, as they apply to a program.
const std::map<std::string, std::string>& helps_for_programs() {
  static const std::map<std::string, std::string> helps{
      {"--name", "Name of the run"},
      {"--seed", "Number for {seed}; with --attach also given to the program, whose generators are set with it when it "
                 "begins to train (default 1, or with --attach the program's own)"},
      {"--batch",
       "First batch size: the number for {batch}, or given to the program's Trainer, loader or DataLoader (default: "
       "the program's own)"},
      {"--accumulate", "Gradient accumulation steps, for {accumulate} or the program's Trainer or loader (default 1)"},
      {"--schedule",
       "How the batch size changes during training; other than constant with --attach auto, or for a program "
       "with batchscope's loader (default constant)"},
      {"--max-batch", "Upper limit on the batch size for schedules (default the number of training examples)"},
      {"--max-seconds", "Stop the program after so many seconds (default no limit)"},
      {"--device", "Device on which the program trains: cpu, or cuda:N (default cpu)"},
      {"--memory-budget",
       "Memory that the program may allocate, such as 4GB: with --attach auto by its training, model "
       "and optimizer included; else by the whole process, the interpreter included (default no "
       "limit)"},
      {"--on-oom", "Of a program that splits its steps: shrink retries the same examples as smaller micro batches, "
                   "fail ends the run; restart starts a program that an error has ended again, as a run of its own "
                   "with a smaller batch (default shrink)"}};
  return helps;
}

/// The options of train that mean nothing for a program that is run.
std::vector<std::string> options_of_engine() {
  std::vector<std::string> names{"--margin"};
  for (const run::SpecField& field : run::spec_fields())
    if (!field.for_programs)
      names.push_back(field.option);
  return names;
}

} // namespace

Verb add_run(CLI::App& program) {
  auto* app = program.add_subcommand("run", "Run a training program of your own, after --, and store it as a run");
  auto options = std::make_shared<RunVerbOptions>();
  options->file = add_argument(*app, "SPEC.json", "Run specification with a program; options override it");
  options->print_spec = add_switch(*app, "--print-spec", "Print the run specification as JSON and exit");
  options->note = add_value(*app, "--note", "TEXT", "Note that is stored with the run");
  options->adopt = add_value(*app, "--adopt", "RUN",
                             "Go on with a run whose BatchScope was killed: take in what its program reported since, "
                             "and follow it until it ends");
  options->run.add_to(*app, options_of_engine(), helps_for_programs());
  options->program.add_to(*app);
  app->footer(
      "batchscope-cli run [options] -- COMMAND ARGUMENTS...\n" + placeholder_help() +
      "Exit status: 0 the run is finished or was told to stop, 1 it failed, 130 after Ctrl-C, which stops it in "
      "order; a\nsecond Ctrl-C kills it.\n" +
      schedule_help());
  return {app, [options](const Context& context) { return run_run(*options, context); }};
}

} // namespace batchscope::cli
