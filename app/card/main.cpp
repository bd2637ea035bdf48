// Makes optimizer steps of a run on pretended GPUs and answers what they took of their memory; started by
// core/pretended_gpu/helper.h. Questions come as lines of JSON on the socket that is its standard input, and the
// answers go there. The process itself only loads LibTorch, which takes a second; each question is answered by a child
// of its own, which has what a fresh process has, in milliseconds.
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/pretended_gpu/detail/line_socket.h"
#include "core/pretended_gpu/detail/variable.h"
#include "core/run/engine.h"

namespace {

using namespace batchscope;

constexpr int socket_to_user = STDIN_FILENO;
constexpr unsigned most_seconds = 600; ///< of an answer

const char* name_of(Error::Kind kind) {
  return kind == Error::Kind::input ? "input" : kind == Error::Kind::unavailable ? "unavailable" : "failed";
}

Json error_json(const char* kind, const std::string& text) {
  return {{"kind", kind}, {"error", text}};
}

bool write_all(int file, const std::string& text) {
  for (std::size_t written = 0; written < text.size();) {
    const ssize_t count = ::write(file, text.data() + written, text.size() - written);
    if (count <= 0)
      return false;
    written += static_cast<std::size_t>(count);
  }
  return true;
}

std::string answer_to(const std::string& line) {
  try {
    const Json asked = parse_json(line);
    ::setenv(pretended_gpu::variable, asked.at("gpu").get<std::string>().c_str(), 1);
    const auto question = run::card_question_from_json(asked.at("question"));
    return json_text(run::to_json(run::engine().card_steps(question)));
  } catch (const Error& error) {
    return json_text(error_json(name_of(error.kind()), error.what()));
  } catch (const std::exception& error) {
    return json_text(error_json("failed", error.what()));
  }
}

/// In a child, which ends without tearing anything down.
[[noreturn]] void answer_into(int file, const std::string& line, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) // it has ended before
    ::_exit(EXIT_FAILURE);
  ::alarm(most_seconds);
  ::_exit(write_all(file, answer_to(line)) ? EXIT_SUCCESS : EXIT_FAILURE);
}

std::string content_of(int file) {
  const off_t size = ::lseek(file, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(size), '\0');
  return ::pread(file, text.data(), text.size(), 0) == size ? text : std::string();
}

/// Ends this process, and so its child, if whoever asked is gone before the child has answered.
void leave_if_nobody_waits(pid_t child) {
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  if (process < 0)
    return;                                                        // an old kernel: the answer is waited for
  pollfd waits[] = {{process, POLLIN, 0}, {socket_to_user, 0, 0}}; // the other end's close is always told
  while (waits[0].revents == 0 && ::poll(waits, std::size(waits), -1) >= 0)
    if (waits[1].revents != 0)
      ::_exit(EXIT_FAILURE);
  ::close(process);
}

std::string answered_by_child(const std::string& line) {
  const int file = ::memfd_create("answer", MFD_CLOEXEC);
  if (file < 0)
    return json_text(error_json("failed", "no more files can be opened"));
  const pid_t parent = ::getpid(), child = ::fork();
  if (child == 0)
    answer_into(file, line, parent);
  if (child > 0)
    leave_if_nobody_waits(child);
  int status = 0;
  std::string answer;
  if (child < 0 || ::waitpid(child, &status, 0) != child)
    answer = json_text(error_json("failed", "no process can be started on a pretended GPU"));
  else if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS)
    answer = content_of(file);
  else
    answer = json_text(
        error_json("failed", fmt::format("the process on a pretended GPU ended early ({})",
                                         WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                                                             : fmt::format("exit status {}", WEXITSTATUS(status)))));
  ::close(file);
  return answer;
}

} // namespace

int main() {
  std::string refused;
  try {
    run::engine();
  } catch (const Error& error) {
    refused = json_text(error_json(name_of(error.kind()), error.what()));
  }
  pretended_gpu::LineSocket lines(socket_to_user);
  while (const auto line = lines.receive())
    if (!lines.send(refused.empty() ? answered_by_child(*line) : refused))
      break;
  ::_exit(EXIT_SUCCESS); // nothing to tear down: the GPU is not there
}
