#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/output.h"
#include "app/cli/run_options.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/program/process/command.h"
#include "core/program/run/left_run.h"
#include "core/run/run_plan.h"
#include "core/run/run_spec.h"
#include "core/run/run_start.h"
#include "core/schedule/batch_schedule.h"
#include "core/schedule/edited.h"
#include "core/schedule/shares.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "core/telemetry/english.h"

namespace batchscope::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto patience = 5s;
/// With a run that has taken an edit: most steps are shorter, and what was stored is there after a quarter of a second.
constexpr auto answer_patience = 3s;
constexpr auto poll_interval = 50ms;

struct SteerOptions {
  CLI::Option* run = nullptr;
  CLI::Option* command = nullptr;
  CLI::Option* text = nullptr;
  CLI::Option* batch = nullptr;
  CLI::Option* sweep = nullptr;
  CLI::Option* save = nullptr;
};

struct CommandName {
  const char* name;
  const char* verb;   ///< of the command
  const char* effect; ///< said when it was taken
};

constexpr std::array commands = {
    CommandName{"pause", "pause", "pauses at its next step boundary"},
    CommandName{"continue", "continue", "continues"},
    CommandName{"step", "step", "makes one step, if paused"},
    CommandName{"stop", "stop", "stops at its next step boundary"},
    CommandName{"stop", "stop-job", "stops at its next step boundary, together with its sweep"},
    CommandName{"budget", "budget", "changes its memory budget at its next step boundary"},
    CommandName{"shares", "shares", "changes the shares of its data streams at its next step boundary"},
    CommandName{"schedule", "edit", "changes its schedule at its next step boundary"}};

const CommandName& command_of(const SteerOptions& options) {
  constexpr const char* accepted = "pause, continue, step, stop, schedule, budget, shares";
  require(options.command, accepted);
  const std::string name = *text_of(options.command);
  const auto found =
      std::find_if(commands.begin(), commands.end(), [&](const CommandName& command) { return command.name == name; });
  for (const CLI::Option* option : {options.sweep, options.save})
    if (option->count() > 0 && name != "stop")
      throw input_error(fmt::format("{}: not accepted with {}; use it with stop", option->get_name(), name));
  exclude(options.sweep, options.save);
  if (found == commands.end())
    throw input_error(fmt::format("unknown command {}; accepted: {}", in_quotes(name), accepted));
  if (name == "schedule")
    require(options.text, "a schedule such as constant or step:interval=5,increment=1");
  else if (name == "budget")
    require(options.text, "a size such as 400MB");
  else if (name == "shares")
    require(options.text, "shares such as a=0.7,b=0.3");
  else if (options.text->count() > 0)
    throw input_error(
        fmt::format("TEXT: {} is not accepted; {} takes no text", in_quotes(*text_of(options.text)), name));
  if (name != "schedule" && options.batch->count() > 0)
    throw input_error(fmt::format("--batch: not accepted with {}; use it with schedule", name));
  return options.sweep->count() > 0 ? *std::next(found) : *found;
}

double last_of(const store::RunReader& reader, std::int64_t run, const std::string& series, double otherwise) {
  for (const auto& summary : reader.summaries(run))
    if (summary.name == series)
      return summary.last;
  return otherwise;
}

/// Returns the current position of the run, as last stored.
schedule::ScheduleOrigin place_of(const store::RunReader& reader, const store::RunRow& run) {
  const auto spec = run::stored_spec(reader.spec_json(run.id));
  if (!spec)
    throw input_error(fmt::format("the settings of run {} cannot be read (made by another program or a newer version); "
                                  "its schedule cannot be changed",
                                  run.id));
  const auto start = run::run_start_from_json(reader.start_json(run.id));
  schedule::ScheduleOrigin origin;
  const data::SamplerOptions sampler = run::sampler_options(*spec, run::example_counts(start));
  const std::int64_t largest = data::largest_batch(sampler);
  origin.max_batch = std::min(largest, spec->max_batch.value_or(largest));
  origin.batch = static_cast<std::int64_t>(last_of(reader, run.id, "batch", static_cast<double>(start.batch)));
  auto& state = origin.state;
  state.step = run.outcome.steps;
  state.batch = origin.batch;
  state.epoch_index = static_cast<std::int64_t>(last_of(reader, run.id, "epoch_index", 0));
  state.examples_seen = run.outcome.examples_seen;
  state.examples = data::examples_in_epoch(sampler);
  state.epoch = run.outcome.epoch;
  state.coverage = run.outcome.train_coverage;
  state.epochs_passed = static_cast<double>(state.epoch_index) + state.coverage;
  state.progress = schedule::fraction_done(run::countable_length(*spec, start.batch), state.step, state.examples_seen,
                                           state.epochs_passed)
                       .value_or(0);
  state.max_batch = origin.max_batch;
  return origin;
}

