#include "core/program/child.h"

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

#include "core/program/detail/launch.h"

namespace batchscope::program {

namespace {

std::string new_token() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

} // namespace

Child::Child(const ChildStart& start) : Child(launch(start)) {}

Child::Child(Started started)
    : pid_(started.pid), ended_fd_(static_cast<int>(syscall(SYS_pidfd_open, started.pid, 0))),
      group_(started.pid, std::move(started.token)), oom_kills_at_start_(started.oom_kills) {}

Child::Started Child::launch(const ChildStart& start) {
  Started started{-1, new_token(), detail::kernel_oom_kills()};
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
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
  int status = 0;
  pid_t ended = -1;
  do
    ended = waitpid(pid_, &status, WNOHANG);
  while (ended < 0 && errno == EINTR);
  if (ended == 0)
    return std::nullopt;
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
