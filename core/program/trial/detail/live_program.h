#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/program/process/child.h"
#include "core/program/process/detail/trial_folder.h"
#include "core/program/process/memory.h"
#include "core/program/process/output.h"
#include "core/program/process/verdict.h"
#include "core/program/protocol/inbox.h"
#include "core/program/run/program_source.h"
#include "core/program/run/text_metrics.h"
#include "core/run/run_spec.h"

namespace batchscope::program {

/// A program that is started to be asked something, not to be a run: nothing of it is stored, and it ends with this
/// object. One thread.
class LiveProgram final : private Inbox::Receiver {
public:
  /// Steps that a program may make before it answers a question, besides those that the question is about: with the
  /// size before, and with the tails of epochs, which are smaller.
  static constexpr std::int64_t most_other_steps = 64;

  /// Starts it. `welcome`: the answer to its hello, but for the run. `stop` is called a few times a second while it is
  /// waited for. Throws Error (input) as Child's constructor does.
  LiveProgram(const run::RunSpec& spec, Surroundings surroundings, Welcome welcome, std::function<bool()> stop);
  ~LiveProgram() override;

  /// Sends a question, for whose answer next() waits; `steps`: that it is about.
  void ask(const std::string& line, std::int64_t steps = 0);
  /// From now on, next() gives up on a program that does not connect once its output shows so many steps.
  void count_printed_steps(const run::ProgramSpec& program);
  /// Waits for the next message after the hello. Nothing once the program has ended; also once it is waited for in
  /// vain, see why_given_up(). Throws Error (failed, "stopped") when `stop` says so.
  std::optional<Message> next();
  /// Why next() has given up, for a program that lives: it made no step, or too many without an answer, in the
  /// `probe_seconds` of its spec, or took more of this machine's memory than it may. `made no step in 120 s
  /// (--probe-seconds)`.
  std::string why_given_up() const;
  /// Whether it took more of this machine's memory than it may.
  bool took_too_much() const { return too_large_; }
  /// Whether it has made no step for so long.
  bool stands_still() const;

  const std::optional<Hello>& hello() const { return hello_; } ///< the last one
  std::int64_t pid() const { return child_->pid(); }
  bool ended() const { return exit_.has_value(); }
  /// How it ended; call it once ended().
  Verdict verdict() const;

private:
  using Clock = std::chrono::steady_clock;

  void hello(const Hello& hello) override;
  void message(const Message& message, bool live) override;
  void fault(telemetry::EventBody /*fault*/) override {}
  void gone() override {}

  bool made_too_many_steps() const;
  bool prints_without_connecting();
  bool looks_too_large();

  const TrialFolder trial_;
  std::unique_ptr<Link> link_;
  Inbox inbox_;
  Welcome welcome_;
  const std::function<bool()> stop_;
  const std::chrono::duration<double> patience_;
  std::unique_ptr<Child> child_;
  const std::optional<std::uint64_t> host_limit_;
  std::optional<GroupMemory> memory_; ///< if there is a limit
  bool too_large_ = false;
  std::optional<Hello> hello_;
  std::deque<Message> messages_;
  std::optional<telemetry::OutOfMemory> out_of_memory_;
  std::optional<Exit> exit_;

  Clock::time_point asked_at_;  ///< the last question, or the start
  Clock::time_point last_step_; ///< since then; without one as asked_at_
  std::int64_t steps_ = 0;      ///< since then
  std::int64_t most_steps_ = most_other_steps;

  std::optional<TextMetrics> metrics_; ///< if printed steps are counted
  std::optional<OutputFollower> output_;
  std::int64_t printed_ = 0, most_printed_ = 0; ///< steps
};

} // namespace batchscope::program
