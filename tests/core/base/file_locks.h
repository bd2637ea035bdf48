#pragma once

#include <string>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace batchscope::test {

/// Whether a file is locked, as another process finds. SQLite's locks of this process belong to open file descriptions,
/// for which the kernel names no process.
inline bool is_locked_here(const std::string& file) {
  const pid_t child = ::fork();
  if (child == 0) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    const bool asked = descriptor >= 0 && ::fcntl(descriptor, F_GETLK, &lock) == 0;
    ::_exit(asked && lock.l_type != F_UNLCK ? 0 : 1);
  }
  int status = -1;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace batchscope::test
