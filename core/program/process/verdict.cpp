#include "core/program/process/verdict.h"

#include <signal.h>
#include <string.h>

#include <array>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "core/base/json.h"
#include "core/base/text.h"

namespace batchscope::program {

namespace {

/// A text of a line of output that means that memory has run out. The texts are those of PyTorch, CUDA, oneDNN, NumPy,
/// CPython, libgomp and glibc.
struct Symptom {
  const char* text;
  const char* cause;
  const char* also = ""; ///< a second text that the line must have
};
constexpr std::array symptoms = {
    Symptom{"DataLoader worker (pid", "loader worker", "is killed by signal"},
    Symptom{"torch.OutOfMemoryError", "device"},
    Symptom{"torch.cuda.OutOfMemoryError", "device"},
    Symptom{"CUDA out of memory. Tried to allocate", "device"},
    Symptom{"HIP out of memory. Tried to allocate", "device"},
    Symptom{"CUDA error: out of memory", "device"},
    Symptom{"CUBLAS_STATUS_ALLOC_FAILED", "device"},
    Symptom{"NVML_SUCCESS == r INTERNAL ASSERT", "device"},
    Symptom{"Unable to find a valid cuDNN algorithm", "device"},
    Symptom{"DefaultCPUAllocator: can't allocate memory", "host"},
    Symptom{"DefaultCPUAllocator: not enough memory", "host"},
    Symptom{"could not create a primitive", "host"},
    Symptom{"_ArrayMemoryError: Unable to allocate", "host"},
    Symptom{"can't start new thread", "host"},
    Symptom{"libgomp: Thread creation failed", "host"},
    Symptom{"std::bad_alloc", "host"},
    Symptom{"Cannot allocate memory", "host"},
};

const char* cause_of(std::string_view line) {
  if (trimmed(line) == "MemoryError" || line.starts_with("MemoryError:"))
    return "host";
  for (const Symptom& symptom : symptoms)
    if (line.find(symptom.text) != std::string_view::npos && line.find(symptom.also) != std::string_view::npos)
      return symptom.cause;
  return nullptr;
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

  const std::optional<std::string>& cause() const { return cause_; }
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
    if (const char* found = cause_of(line))
      cause_ = found;
  }

  bool in_traceback_ = false;
  bool chained_ = false;
  std::optional<std::string> cause_;
  std::string exception_;
  std::string last_line_;
};

Exceptions exceptions_in(const std::string& output) {
  Exceptions exceptions;
  std::istringstream lines(output);
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

bool near_limit(const Ending& ending) {
  constexpr double near = 0.9;
  return ending.limit && ending.peak && static_cast<double>(*ending.peak) >= near * static_cast<double>(*ending.limit);
}

Verdict out_of_memory(const std::string& cause, const std::string& text) {
  const std::string where = cause == "kernel"          ? "ended by the kernel's out-of-memory killer"
                            : cause == "loader worker" ? "out of memory in a loader worker, or /dev/shm is full"
                                                       : fmt::format("out of memory ({})", cause);
  return {telemetry::RunStatus::failed, text.empty() ? where : fmt::format("{}: {}", where, shortened(text)), true,
          cause};
}

Verdict on_socket_event(const telemetry::Event& event) {
  const Json detail = parse_json_or_discard(event.detail_json);
  const std::string text = one_line(text_member(detail, "text"));
  const char* cause = cause_of(text);
  Verdict verdict = out_of_memory(cause ? cause : "device", text);
  if (const std::string likely = text_member(detail, "cause"); !likely.empty())
    verdict.reason += fmt::format(" ({})", shortened(likely));
  return verdict;
}

/// The system tells a program's exit status only to the process that has started it.
Verdict on_unknown_exit(const Ending& ending, const Exceptions& exceptions) {
  const std::string last = shortened(one_line(exceptions.last()));
  if (exceptions.at_end())
    return {telemetry::RunStatus::failed, fmt::format("ended with an error: {}", last), false, {}};
  std::string reason = "its exit status is not known: the BatchScope that had started it was gone";
  if (!last.empty())
    reason += fmt::format("; the last line of its output: {}", last);
  if (ending.listened)
    return {telemetry::RunStatus::failed, "ended without saying so; " + reason, false, {}};
  return {telemetry::RunStatus::interrupted, reason, false, {}};
}

/// From the exit alone.
Verdict on_exit(const Ending& ending) {
  const std::optional<int> signal = signal_of(ending.exit);
  const std::string last = one_line(exceptions_in(ending.output_tail).last());
  if (signal == SIGKILL && !ending.exit.killed_by_us) {
    if (ending.exit.kernel_oom)
      return out_of_memory("kernel", {});
    return {telemetry::RunStatus::failed, "killed (SIGKILL), by whom is not known", false, {}};
  }
  // A std::bad_alloc aborts, too, and may have no memory to say so; a failed assertion says that.
  const bool may_want_memory = signal == SIGSEGV || (signal == SIGABRT && last.find("ssertion") == std::string::npos);
  if (may_want_memory && near_limit(ending))
    return out_of_memory("host", fmt::format("{} within 10 % of the memory limit", signal_name(*signal)));
  const std::string how = ending.exit.signal ? fmt::format("ended by {}", signal_name(*ending.exit.signal))
                                             : fmt::format("exit status {}", *ending.exit.code);
  std::string reason = last.empty() ? how : fmt::format("{}: {}", how, shortened(last));
  if (last.find("No module named 'batchscope'") != std::string::npos)
    reason += "; `batchscope-cli python-client -o batchscope.py` writes it beside the program";
  return {telemetry::RunStatus::failed, reason, false, {}};
}

} // namespace

Verdict verdict_on(const Ending& ending) {
  if (ending.stop_requested && !(ending.said_finished && ending.exit.code == 0))
    return {telemetry::RunStatus::stopped, {}, false, {}};
  if (ending.exit.code == 0)
    return {telemetry::RunStatus::finished, {}, false, {}};
  if (ending.oom)
    return on_socket_event(*ending.oom);
  const Exceptions exceptions = exceptions_in(ending.output_tail);
  if (exceptions.cause() && !was_ended_from_outside(ending.exit))
    return out_of_memory(*exceptions.cause(), one_line(exceptions.last()));
  return ending.exit.code || ending.exit.signal ? on_exit(ending) : on_unknown_exit(ending, exceptions);
}

} // namespace batchscope::program
