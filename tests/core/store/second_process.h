#pragma once

#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QCoreApplication>

#include "test_program.h"

namespace batchscope::store::test {

using batchscope::test::name_of_tests;

/// This file of tests started once more with other arguments, as a process of its own, which TestFile::before then
/// runs. Not a QProcess: the thread sanitizer takes its way of starting one for a fork, after which it allows no
/// threads.
class SecondProcess {
public:
  explicit SecondProcess(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {QCoreApplication::applicationFilePath().toStdString(), name_of_tests()});
    std::vector<char*> pointers;
    for (std::string& argument : arguments)
      pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    if (::posix_spawn(&process_, pointers.front(), nullptr, nullptr, pointers.data(), environ) != 0)
      qFatal("a second process could not be started");
  }
  ~SecondProcess() {
    if (process_ > 0)
      wait();
  }
  SecondProcess(const SecondProcess&) = delete;
  SecondProcess& operator=(const SecondProcess&) = delete;

  void kill() { ::kill(process_, SIGKILL); }
  /// Its exit status; 128 and the signal's number where one ended it.
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(process_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

private:
  pid_t process_ = 0;
};

} // namespace batchscope::store::test
