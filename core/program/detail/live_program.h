#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/program/child.h"
#include "core/program/detail/program_folder.h"
#include "core/program/inbox.h"
#include "core/program/program_source.h"
#include "core/program/verdict.h"
#include "core/run/run_spec.h"

namespace batchscope::program {

/// A program that is started to be asked something, not to be a run: nothing of it is stored, and it ends with this
/// object. One thread.
class LiveProgram final : private Inbox::Receiver {
public:
  /// Starts it. `welcome`: the answer to its hello, but for the run. `stop` is called a few times a second while it is
  /// waited for. Throws Error (input) as Child's constructor does.
  LiveProgram(const run::RunSpec& spec, const Surroundings& surroundings, Welcome welcome, std::function<bool()> stop);
  ~LiveProgram() override;

  /// Waits for the next message after the hello; nothing once the program has ended, or after so many seconds. Throws
  /// Error (failed, "stopped") when `stop` says so.
  std::optional<Message> next(double most_seconds);
  void send(const std::string& line) { inbox_.send(line); }

  const std::optional<Hello>& hello() const { return hello_; } ///< the last one
  std::int64_t pid() const { return child_->pid(); }
  bool ended() const { return exit_.has_value(); }
  /// How it ended; call it once ended().
  Verdict verdict() const;

private:
  void hello(const Hello& hello) override;
  void message(const Message& message, bool live) override;
  void fault(const char* kind, const std::string& line, const std::string& why) override;
  void gone() override {}

  run::RunPlace place_;
  const ProgramFolder folder_;
  std::unique_ptr<Link> link_;
  Inbox inbox_;
  Welcome welcome_;
  const std::function<bool()> stop_;
  std::unique_ptr<Child> child_;
  std::optional<Hello> hello_;
  std::deque<Message> messages_;
  std::optional<telemetry::Event> out_of_memory_;
  std::optional<Exit> exit_;
};

} // namespace batchscope::program
