#include "core/base/process_file.h"

#include <QTest>

#include <csignal>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/saturated.h"
#include "test_program.h"

using namespace batchscope;

namespace {

/// A process that waits until its input ends, under a name that looks like other fields of /proc/PID/stat.
class NamedProcess {
public:
  NamedProcess() {
    if (::pipe(input_) != 0 || ::pipe(output_) != 0)
      return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(input_[1]);
      ::prctl(PR_SET_NAME, ") Z 1 2 (3)");
      char byte = 0;
      if (::write(output_[1], &byte, 1) == 1)
        while (::read(input_[0], &byte, 1) > 0)
          ;
      ::_exit(0);
    }
    char ready = 0;
    named_ = ::read(output_[0], &ready, 1) == 1;
  }
  ~NamedProcess() {
    take_note();
    for (const int end : {input_[0], input_[1], output_[0], output_[1]})
      ::close(end);
  }
  NamedProcess(const NamedProcess&) = delete;
  NamedProcess& operator=(const NamedProcess&) = delete;

  bool named() const { return named_; }
  std::string number() const { return std::to_string(pid_); }
  /// Ends it, but leaves it for its parent to take note of.
  bool end() const {
    siginfo_t info{};
    return ::kill(pid_, SIGKILL) == 0 && ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) == 0;
  }
  void take_note() {
    if (pid_ > 0 && end())
      ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

private:
  int input_[2]{-1, -1}, output_[2]{-1, -1};
  pid_t pid_ = 0;
  bool named_ = false;
};

} // namespace

class TestProcessFile : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void self() {
    const auto stat = process_stat("self");
    QVERIFY(stat.has_value());
    QCOMPARE(stat->parent, ::getppid());
    QCOMPARE(stat->session, ::getsid(0));
    QVERIFY(stat->started > 0);
    QVERIFY(!stat->has_ended());
    QVERIFY(process_bytes("self", "status", "VmHWM:").value_or(0) >= 1'000'000);
    QVERIFY(!process_bytes("self", "status", "VmNone:").has_value());
    QVERIFY(process_file("self", "environ").find("PATH=") != std::string::npos);
  }

  /// The name of a program may have parentheses and look like a state.
  void namedLikeOtherFields() {
    NamedProcess process;
    QVERIFY(process.named());
    const auto running = process_stat(process.number());
    QVERIFY(running.has_value());
    QCOMPARE(running->parent, ::getpid());
    QVERIFY(!running->has_ended());
    QVERIFY(process.end());
    const auto ended = process_stat(process.number());
    QVERIFY(ended.has_value() && ended->has_ended());
    QCOMPARE(ended->started, running->started);
  }

  void gone() {
    NamedProcess process;
    const std::string number = process.number();
    process.take_note();
    QVERIFY(!process_stat(number).has_value());
    QVERIFY(process_file(number, "environ").empty());
    QVERIFY(!process_bytes(number, "status", "VmHWM:").has_value());
  }

  void saturates() {
    constexpr std::int64_t most = INT64_MAX;
    QCOMPARE(saturated_product(3, -4), std::int64_t{-12});
    QCOMPARE(saturated_product(most, 1), most);
    QCOMPARE(saturated_product(most / 2 + 1, 2), most);
    QCOMPARE(saturated_product(-most, -2), most);
    QCOMPARE(saturated_product(most, -2), INT64_MIN);
  }
};

BATCHSCOPE_TEST(TestProcessFile)
#include "tst_process_file.moc"
