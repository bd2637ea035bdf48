#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/program/process/child.h"
#include "core/program/process/detail/process.h"
#include "core/program/process/detail/program_folder.h"
#include "core/program/process/memory.h"
#include "core/program/process/output.h"
#include "core/program/process/verdict.h"
#include "core/program/run/conversation.h"
#include "core/program/run/left_run.h"
#include "core/program/run/read_files.h"
#include "core/program/run/text_metrics.h"
#include "core/telemetry/outcome.h"

namespace batchscope::program {

/// Follows a program that runs until it has ended: its messages, its output and its memory; and ends it when it has to.
/// Used once, on one thread.
class Supervisor {
public:
  Supervisor(const run::RunSpec& spec, const run::RunPlace& place, const ProgramFolder& folder, Link& link,
             Process process, ReadFiles files, telemetry::Sink& sink);

  /// For a program that was just started, before run().
  void begin(const run::RunStart& start);
  /// For a run that goes on, before run().
  void resume(const LeftRun& left, const run::RunStart& start);

  telemetry::RunOutcome run(run::RunControl& control);

  const Verdict& verdict() const { return verdict_; }
  const std::optional<Exit>& exit() const { return exit_; }
  std::optional<std::uint64_t> peak() const;
  /// The error that ended it, if the verdict says so and it is known.
  const std::optional<telemetry::OutOfMemory>& shortage() const { return shortage_; }
  std::string output_tail() const { return output_.tail(); }

private:
  using Clock = std::chrono::steady_clock;

  void wait();
  void follow(const run::RunControl::Orders& orders);
  void pause_from_outside(bool paused);
  void kill();
  void watch_for_connection();
  void watch_for_steps();
  void report_no_step(std::optional<std::int64_t> waited_seconds);
  void read_output(bool ended);
  void read_lines(bool ended);
  void take_metrics(telemetry::StepRecord record);
  void take_read(telemetry::StepRecord record);
  void make_step(telemetry::StepRecord record);
  void stop_if_due();
  void begin_stop();
  void escalate();
  telemetry::RunOutcome finish(run::RunControl& control);
  void report_left_behind();
  void report_end();
  telemetry::OutOfMemory out_of_memory_from_outside() const;
  double seconds() const;

  const run::RunSpec spec_;
  const run::RunPlace place_;
  const ProgramFolder folder_;
  Link& link_;
  Process process_;
  Conversation conversation_;
  OutputFollower output_;
  TextMetrics metrics_;
  ReadFiles files_;
  std::int64_t last_step_ = 0;                     ///< of what metrics and files gave
  std::int64_t left_step_ = 0;                     ///< the last one stored when the run was taken over
  std::map<std::string, std::int64_t> last_steps_; ///< of the series that files gave
  std::optional<LeftRun::End> left_end_;           ///< of the run that was taken over
  std::optional<GroupMemory> memory_;              ///< nothing for a program that is gone
  Descriptor wake_;                                ///< an eventfd: the run's control has changed

  Clock::time_point began_;
  std::optional<Clock::time_point> paused_at_; ///< while it is paused from outside
  double paused_seconds_ = 0;
  double seconds_before_ = 0; ///< of the run, before it was taken over

  enum class Stage { none, asked, terminated, killed } ending_ = Stage::none; ///< how far its end is forced
  Clock::time_point asked_at_;
  bool stop_requested_ = false; ///< by the user
  bool time_over_ = false;
  bool said_no_step_ = false;
  std::optional<Exit> exit_;
  Verdict verdict_;
  std::optional<telemetry::OutOfMemory> shortage_;
};

} // namespace batchscope::program
