#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/program/protocol/wire.h"
#include "core/run/run_control.h"
#include "core/run/run_spec.h"
#include "core/run/run_start.h"
#include "core/schedule/plan.h"
#include "core/schedule/progression.h"
#include "core/telemetry/events.h"

namespace batchscope::program {

/// Returns the properties of the run that a hello reports. `spec` may set batch and accumulation.
run::RunStart start_of(const run::RunSpec& spec, const Hello& hello);

/// Throws Error (input) for a schedule or a learning-rate rule that needs what programs do not measure, or the length
/// of a run that does not say it.
void check_followable(const schedule::Progression& progression, const run::RunStart& start);

/// Lets the schedule of a run decide the batch sizes of a program: the progression that makes the plan also answers the
/// program. Its state is that of the last record; the program may be some steps ahead. Knows nothing of sockets: it
/// returns the lines to send. One thread.
class Steering {
public:
  /// Reports an event of the run at this step.
  using Report = std::function<void(std::int64_t step, telemetry::EventBody body)>;

  /// For a program that can change its size, and that begins; else see repeat(). Throws Error (input) if the schedule
  /// is wrong, or needs what a program cannot measure.
  Steering(const run::RunSpec& spec, const Hello& hello, Report report);

  Steering(const Steering&) = delete;
  Steering& operator=(const Steering&) = delete;

  const run::RunStart& start() const { return start_; } ///< with the steps of the whole run, if they can be known
  std::optional<std::uint64_t> budget() const { return budget_; } ///< bytes
  /// The program could make no step with the one that was set.
  void returned_to_budget(const telemetry::BudgetChange& change) { budget_ = change.budget_bytes; }

  /// Whether it has followed a step or been asked for a change; until then another one may take its place.
  bool has_begun() const { return progression_.steps_done() > 0 || last_id_ > 0; }

  /// Goes to where a program is that has made steps already, applying the edits that it had followed. Reports nothing.
  void repeat(const std::vector<schedule::PlanEdit>& edits, std::int64_t steps);

  /// Whether anything differs from what the program would do by itself.
  bool steers() const { return steers_; }
  /// The size of the next step, for a program that has connected. What was not applied yet is applied now: the program
  /// of a connection that was lost may not have got it.
  Next welcome();
  /// Follows a step that the program has made. Returns the answer if it asks; else nothing, or a correction.
  std::string take(const StepMessage& message);
  /// Sends a change to the program, after those that it has not answered.
  std::string request(const run::ScheduleEdit& edit);
  std::string request(const run::BudgetChange& change);
  /// The program has taken a change over.
  std::string take(const Applied& applied);
  /// The run is over: reports the edits that came too late.
  void close();

private:
  using Change = std::variant<run::ScheduleEdit, run::BudgetChange>;
  struct Pending {
    std::int64_t id;
    Change change;
  };
  struct Size {
    std::int64_t batch = 0;
    double rate_factor = 1;
    bool operator==(const Size&) const = default;
  };

  Size size_of(const schedule::PlannedStep& step) const;
  void note_present();
  schedule::Progression with_pending() const;
  Next next_of(schedule::Progression progression);
  std::string send_first();
  std::string request(Change change);
  std::string correction();
  void apply(const Change& change, bool taken);
  void report_budget(const run::BudgetChange& change, bool taken);
  void compare(const schedule::PlannedStep& planned, const StepMessage& message);
  void send_event(telemetry::EventBody body);

  Report report_;
  run::RunStart start_;
  schedule::ProgressionOptions options_;
  schedule::Progression progression_;
  Size present_;             ///< of the last step planned; holds on after the plan's end
  std::optional<Size> sent_; ///< what was sent last
  std::int64_t held_to_ = 0; ///< last step for which the program needs no answer; -1: all
  std::deque<Pending> pending_;
  std::int64_t last_id_ = 0;
  std::optional<std::uint64_t> budget_;
  bool steers_ = false;
  bool repeating_ = false;
  bool differed_ = false;
};

} // namespace batchscope::program
