#pragma once

#include <string>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace batchscope::test {

/// Whether this process has a POSIX lock on a file, as another process finds.
inline bool is_locked_here(const std::string& file) {
  const pid_t self = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    const bool asked = descriptor >= 0 && ::fcntl(descriptor, F_GETLK, &lock) == 0;
    ::_exit(asked && lock.l_type != F_UNLCK && lock.l_pid == self ? 0 : 1);
  }
  int status = -1;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace batchscope::test