/// Throws for a change that a program of one's own cannot follow, as far as is known of it.
void check_can_follow(const store::RunReader& reader, const store::RunRow& run, const CommandName& asked) {
  const auto start = run::stored_start(reader.start_json(run.id));
  if (start.program && start.program->level < 2)
    throw Error(Error::Kind::failed, fmt::format("run {}: {} not changed: {}", run.id, asked.name,
                                                 telemetry::english(program::why_not_steered(start.program->level))));
}

/// A program may train on after its BatchScope was killed.
Error not_running(const Context& context, const store::RunRow& run) {
  const std::string state = fmt::format("run {} is {}", run.id, telemetry::to_string(run.outcome.status));
  if (run.outcome.status == telemetry::RunStatus::interrupted && program::program_lives(context.database(), run.uid))
    return input_error(
        fmt::format("{}, but its program still trains; `run --adopt {}` goes on with it, and then it can "
                    "be steered",
                    state, run.id));
  return input_error(fmt::format("{}; only running runs can be steered", state));
}

/// Returns the edit as JSON; throws if it is invalid at the stored position. The run checks it again.
std::string edit_json(const SteerOptions& options, const store::RunReader& reader, const store::RunRow& run) {
  schedule::ScheduleOrigin origin = place_of(reader, run);
  const std::string text = *text_of(options.text);
  const auto batch = integer_of(options.batch, 1, origin.max_batch);
  origin.batch = batch.value_or(origin.batch);
  if (schedule::is_edited(text))
    origin.batch = 1; // the base may resume from an earlier, smaller batch: do not check it against this one
  schedule::make_schedule(text, origin);
  return json_text(Json{{"schedule", text}, {"batch", batch ? Json(*batch) : Json(nullptr)}});
}

/// Returns the new shares as JSON; throws if they do not fit the run's streams. The run checks them again.
std::string shares_json(const SteerOptions& options, const store::RunReader& reader, const store::RunRow& run) {
  const std::string text = *text_of(options.text);
  const auto spec = run::stored_spec(reader.spec_json(run.id));
  if (!spec || data::stream_names(spec->data).empty())
    throw input_error(fmt::format("shares: run {} does not have several data streams", run.id));
  const std::vector<std::string> names = data::stream_names(spec->data);
  schedule::check_shares(text, names, schedule::clock_of(spec->clock, names));
  return json_text(Json{{"shares", text}});
}

/// Returns a stop that asks for a checkpoint first; throws for a run of no program, which keeps its own checkpoints.
std::string save_json(const store::RunReader& reader, const store::RunRow& run) {
  const auto spec = run::stored_spec(reader.spec_json(run.id));
  if (!spec || !spec->program)
    throw input_error(fmt::format("--save: run {} is not one of a program of your own; accepted: without it", run.id));
  return json_text(Json{{"save", true}});
}

Error too_late(std::int64_t run, telemetry::RunStatus status) {
  return {Error::Kind::failed,
          fmt::format("run {} {} already {}; the command had no effect", run,
                      status == telemetry::RunStatus::interrupted ? "was" : "has", telemetry::to_string(status))};
}

void wait_until_taken(const store::RunReader& reader, std::int64_t run, std::int64_t command) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!reader.taken(command)) {
    const telemetry::RunStatus status = reader.run(run).outcome.status;
    // Check again: the command may have been taken just before the run ended.
    if (status != telemetry::RunStatus::running && !reader.taken(command))
      throw too_late(run, status);
    if (std::chrono::steady_clock::now() > end)
      throw Error(Error::Kind::failed,
                  fmt::format("run {}: its process has not responded for {} s; the command stays queued", run,
                              std::chrono::seconds(patience).count()));
    std::this_thread::sleep_for(poll_interval);
  }
}

bool is_paused(const std::vector<telemetry::Event>& events) {
  const auto last = std::find_if(events.rbegin(), events.rend(), [](const auto& event) {
    return std::holds_alternative<telemetry::StatusChange>(event.body);
  });
  return last != events.rend() &&
         std::get<telemetry::StatusChange>(last->body).status == telemetry::StatusChange::Status::paused;
}

