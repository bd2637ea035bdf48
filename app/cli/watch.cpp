#include <chrono>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/describe.h"
#include "app/cli/display.h"
#include "app/cli/interrupt.h"
#include "app/cli/run_document.h"
#include "core/run/run_spec.h"
#include "core/run/run_start.h"
#include "core/store/run_follower.h"
#include "core/store/run_reader.h"

namespace batchscope::cli {

namespace {

/// Less than what the writer of a run takes between two transactions.
constexpr std::chrono::milliseconds look_interval{200};

/// Shows the run as it is written. False where the watching was interrupted before the run's end.
bool show_until_end(const store::RunReader& reader, store::RunFollower& follower, std::int64_t id,
                    const Context& context, const run::JobControl& interrupt) {
  Display display(context);
  if (const auto spec = run::stored_spec(reader.spec_json(id)))
    display.started({.id = id, .spec = *spec, .start = run::stored_start(reader.start_json(id))});
  else
    display.watching(id, reader.run(id).name);
  while (!interrupt.stopping()) {
    const auto update = follower.poll();
    if (!update.records.empty())
      display.record(update.records.back());
    for (const auto& event : update.events)
      if (telemetry::has_happened(event))
        display.event(event);
    if (update.more)
      continue;
    if (!telemetry::is_open(update.row.outcome.status)) {
      display.ended(id, update.row.outcome);
      return true;
    }
    std::this_thread::sleep_for(look_interval);
  }
  display.say(fmt::format("stopped watching; run {} is still running", id));
  return false;
}

int run_watch(const CLI::Option* run, const Context& context) {
  require(run, "the number of a run");
  const std::int64_t id = *integer_of(run);
  const store::RunReader reader(context.database());
  store::RunFollower follower(context.database(), id);
  run::JobControl interrupt; // of the watching
  const InterruptGuard guard(interrupt);
  if (!show_until_end(reader, follower, id, context, interrupt))
    return exit_status::interrupted;
  const store::RunRow row = reader.run(id);
  if (context.json)
    print_json(run_document(reader, row));
  else
    print(fmt::format("run {}\n", id) + summary_text(row.outcome));
  // To stop a run is what a person may do with one that is watched.
  using Status = telemetry::RunStatus;
  const bool as_wanted = row.outcome.status == Status::finished || row.outcome.status == Status::stopped;
  return as_wanted ? exit_status::done : exit_status::job_failed;
}

} // namespace

Verb add_watch(CLI::App& program) {
  auto* app = program.add_subcommand("watch", "Watch a run in any process until it ends");
  auto* run = add_argument(*app, "RUN", "Number of the run");
  app->footer("Ctrl-C stops watching; the run continues.");
  return {app, [run](const Context& context) { return run_watch(run, context); }};
}

} // namespace batchscope::cli
