#include <QTest>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/program/process/child.h"
#include "test_program.h"
#include "tests/core/program/programs.h"

using namespace batchscope;
using namespace batchscope::program;
using batchscope::test::patience;
using batchscope::test::Programs;
using batchscope::test::wait_for;

namespace {

/// A number that the program has written as the first line of its output.
pid_t number_in(const std::string& output) {
  pid_t number = 0;
  const auto [end, error] = std::from_chars(output.data(), output.data() + output.size(), number);
  return error == std::errc() && end != output.data() + output.size() && *end == '\n' ? number : 0;
}

/// As /proc has it; `-` if there is no such process.
char state_of(pid_t pid) {
  std::ifstream stream("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(stream, text);
  const std::size_t name_end = text.rfind(')');
  return name_end == std::string::npos ? '-' : text[name_end + 2];
}

bool lives(pid_t pid) {
  return state_of(pid) != '-' && state_of(pid) != 'Z';
}

/// Forks twice with a session of its own, as daemons do, and writes the number of the daemon.
constexpr const char* daemonize = R"(
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print(os.getpid(), flush=True)
        time.sleep(1000)
    os._exit(0)
os.wait()
)";

std::string refusal(const ChildStart& start) {
  try {
    Child child(start);
  } catch (const Error& error) {
    return error.kind() == Error::Kind::input ? error.what() : "";
  }
  return "";
}

} // namespace

