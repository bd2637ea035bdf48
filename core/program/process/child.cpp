#include "core/program/process/child.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "core/program/process/detail/launch.h"

namespace batchscope::program {

namespace {

std::string new_token() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

/// Restores the default action of SIGCHLD. The parent of this process may have left it ignored; the system then forgets
/// how a child has ended.
void keep_exit_statuses() {
  struct sigaction action {};
  if (sigaction(SIGCHLD, nullptr, &action) != 0 || action.sa_handler != SIG_IGN)
    return;
  action.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &action, nullptr);
}

/// Whether a child has ended, which stays to be reaped.
bool has_ended(pid_t pid) {
  siginfo_t info{};
  int result = 0;
  do
    result = waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT);
  while (result != 0 && errno == EINTR);
  return result != 0 || info.si_pid != 0; // another part of this process may have reaped it
}

} // namespace

Child::Child(const ChildStart& start) : Child(launch(start)) {}

Child::Child(Started started)
    : pid_(started.pid), ended_fd_(static_cast<int>(syscall(SYS_pidfd_open, started.pid, 0))),
      group_(started.pid, std::move(started.token)), oom_kills_at_start_(started.oom_kills) {}

Child::Started Child::launch(const ChildStart& start) {
  Started started{-1, start.token.empty() ? new_token() : start.token, detail::kernel_oom_kills()};
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  keep_exit_statuses();
  started.pid = detail::launch(start, started.token);
  return started;
}

Child::~Child() {
  // poll() or the loop below reaps the process itself.
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (!left_ && std::chrono::steady_clock::now() < give_up) {
    group_.signal(SIGKILL);
    if (poll() && group_.members().empty())
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (ended_fd_ >= 0)
    close(ended_fd_);
}

std::optional<Exit> Child::poll() {
  if (exit_)
    return exit_;
  if (!has_ended(pid_))
    return std::nullopt;
  group_.members(); // what it leaves behind is of its session, whose number nobody else has yet
  int status = 0;
  pid_t ended = -1;
  do
    ended = waitpid(pid_, &status, WNOHANG);
  while (ended < 0 && errno == EINTR);
  Exit exit;
  if (ended == pid_ && WIFSIGNALED(status))
    exit.signal = WTERMSIG(status);
  else if (ended == pid_ && WIFEXITED(status))
    exit.code = WEXITSTATUS(status);
  exit.killed_by_us = killed_;
  exit.kernel_oom = detail::kernel_oom_kills() > oom_kills_at_start_;
  exit_ = exit;
  return exit_;
}

void Child::signal(int number) {
  killed_ = killed_ || number == SIGKILL;
  group_.signal(number);
}

} // namespace batchscope::program
