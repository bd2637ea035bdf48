#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

#include "core/run/session.h"
#include "core/schedule/progression.h"
#include "core/telemetry/outcome.h"
#include "core/telemetry/processor_windows.h"
#include "core/train/detail/checkpoints.h"
#include "core/train/detail/evaluator.h"
#include "core/train/detail/free_memory.h"
#include "core/train/detail/loop_state.h"
#include "core/train/detail/oom_cause.h"
#include "core/train/detail/stepper.h"
#include "core/train/detail/window.h"

namespace batchscope::train {

/// The settings of the loop, derived from a spec before the first step.
struct LoopOptions {
  schedule::ProgressionOptions progression;
  double weight_decay = 0;
  double dropout = 0;
  schedule::RegularizationRule regularization = schedule::RegularizationRule::none;
  std::optional<double> clip;
  run::OnOom on_oom = run::OnOom::shrink;
  std::optional<run::EvaluationInterval> evaluate_every;
  std::optional<double> max_seconds;
  std::optional<double> target_score;
  std::optional<std::int64_t> noise_every; ///< steps; unset: only if the schedule or the learning rate needs it
  bool may_halve = true;                   ///< see Stepper
  std::optional<std::int64_t> grow_back;   ///< see GrowBack
  /// Lets the budget follow the memory that is free; looked at no more often than this. Unset: the budget stays.
  std::optional<std::chrono::milliseconds> follow_free_memory;
  std::optional<CheckpointOptions> checkpoints;
  std::uint64_t seed = 1;
  bool group_by_length = false;
  std::string save; ///< file for the weights at the end; empty: none
};

/// Where a run goes on.
struct Resumption {
  LoopState state;
  telemetry::Resumed report; ///< with which the run begins
};

/// Trains one run: takes steps from the progression, executes and reports them. Used once, on one thread.
class Loop {
public:
  /// `resumption`: null for a run that begins. The learner has been restored.
  Loop(const LoopOptions& options, Learner& learner, telemetry::Sink& sink, run::RunControl& control,
       const Resumption* resumption = nullptr);

  /// Closes the control at the end: later edits are rejected.
  telemetry::RunOutcome run();

private:
  using Clock = std::chrono::steady_clock;

  telemetry::RunOutcome make_steps();
  bool follow_commands();
  void apply(const run::ScheduleEdit& edit);
  void apply(const run::BudgetChange& change);
  bool return_to_budget_before();
  void follow_free_memory();
  void close_control();
  bool make(const schedule::PlannedStep& step);
  StepOutcome attempt(const schedule::PlannedStep& step);
  void report(const schedule::PlannedStep& step, const StepOutcome& outcome, const Computed& computed,
              const memory::Readings& readings);
  void add_peak_by_use(telemetry::StepRecord& record, const memory::Readings& readings);
  void add_streams(telemetry::StepRecord& record, const data::StepTakes& takes, const Computed& computed) const;
  void report_out_of_memory(const OutOfMemory& event, bool tried_again);
  void report_shrunk_evaluation(std::int64_t tried, std::int64_t now, const memory::OutOfMemoryInfo& info);
  void report_schedule(const schedule::ScheduleEvent& event);
  void report_paused(bool paused);
  void make_checkpoint_if_due();
  void make_last_checkpoint();
  void report_checkpoints();
  void save_weights();
  LoopState state() const;
  void restore(const LoopState& state);
  std::optional<double> score_here() const;
  void report_validation(const Validation& validation, double seconds);
  void note_before(const memory::Readings& readings);
  bool is_evaluation_due() const;
  bool is_time_over() const;
  bool is_target_reached() const;
  bool is_noise_due(std::int64_t step) const;
  void evaluate();
  void send(telemetry::EventBody body, std::vector<std::pair<std::string, double>> values = {});
  void send_at(std::int64_t step, telemetry::EventBody body, std::vector<std::pair<std::string, double>> values);
  double seconds_since_start() const;
  std::int64_t steps() const { return progress_.outcome().steps; } ///< done so far
  telemetry::RunOutcome outcome(telemetry::RunStatus status, std::string reason) const;

  LoopOptions options_;
  Learner& learner_;
  telemetry::Sink& sink_;
  run::RunControl& control_;
  schedule::Progression progression_;
  Stepper stepper_;
  Evaluator evaluator_;
  Window window_;
  data::StepOrder order_;
  BeforeOutOfMemory before_;
  Clock::time_point started_;
  double seconds_before_ = 0; ///< of the run until its checkpoint
  double paused_seconds_ = 0;
  bool said_paused_ = false;
  bool said_not_deterministic_ = false;
  telemetry::RunProgress progress_; ///< fed with the run's reports
  telemetry::ProcessorWindows processors_;
  std::array<std::uint64_t, telemetry::use_count> peak_by_{}; ///< as reported last
  std::int64_t largest_micro_ = 1;
  std::int64_t evaluated_at_ = -1;             ///< step of the last evaluation
  std::int64_t evaluated_examples_ = 0;        ///< examples seen until then
  double step_seconds_ = 0;                    ///< of the last step
  std::optional<std::uint64_t> budget_before_; ///< that of the last step made; set while a changed one is on trial
  std::uint64_t budget_at_start_ = 0;          ///< of this session
  std::optional<FreeMemory> free_memory_;      ///< while the budget follows it
  std::int64_t events_ = 0;                    ///< reported
  std::optional<Checkpoints> checkpoints_;
  std::string checkpoint_problem_;            ///< of the last one; reported once
  std::optional<telemetry::Resumed> resumed_; ///< with which a resumed run begins
  std::string failure_;
};

} // namespace batchscope::train