/// Answer of an event to a command: refused or not, and the step from which it applies.
struct Answer {
  std::optional<telemetry::Reason> refused;
  std::optional<std::int64_t> applies_from_step;
};

/// Nothing for an event that answers another command, or none.
std::optional<Answer> answer_to(std::int64_t command, const telemetry::EventBody& body) {
  return std::visit(
      [command](const auto& event) -> std::optional<Answer> {
        if constexpr (requires {
                        event.command;
                        event.refused;
                        event.applies_from_step;
                      })
          if (event.command == command)
            return Answer{event.refused, event.applies_from_step};
        return std::nullopt;
      },
      body);
}

/// Returns the step from which an edit or a change of the budget applies, read from the run's events; nothing if the
/// run does not report it in time. Throws if the run refused the edit or ended before it.
std::optional<std::int64_t> step_of(const store::RunReader& reader, std::int64_t run, const CommandName& asked,
                                    std::int64_t command) {
  const auto end = std::chrono::steady_clock::now() + answer_patience;
  while (true) {
    // Read the status before the events: a run that has ended stores no further answer.
    const telemetry::RunStatus status = reader.run(run).outcome.status;
    const auto events = reader.events(run);
    for (const telemetry::Event& event : events) {
      const auto answer = answer_to(command, event.body);
      if (!answer)
        continue;
      if (answer->refused)
        throw Error(Error::Kind::failed,
                    fmt::format("run {}: {} not changed: {}", run, asked.name, telemetry::english(*answer->refused)));
      return answer->applies_from_step.value_or(event.step + 1);
    }
    if (status != telemetry::RunStatus::running)
      throw too_late(run, status);
    if (is_paused(events) || std::chrono::steady_clock::now() > end)
      return std::nullopt;
    std::this_thread::sleep_for(poll_interval);
  }
}

int run_steer(const SteerOptions& options, const Context& context) {
  require(options.run, "the number of a run");
  const std::int64_t id = *integer_of(options.run);
  const CommandName& asked = command_of(options);
  const store::RunReader reader(context.database());
  const store::RunRow run = reader.run(id);
  if (run.outcome.status != telemetry::RunStatus::running)
    throw not_running(context, run);
  store::Command command{.verb = asked.verb};
  const bool changes_schedule = asked.name == std::string("schedule");
  if (changes_schedule || asked.name == std::string("budget"))
    check_can_follow(reader, run, asked);
  if (changes_schedule)
    command.detail_json = edit_json(options, reader, run);
  else if (asked.name == std::string("shares"))
    command.detail_json = shares_json(options, reader, run);
  else if (options.save->count() > 0)
    command.detail_json = save_json(reader, run);
  else if (options.text->count() > 0)
    command.detail_json = json_text(Json{{"bytes", parse_size(*text_of(options.text), "budget")}});
  const std::int64_t number = store::RunStore(context.database()).send(id, command);
  wait_until_taken(reader, id, number);
  std::optional<std::int64_t> step;
  if (options.text->count() > 0)
    step = step_of(reader, id, asked, number);
  if (context.json) {
    Json answer{{"run", id}, {"command", number}, {"verb", command.verb}, {"taken", true}};
    if (step)
      answer["applies_from_step"] = *step;
    print_json(answer);
  } else {
    print(step ? fmt::format("run {} changes its {} from step {} on\n", id, asked.name, format_count(*step))
               : fmt::format("run {} {}\n", id, asked.effect));
  }
  return exit_status::done;
}

} // namespace

Verb add_steer(CLI::App& program) {
  auto* app = program.add_subcommand("steer", "Pause, continue, step or stop a run in any process, or change its "
                                              "schedule, memory budget or shares of data streams");
  auto options = std::make_shared<SteerOptions>();
  options->run = add_argument(*app, "RUN", "Number of the run");
  options->command = add_argument(*app, "COMMAND", "pause, continue, step, stop, schedule, budget or shares");
  options->text = add_argument(*app, "TEXT",
                               "The new schedule, the new memory budget such as 400MB, or the new "
                               "shares of the data streams such as a=0.7,b=0.3");
  options->sweep = add_switch(*app, "--sweep", "With stop: also stop the run's sweep");
  options->save = add_switch(
      *app, "--save", "With stop: ask a program of your own whose Trainer is attached to for a checkpoint first");
  options->batch = add_value(*app, "--batch", "N", "With schedule: batch size of the next step (default: unchanged)");
  app->footer(schedule_help());
  return {app, [options](const Context& context) { return run_steer(*options, context); }};
}

} // namespace batchscope::cli
