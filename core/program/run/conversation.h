#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/program/protocol/inbox.h"
#include "core/program/run/left_run.h"
#include "core/program/run/steering.h"
#include "core/run/run_control.h"
#include "core/run/run_spec.h"
#include "core/run/source.h"
#include "core/telemetry/outcome.h"
#include "core/telemetry/processor_windows.h"
#include "core/telemetry/record.h"

namespace batchscope::program {

/// Exchange between a run and its program: records and events go to the run's sink, requests to the run go to the
/// program, whose batch sizes follow the run's schedule. One thread.
class Conversation final : private Inbox::Receiver {
public:
  /// `output`: file of the program's output. `seconds`: of the run so far, for events of its own.
  Conversation(const run::RunSpec& spec, const run::RunPlace& place, Link& link, const std::filesystem::path& spill,
               const std::string& output, telemetry::Sink& sink, std::function<double()> seconds);

  /// For a program that was just started: what is known of it, which the run learns, too.
  void begin(const run::RunStart& start);
  /// For a run that goes on; `start` is what was known of it.
  void resume(const LeftRun& left, const run::RunStart& start);

  void serve();                                       ///< takes what has arrived
  void follow(const run::RunControl::Orders& orders); ///< passes on what the run is asked for
  void confirm();                                     ///< tells the program what is stored
  void watch_for_silence();                           ///< reports a program without records once
  /// Reports once what the run sets and what the program, below level 2, does not follow. In a sweep, whose runs are
  /// compared by that, it is a failure().
  void say_what_is_not_followed();
  /// The program has ended: takes what it has left, and answers what was asked for too late.
  void end(const std::vector<run::ScheduleEdit>& late);

  /// The size that the program says or gets in its command; nothing if it is not known.
  std::optional<std::int64_t> own_batch() const { return own_batch_ > 0 ? std::optional(own_batch_) : std::nullopt; }
  int level() const { return level_; } ///< 0 until a program has connected
  bool connected() const { return inbox_.connected(); }
  bool has_reports() const { return reports_ > 0; } ///< records over the socket
  bool paused() const { return paused_; }           ///< whether the program is to pause
  const std::optional<Bye>& bye() const { return bye_; }
  /// The last out-of-memory error that the program could not survive.
  const std::optional<telemetry::OutOfMemory>& out_of_memory() const { return out_of_memory_; }
  /// Why the run cannot go on as it was asked for; empty if it can.
  const telemetry::Reason& failure() const { return failure_; }
  const run::RunStart& start() const { return start_; }
  /// Of the run, from all that its sink was given.
  const telemetry::RunProgress& progress() const { return progress_; }

  /// Reports something of its own to the run.
  void report(telemetry::EventBody body);
  /// A record of the program, or, of one that sends none, from somewhere else. Sizes that it does not have are added
  /// as far as they are known.
  void record(const telemetry::StepRecord& record);
  /// Values that become series at a step, without one at the last.
  void values(std::vector<std::pair<std::string, double>> values, std::optional<std::int64_t> step = {});

private:
  using Clock = std::chrono::steady_clock;

  void hello(const Hello& hello) override;
  void message(const Message& message, bool live) override;
  void fault(telemetry::EventBody fault) override;
  void gone() override;

  void steer(const Hello& hello);
  void welcome();
  void describe(const Hello& hello);
  void say_connected();
  void take(const StepMessage& message, bool live);
  void take(const EventMessage& message, bool live);
  void take(const Bye& bye);
  void make_step(telemetry::StepRecord record, bool live);
  void add_to_step(telemetry::StepRecord record);
  bool is_step(const StepMessage& message) const;
  void fill_peak(telemetry::StepRecord& record);
  void fill_sizes(telemetry::StepRecord& record) const;
  void set_start(run::RunStart start);
  void take(telemetry::Event event, const telemetry::StatusChange& change, bool live);
  void take(const telemetry::BudgetChange& change);
  void take(telemetry::OutOfMemory& error);
  std::int64_t steps() const { return progress_.outcome().steps; } ///< done so far
  double run_seconds() const;
  void push(telemetry::Event event);
  void refuse(const run::ScheduleEdit& edit);
  void refuse(const run::BudgetChange& change);
  void need_followed_size();
  bool sets_first_batch() const;

  run::RunSpec spec_;
  const run::RunPlace place_;
  const std::string output_;
  telemetry::Sink& sink_;
  const std::function<double()> seconds_;
  Inbox inbox_;
  std::unique_ptr<Steering> steering_;
  std::vector<schedule::PlanEdit> edits_; ///< of a run that goes on
  run::RunStart start_;
  int level_ = 0;
  bool first_batch_ = false;                               ///< can be set
  std::optional<telemetry::ProgramConnected> described_;   ///< said last
  std::optional<telemetry::ProgramConnected> to_describe_; ///< to be said
  Clock::time_point said_hello_{};
  std::int64_t own_batch_ = 0; ///< size that the program says or gets in its command; 0: not known
  std::optional<Bye> bye_;
  std::optional<telemetry::OutOfMemory> out_of_memory_;
  std::string device_; ///< of the program; empty: not known
  telemetry::Reason failure_;
  bool paused_ = false;
  bool said_paused_ = false;
  bool stopping_ = false;
  telemetry::RunProgress progress_;
  std::int64_t reported_ = -1; ///< last step of which the program has sent a record; -1: none yet
  double last_seconds_ = -1;   ///< of the program's last record or event; -1: none yet

  std::int64_t last_micro_batch_ = 0, last_peak_bytes_ = 0; ///< of the last step whose peak was measured

  std::int64_t reports_ = 0;
  std::uint64_t entries_ = 0;                                     ///< given to the sink
  std::deque<std::pair<std::uint64_t, std::int64_t>> to_confirm_; ///< entries after which a message is stored
  std::int64_t confirmed_ = 0;                                    ///< last message that is stored
  std::int64_t sent_ = 0;                                         ///< and the last one that the program knows is
  std::int64_t pid_ = 0;
  Clock::time_point last_confirmed_{};

  Clock::time_point last_record_{};
  std::deque<double> step_seconds_;                       ///< of the last steps
  std::optional<telemetry::ProcessorWindows> processors_; ///< of the program
  bool said_silent_ = false;
  bool said_not_followed_ = false;
  bool said_level_ = false; ///< and why it is no higher
  bool has_loader_ = false; ///< whose batch is known
  bool said_counted_again_ = false;
};

} // namespace batchscope::program
