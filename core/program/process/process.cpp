#include "core/program/process/detail/process.h"

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

Process Process::left(ProcessGroup group) {
  Process process;
  process.ended_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, group.leader(), 0)));
  if (!group.leader_lives()) // looked at after the descriptor was made: the number may be another process's
    process.ended_ = Descriptor();
  process.group_ = std::move(group);
  return process;
}

std::optional<Exit> Process::poll() {
  if (child_)
    return child_->poll();
  pollfd wait{ended_.get(), POLLIN, 0};
  if (ended_ && ::poll(&wait, 1, 0) <= 0)
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
  if (child_)
    return child_->group();
  return ended_ ? group_ : std::nullopt;
}

} // namespace batchscope::program