class TestChild : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void exitStatus() {
    const Programs programs;
    for (const int status : {0, 1, 77, 255}) {
      Child child(programs.shell("exit " + std::to_string(status)));
      const Exit exit = wait_for(child);
      QCOMPARE(exit.code, std::optional(status));
      QVERIFY(!exit.signal);
      QVERIFY(!exit.killed_by_us);
    }
  }

  void endBySignal() {
    const Programs programs;
    for (const int number : {SIGKILL, SIGSEGV, SIGTERM}) {
      Child child(programs.shell("kill -" + std::to_string(number) + " $$"));
      const Exit exit = wait_for(child);
      QCOMPARE(exit.signal, std::optional(number));
      QVERIFY(!exit.code);
      QVERIFY(!exit.killed_by_us);
    }
  }

  void endIsSeenByDescriptor() {
    const Programs programs;
    Child child(programs.shell("exit 3"));
    pollfd waiting{child.ended_fd(), POLLIN, 0};
    QCOMPARE(::poll(&waiting, 1, patience), 1);
    QCOMPARE(child.poll().value().code, std::optional(3));
    QCOMPARE(child.poll().value().code, std::optional(3)); // reaped once, known for ever
  }

  void bothOutputsInTheFile() {
    const Programs programs;
    ChildStart start = programs.shell("echo to stdout; echo to stderr >&2; cat; pwd; echo \"$SOME\"");
    start.folder = programs.path("folder");
    std::filesystem::create_directory(start.folder);
    start.environment = {{"SOME", "value with spaces"}};
    {
      Child child(start);
      QCOMPARE(wait_for(child).code, std::optional(0)); // stdin is at its end, so cat does not wait
    }
    QCOMPARE(programs.output(), "to stdout\nto stderr\n" + start.folder.string() + "\nvalue with spaces\n");
    const auto permissions = std::filesystem::status(programs.path("output")).permissions();
    QVERIFY(permissions == (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  }

  void environmentOfAnOuterProgramIsNotPassedOn() {
    const Programs programs;
    ChildStart start = programs.shell("echo \"[$BATCHSCOPE_SOCKET][$BATCHSCOPE_RUN][$PYTHONUNBUFFERED]\"");
    start.environment = {{"BATCHSCOPE_RUN", "mine"}};
    qputenv("BATCHSCOPE_SOCKET", "/of/the/outer/run");
    qunsetenv("PYTHONUNBUFFERED");
    {
      Child child(start);
      wait_for(child);
    }
    qunsetenv("BATCHSCOPE_SOCKET");
    QCOMPARE(programs.output(), std::string("[][mine][1]\n"));
  }

  void tunablesOfTheUserStay() {
    const Programs programs;
    ChildStart start = programs.shell("echo $GLIBC_TUNABLES");
    start.environment = {{"GLIBC_TUNABLES", "glibc.malloc.arena_max=2"}};
    start.returns_freed_memory = true;
    {
      Child child(start);
      wait_for(child);
    }
    QCOMPARE(programs.output(), std::string("glibc.malloc.mmap_threshold=131072:glibc.malloc.hugetlb=1:"
                                            "glibc.malloc.arena_max=1:glibc.malloc.arena_max=2\n"));
  }

  void descriptorsAndSignalsAreClean() {
    const Programs programs;
    const int leaked = fcntl(STDERR_FILENO, F_DUPFD, 100); // as a library opens one, without O_CLOEXEC
    signal(SIGUSR1, SIG_IGN);
    {
      Child child(programs.python("import os, signal\n"
                                  "print(max(int(fd) for fd in os.listdir('/proc/self/fd')) < 100)\n"
                                  "print(signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL,"
                                  " signal.pthread_sigmask(signal.SIG_BLOCK, []))\n"
                                  "print(os.getsid(0) == os.getpid() == os.getpgid(0))"));
      QCOMPARE(wait_for(child).code, std::optional(0));
    }
    signal(SIGUSR1, SIG_DFL);
    close(leaked);
    QCOMPARE(programs.output(), std::string("True\nTrue set()\nTrue\n"));
  }

  void wrongStarts() {
    const Programs programs;
    QCOMPARE(refusal(programs.start({"no-such-program-of-batchscope"})),
             std::string("no program \"no-such-program-of-batchscope\" in PATH"));
    QCOMPARE(refusal(programs.start({"/no/such/program"})), std::string("no program \"/no/such/program\""));
    QVERIFY(refusal(programs.start({})).starts_with("the command is empty"));

    std::ofstream(programs.path("train.py")) << "print(1)\n";
    ChildStart start = programs.start({"./train.py"});
    start.folder = programs.path();
    QVERIFY(refusal(start).find("cannot be executed") != std::string::npos);
    std::filesystem::permissions(programs.path("train.py"), std::filesystem::perms::owner_all);
    QVERIFY(refusal(start).find("#!/usr/bin/env python3") != std::string::npos);

    start = programs.shell("true");
    start.folder = programs.path("missing");
    QCOMPARE(refusal(start), "--cwd: no folder \"" + programs.path("missing").string() + "\"");
    start = programs.shell("true");
    start.output = programs.path("missing") / "output";
    QVERIFY(refusal(start).starts_with("cannot write the program's output"));
  }

  /// A path with a slash is one of the folder in which the program runs.
  void commandInItsFolder() {
    const Programs programs;
    std::ofstream(programs.path("train.sh")) << "#!/bin/sh\necho here\n";
    std::filesystem::permissions(programs.path("train.sh"), std::filesystem::perms::owner_all);
    ChildStart start = programs.start({"./train.sh"});
    start.folder = programs.path();
    {
      Child child(start);
      QCOMPARE(wait_for(child).code, std::optional(0));
    }
    QCOMPARE(programs.output(), std::string("here\n"));
  }

  void daemonIsEndedWithItsProgram() {
    const Programs programs;
    pid_t daemon = 0;
    {
      Child child(programs.python(daemonize));
      QCOMPARE(wait_for(child).code, std::optional(0));
      QTRY_VERIFY_WITH_TIMEOUT((daemon = number_in(programs.output())), patience);
      QVERIFY(lives(daemon));
      QCOMPARE(child.group().members(), std::vector<pid_t>{daemon});
    }
    QVERIFY(!lives(daemon));
  }

  /// Only what the program started is its group, not other programs of this process.
  void otherProgramsAreLeftAlone() {
    const Programs programs;
    const Programs others;
    Child other(others.python(daemonize));
    wait_for(other);
    pid_t daemon = 0;
    QTRY_VERIFY_WITH_TIMEOUT((daemon = number_in(others.output())), patience);
    {
      Child child(programs.shell("sleep 1000 & echo $!; wait"));
      pid_t sleeper = 0;
      QTRY_VERIFY_WITH_TIMEOUT((sleeper = number_in(programs.output())), patience);
      QCOMPARE(child.group().members(), (std::vector<pid_t>{child.pid(), sleeper}));
    }
    QVERIFY(lives(daemon));
  }

  void signalsReachAllProcesses() {
    const Programs programs;
    Child child(programs.shell("sleep 1000 & echo $!; wait"));
    pid_t sleeper = 0;
    QTRY_VERIFY_WITH_TIMEOUT((sleeper = number_in(programs.output())), patience);
    child.signal(SIGSTOP);
    QTRY_COMPARE_WITH_TIMEOUT(state_of(child.pid()), 'T', patience);
    QTRY_COMPARE_WITH_TIMEOUT(state_of(sleeper), 'T', patience);
    QVERIFY(!child.poll()); // it has stopped, not ended
    child.signal(SIGCONT);
    QTRY_VERIFY_WITH_TIMEOUT(state_of(child.pid()) != 'T', patience);
    QTRY_VERIFY_WITH_TIMEOUT(state_of(sleeper) != 'T', patience);
    child.signal(SIGTERM);
    QCOMPARE(wait_for(child).signal, std::optional(SIGTERM));
    QTRY_VERIFY_WITH_TIMEOUT(!lives(sleeper), patience);
  }

  void stoppedProgramIsEnded() {
    const Programs programs;
    pid_t pid = 0;
    {
      Child child(programs.shell("echo 1; exec sleep 1000"));
      pid = child.pid();
      QTRY_COMPARE_WITH_TIMEOUT(programs.output(), std::string("1\n"), patience);
      child.signal(SIGSTOP);
      QTRY_COMPARE_WITH_TIMEOUT(state_of(pid), 'T', patience);
    }
    QCOMPARE(state_of(pid), '-'); // reaped
  }

  void ignoringTheSignalToEnd() {
    const Programs programs;
    Child child(programs.shell("trap '' TERM; echo 1; while :; do sleep 0.01; done"));
    QTRY_COMPARE_WITH_TIMEOUT(programs.output(), std::string("1\n"), patience);
    child.signal(SIGTERM);
    child.signal(SIGKILL);
    const Exit exit = wait_for(child);
    QCOMPARE(exit.signal, std::optional(SIGKILL));
    QVERIFY(exit.killed_by_us);
  }

  void programIsLeft() {
    const Programs programs;
    ChildStart start = programs.shell("exec sleep 1000");
    start.token = "of-this-test";
    pid_t pid = 0;
    std::uint64_t started = 0;
    {
      Child child(start);
      pid = child.pid();
      started = child.group().started();
      child.leave();
    }
    QVERIFY(lives(pid));
    // As another BatchScope finds it; while it is within exec(), a process has no environment.
    std::optional<ProcessGroup> group;
    const auto found = [&] { return (group = ProcessGroup::find("of-this-test")).has_value(); };
    QTRY_VERIFY_WITH_TIMEOUT(found(), patience);
    QVERIFY(group->leader_lives());
    QCOMPARE(group->leader(), pid);
    QVERIFY(!ProcessGroup(pid, started + 1, "of-another").leader_lives());
    QCOMPARE(ProcessGroup(pid, started + 1, "of-another").members(), std::vector<pid_t>());
    QCOMPARE(ProcessGroup(pid, started, {}).members(), std::vector<pid_t>{pid});
    group->signal(SIGKILL);
    QTRY_VERIFY_WITH_TIMEOUT(group->members().empty(), patience);
    QVERIFY(!ProcessGroup::find("of-this-test"));
  }

  /// A new file gets the number of a stream that is closed.
  void closedStandardStream() {
    const Programs programs;
    const int input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 100);
    close(STDIN_FILENO);
    Exit exit;
    {
      Child child(programs.shell("echo printed; cat; exit 4"));
      exit = wait_for(child);
    }
    dup2(input, STDIN_FILENO);
    close(input);
    QCOMPARE(exit.code, std::optional(4));
    QCOMPARE(programs.output(), std::string("printed\n"));
  }

  /// As whoever starts this process may leave it.
  void signalOfChildrenIgnored() {
    const Programs programs;
    signal(SIGCHLD, SIG_IGN);
    {
      Child child(programs.shell("exit 4"));
      QCOMPARE(wait_for(child).code, std::optional(4));
    }
    {
      Child child(programs.shell("exit 4"));
      signal(SIGCHLD, SIG_IGN);
      const Exit exit = wait_for(child); // nobody knows how
      QVERIFY(!exit.code || exit.code == 4);
      QVERIFY(!exit.signal);
    }
    signal(SIGCHLD, SIG_DFL);
  }

  /// What leaves its program's session, its parent and its environment behind is known while its program lives.
  void processWithoutEnvironmentIsEnded() {
    const Programs programs;
    pid_t other = 0;
    {
      Child child(programs.shell("env -i sleep 1000 & echo $!; exit 0"));
      QCOMPARE(wait_for(child).code, std::optional(0));
      other = number_in(programs.output());
      QVERIFY(other > 0);
    }
    QVERIFY(!lives(other));
  }

  void limitIsTheProgramsOnly() {
    const Programs programs;
    ChildStart start = programs.python("import resource; print(resource.getrlimit(resource.RLIMIT_DATA)[0])");
    start.data_limit = 1 << 30;
    {
      Child child(start);
      QCOMPARE(wait_for(child).code, std::optional(0));
    }
    QCOMPARE(programs.output(), std::string("1073741824\n"));
  }

  /// Programs are started while other threads allocate and start programs too.
  void startedByManyThreads() {
    const Programs programs;
    std::atomic<int> good{0};
    std::vector<std::thread> threads;
    for (int number = 0; number < 4; ++number)
      threads.emplace_back([&, number] {
        for (int repeat = 0; repeat < 5; ++repeat) {
          ChildStart start = programs.shell("exit 5");
          start.output = programs.path("output" + std::to_string(number));
          Child child(start);
          pollfd waiting{child.ended_fd(), POLLIN, 0};
          if (::poll(&waiting, 1, patience) == 1 && child.poll().value_or(Exit()).code == 5)
            ++good;
        }
      });
    for (std::thread& thread : threads)
      thread.join();
    QCOMPARE(good.load(), 20);
  }
};

BATCHSCOPE_TEST(TestChild)
#include "tst_child.moc"
