#include "core/program/process/verdict.h"

#include <signal.h>
#include <string.h>

#include <array>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "core/base/shortage.h"
#include "core/base/text.h"
#include "core/telemetry/describe.h"
#include "core/telemetry/english.h"

namespace batchscope::program {

namespace {

using telemetry::RunStatus;
using telemetry::Words;
using Cause = telemetry::OutOfMemory::Cause;

/// A text of a line of output that means that memory has run out, beside those of errors (core/base/shortage.h).
struct Symptom {
  const char* text;
  Cause cause;
  const char* also = ""; ///< a second text that the line must have
};
constexpr std::array symptoms = {
    Symptom{"DataLoader worker (pid", Cause::loader_worker, "is killed by signal"},
    Symptom{"torch.OutOfMemoryError", Cause::device},
    Symptom{"torch.cuda.OutOfMemoryError", Cause::device},
    Symptom{"_ArrayMemoryError: Unable to allocate", Cause::host},
    Symptom{"Cannot allocate memory", Cause::host},
    Symptom{": cannot map zero-fill pages", Cause::host}, // glibc's loader, of a library
};

/// `nearly_full`: by what is known of its memory, the program had nearly none left.
std::optional<Cause> cause_of(std::string_view line, bool nearly_full) {
  if (trimmed(line) == "MemoryError" || line.starts_with("MemoryError:"))
    return Cause::host;
  for (const Symptom& symptom : symptoms)
    if (line.find(symptom.text) != std::string_view::npos && line.find(symptom.also) != std::string_view::npos)
      return symptom.cause;
  const auto shortage = shortage_in(line);
  if (!shortage || (shortage->sign == Shortage::Sign::possible && !nearly_full))
    return std::nullopt;
  return shortage->of == Shortage::Of::host ? Cause::host : Cause::device;
}

/// Launchers report the end of the program that they started with an exception of their own.
bool is_of_launcher(std::string_view exception) {
  const std::string_view name = exception.substr(0, exception.find(':'));
  for (const char* known : {"ChildFailedError", "CalledProcessError", "ProcessExitedException"})
    if (name.ends_with(known))
      return true;
  return false;
}

/// Reads output line by line for the exceptions that it ends with.
class Exceptions {
public:
  explicit Exceptions(bool nearly_full) : nearly_full_(nearly_full) {}

  void take(std::string_view line) {
    // `[rank0]: ` is how PyTorch marks the lines of a process of several.
    if (line.starts_with("[rank") && line.find("]: ") != std::string_view::npos)
      line.remove_prefix(line.find("]: ") + 3);
    if (trimmed(line).empty())
      return;
    last_line_ = line;
    if (line.find("During handling of the above exception") != std::string_view::npos ||
        line.find("was the direct cause of the following exception") != std::string_view::npos)
      chained_ = true;
    else if (line.find("Traceback (most recent call last)") != std::string_view::npos)
      in_traceback_ = true;
    else if (line.front() != ' ') // source in a traceback is indented
      take_text(line);
  }

  const std::optional<Cause>& cause() const { return cause_; }
  /// Whether the output ends with one: nothing says that the program went on.
  bool at_end() const { return !exception_.empty() && exception_ == last_line_; }
  /// The last exception, or the last line without one.
  const std::string& last() const { return exception_.empty() ? last_line_ : exception_; }

private:
  void take_text(std::string_view line) {
    if (in_traceback_ && !is_of_launcher(line)) {
      if (!chained_)
        cause_.reset(); // the program went on after what was before
      exception_ = line;
      chained_ = false; // one that is raised while another is handled is about the same thing
    }
    in_traceback_ = false;
    if (const auto found = cause_of(line, nearly_full_))
      cause_ = found;
  }

