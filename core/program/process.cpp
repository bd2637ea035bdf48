#include "core/program/detail/process.h"

#include <csignal>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace batchscope::program {

Process Process::started(std::shared_ptr<Child> child) {
  Process process;
  process.child_ = std::move(child);
  return process;
}

std::optional<Process> Process::left(pid_t pid) {
  Process process;
  process.ended_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  process.group_ = ProcessGroup::of(pid);
  if (!process.ended_ || !process.group_)
    return std::nullopt;
  return process;
}

std::optional<Exit> Process::poll() {
  if (child_)
    return child_->poll();
  if (!group_)
    return Exit();
  pollfd wait{ended_.get(), POLLIN, 0};
  if (::poll(&wait, 1, 0) <= 0)
    return std::nullopt;
  Exit exit;
  exit.killed_by_us = killed_;
  return exit;
}

int Process::ended_fd() const {
  return child_ ? child_->ended_fd() : ended_.get();
}

void Process::signal(int number) {
  if (child_)
    return child_->signal(number);
  killed_ = killed_ || number == SIGKILL;
  if (group_)
    group_->signal(number);
}

std::optional<ProcessGroup> Process::group() const {
  return child_ ? child_->group() : group_;
}

} // namespace batchscope::program