  bool nearly_full_;
  bool in_traceback_ = false;
  bool chained_ = false;
  std::optional<Cause> cause_;
  std::string exception_;
  std::string last_line_;
};

bool near_limit(const Ending& ending) {
  constexpr double near = 0.9;
  return ending.limit && ending.peak && static_cast<double>(*ending.peak) >= near * static_cast<double>(*ending.limit);
}

Exceptions exceptions_in(const Ending& ending) {
  Exceptions exceptions(near_limit(ending));
  std::istringstream lines(ending.output_tail);
  std::string line;
  while (std::getline(lines, line))
    exceptions.take(line);
  return exceptions;
}

std::string signal_name(int number) {
  const char* abbreviation = sigabbrev_np(number);
  return abbreviation ? fmt::format("SIG{}", abbreviation) : fmt::format("signal {}", number);
}

/// The signal that ended the program, also where a shell between reports it as its exit status.
std::optional<int> signal_of(const Exit& exit) {
  if (exit.signal)
    return exit.signal;
  constexpr int shell_offset = 128;
  if (exit.code && *exit.code > shell_offset && *exit.code < shell_offset + SIGRTMIN)
    return *exit.code - shell_offset;
  return std::nullopt;
}

/// By a signal that no error in the program sends.
bool was_ended_from_outside(const Exit& exit) {
  const std::optional<int> signal = signal_of(exit);
  return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
}

const char* name_of(Cause cause) {
  return cause == Cause::host ? "host" : "device";
}

Verdict failed(telemetry::Reason reason) {
  return {.status = RunStatus::failed, .reason = std::move(reason)};
}

Verdict out_of_memory(Cause cause, telemetry::Reason reason) {
  return {.status = RunStatus::failed, .reason = std::move(reason), .out_of_memory = true, .cause = cause};
}

/// A text that is left out if it is empty.
void add_text(telemetry::Reason& reason, const char* name, const std::string& text) {
  if (!text.empty())
    reason.args[name] = shortened(text);
}

Verdict out_of_memory(Cause cause, const std::string& error) {
  telemetry::Reason reason =
      cause == Cause::loader_worker
          ? telemetry::because(Words::loader_out_of_memory)
          : telemetry::because(Words::ran_out_of_memory, {{"cause", std::string(name_of(cause))}});
  add_text(reason, "error", error);
  return out_of_memory(cause, std::move(reason));
}

/// Verdict from the program's own report of the error, with what was being done and why it was not survived.
Verdict on_socket_event(const telemetry::OutOfMemory& event) {
  const std::string error = one_line(event.error);
  const Cause cause = cause_of(error, /*nearly_full=*/true).value_or(Cause::device);
  Verdict verdict = out_of_memory(cause, error);
  telemetry::Reason& reason = verdict.reason;
  if (const char* place = telemetry::place_of(event.where); *place != '\0')
    reason.args["place"] = std::string(place);
  if (telemetry::words_of_code(event.reason.code)) {
    reason.args["why"] = event.reason.code;
    for (const auto& [name, value] : event.reason.args)
      reason.args.try_emplace(name, value);
  } else {
    add_text(reason, "why", event.reason.text);
  }
  return verdict;
}

/// The system tells a program's exit status only to the process that has started it.
Verdict on_unknown_exit(const Ending& ending, const Exceptions& exceptions) {
  const std::string last = one_line(exceptions.last());
  if (exceptions.at_end())
    return failed(telemetry::because(Words::ended_with_error, {{"error", shortened(last)}}));
  telemetry::Reason reason = telemetry::because(ending.listened ? Words::ended_silently : Words::exit_not_known);
  add_text(reason, "last_line", last);
  return {.status = ending.listened ? RunStatus::failed : RunStatus::interrupted, .reason = std::move(reason)};
}

/// From the exit alone.
Verdict on_exit(const Ending& ending) {
  const std::optional<int> signal = signal_of(ending.exit);
  const std::string last = one_line(exceptions_in(ending).last());
  if (signal == SIGKILL && !ending.exit.killed_by_us)
    return ending.exit.kernel_oom ? out_of_memory(Cause::kernel, telemetry::because(Words::ended_by_kernel))
                                  : failed(telemetry::because(Words::killed));
  // A std::bad_alloc aborts, too, and may have no memory to say so; a failed assertion says that.
  const bool may_want_memory = signal == SIGSEGV || (signal == SIGABRT && last.find("ssertion") == std::string::npos);
  if (may_want_memory && near_limit(ending))
    return out_of_memory(Cause::host, telemetry::because(Words::near_limit, {{"name", signal_name(*signal)}}));
  telemetry::Reason reason =
      ending.exit.signal
          ? telemetry::because(Words::ended_by_signal, {{"name", signal_name(*ending.exit.signal)}})
          : telemetry::because(last.find("No module named 'batchscope'") == std::string::npos ? Words::ended_with_status
                                                                                              : Words::client_missing,
                               {{"exit_status", std::int64_t{*ending.exit.code}}});
  add_text(reason, "last_line", last);
  return failed(std::move(reason));
}

} // namespace

std::string Verdict::reason_text() const {
  return reason.empty() ? std::string() : telemetry::english(reason);
}

Verdict verdict_on(const Ending& ending) {
  if (ending.stop_requested && !(ending.said_finished && ending.exit.code == 0))
    return {.status = RunStatus::stopped};
  if (ending.exit.code == 0)
    return {.status = RunStatus::finished};
  if (ending.oom)
    return on_socket_event(*ending.oom);
  const Exceptions exceptions = exceptions_in(ending);
  if (exceptions.cause() && !was_ended_from_outside(ending.exit))
    return out_of_memory(*exceptions.cause(), one_line(exceptions.last()));
  return ending.exit.code || ending.exit.signal ? on_exit(ending) : on_unknown_exit(ending, exceptions);
}

} // namespace batchscope::program
