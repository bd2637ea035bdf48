#include <QCoreApplication>
#include <QTest>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <random>
#include <thread>

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/store/file/detail/process.h"
#include "core/store/run_reader.h"
#include "second_process.h"
#include "store_test.h"
#include "test_events.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::store;
using namespace batchscope::store::test;

namespace {

constexpr std::int64_t max_steps = 200'000;
constexpr std::int64_t steps_per_event = 100;

/// When each step was pushed, by the clock that all processes share; in memory that survives a process.
struct PushTimes {
  std::array<std::atomic<std::int64_t>, max_steps + 1> nanoseconds;
  std::atomic<std::int64_t> last_step;
  std::atomic<std::uint64_t> stored; ///< entries that the store called stored, read before the last step was pushed
};

class SharedTimes {
public:
  explicit SharedTimes(const std::filesystem::path& file) {
    { std::ofstream(file, std::ios::app); }
    std::filesystem::resize_file(file, sizeof(PushTimes));
    stream_ = std::fopen(file.c_str(), "r+");
    memory_ = ::mmap(nullptr, sizeof(PushTimes), PROT_READ | PROT_WRITE, MAP_SHARED, ::fileno(stream_), 0);
  }
  ~SharedTimes() {
    ::munmap(memory_, sizeof(PushTimes));
    std::fclose(stream_);
  }
  SharedTimes(const SharedTimes&) = delete;
  SharedTimes& operator=(const SharedTimes&) = delete;
  PushTimes* operator->() const { return static_cast<PushTimes*>(memory_); }

private:
  std::FILE* stream_ = nullptr;
  void* memory_ = nullptr;
};

std::int64_t nanoseconds_now() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The other process: writes 5 steps in each millisecond and an event now and then. `more` steps after it saw `turns`
// transactions of its store it is killed as by `kill -9`: nothing of it runs any more, least of all the thread that
// writes.
[[noreturn]] void write_until_killed(const std::filesystem::path& file, int turns, std::int64_t more) {
  const SharedTimes times(file.string() + ".times");
  RunStore store(file);
  auto run = store.begin(new_run("killed"));
  const auto start = std::chrono::steady_clock::now();
  int turns_seen = 0;
  std::int64_t last = max_steps;
  for (std::int64_t step = 1;; ++step) {
    std::this_thread::sleep_until(start + std::chrono::microseconds(200) * step);
    if (const std::uint64_t stored = store.backlog().stored; stored != times->stored) {
      times->stored = stored;
      ++turns_seen;
    }
    if (turns_seen >= turns)
      last = std::min(last, step + more);
    times->nanoseconds[static_cast<std::size_t>(step)] = nanoseconds_now();
    times->last_step = step;
    run->sink().record(record_at(step));
    if (step % steps_per_event == 0)
      run->sink().event(event_of(step, 0, "note"));
    if (step == last)
      std::raise(SIGKILL);
  }
}

} // namespace

/// A process that is killed in the middle of writing.
class TestKill : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void only_what_was_not_stored_yet_is_missing_data();
  void only_what_was_not_stored_yet_is_missing();
  void tells_processes_apart();
  void what_cannot_be_told_is_not_gone();
  void identities_come_back_from_their_text();
};

void TestKill::only_what_was_not_stored_yet_is_missing_data() {
  QTest::addColumn<int>("turns");
  QTest::addColumn<qlonglong>("more");
  std::mt19937 random(3);
  for (int turns = 0; turns < 6; ++turns) {
    const auto more = static_cast<qlonglong>(random() % 1250); // within a quarter of a second
    QTest::addRow("%d transactions and %lld steps", turns, more) << turns << more;
  }
}

void TestKill::only_what_was_not_stored_yet_is_missing() {
  QFETCH(int, turns);
  QFETCH(qlonglong, more);
  QVERIFY(StoreOptions{}.interval <= std::chrono::milliseconds(500)); // so that it is at most about a second
  const Folder folder;
  const SharedTimes times(folder.file().string() + ".times");
  QCOMPARE(SecondProcess({"--write-until-killed", folder.file().string(), std::to_string(turns), std::to_string(more)})
               .wait(),
           128 + SIGKILL);
  const std::int64_t last = times->last_step;
  QVERIFY(last > more && last < max_steps); // it saw that many transactions

  const auto stored = [&] {
    const RunReader reader(folder.file());
    const auto names = reader.series_names(1);
    return names.empty() ? std::vector<Point>{} : reader.series(1, "loss");
  };
  { // Readers see at once that its process is gone, and change nothing about it.
    const RunReader reader(folder.file());
    QCOMPARE(reader.check(), std::vector<std::string>{});
    QCOMPARE(reader.run(1).outcome.status, telemetry::RunStatus::interrupted);
    QCOMPARE(reader.list("status = interrupted").size(), std::size_t(1));
    QCOMPARE(reader.run(1).outcome.steps, static_cast<std::int64_t>(stored().size()));
  }
  const auto points = stored();
  for (std::size_t i = 0; i < points.size(); ++i)
    QCOMPARE(points[i].step, static_cast<std::int64_t>(i) + 1);
  QVERIFY(points.size() + points.size() / steps_per_event >= times->stored);
  if (points.size() < static_cast<std::size_t>(last)) {
    const std::int64_t first_missing = times->nanoseconds[points.size() + 1];
    const std::int64_t killed = times->nanoseconds[static_cast<std::size_t>(last)];
    const auto missing_seconds = static_cast<double>(killed - first_missing) / 1e9; // longer where the disk is slow
    qInfo("%lld steps, the last %.3f s are missing", static_cast<qlonglong>(last), missing_seconds);
  }
  // The next writer marks it, and the file is good for more.
  RunStore store(folder.file());
  auto run = store.begin(new_run("next"));
  run->sink().record(record_at(1));
  run->finish(outcome(telemetry::RunStatus::finished));
  const RunReader reader(folder.file());
  QCOMPARE(reader.run(1).outcome.status, telemetry::RunStatus::interrupted);
  QCOMPARE(reader.run(run->id()).outcome.status, telemetry::RunStatus::finished);
  QCOMPARE(reader.check(), std::vector<std::string>{});
}

void TestKill::tells_processes_apart() {
  using store::detail::is_gone;
  const store::detail::ProcessIdentity self = store::detail::this_process();
  QVERIFY(self.pid == ::getpid() && self.started > 0 && !self.boot.empty());
  QVERIFY(!is_gone(self));
  auto other = self;
  other.started += 1; // its number is in use again
  QVERIFY(is_gone(other));
  other = self;
  other.boot = "another";
  QVERIFY(is_gone(other));
  other.host = "another machine";
  QVERIFY(!is_gone(other));
  // A process that ended and whose parent has not asked about it yet is gone, too.
  const pid_t child = ::fork();
  if (child == 0)
    ::_exit(0);
  siginfo_t info{};
  QCOMPARE(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  other = self;
  other.pid = child;
  QVERIFY(is_gone(other));
  QCOMPARE(::waitpid(child, nullptr, 0), child);
  QVERIFY(is_gone(other));
}

void TestKill::what_cannot_be_told_is_not_gone() {
  using store::detail::is_gone;
  const store::detail::ProcessIdentity self = store::detail::this_process();
  QVERIFY(!self.pids.empty());
  auto other = self;
  other.pid = 999'999'999; // above every number that a kernel gives
  QVERIFY(is_gone(other));
  other.pids = "pid:[1]"; // a container's, whose numbers are not ours
  QVERIFY(!is_gone(other));
  other.boot = "another"; // but that it is from before the boot is sure
  QVERIFY(is_gone(other));
  other.boot.clear();
  QVERIFY(!is_gone(other));
  other = self;
  other.pids.clear(); // as it was written first
  QVERIFY(!is_gone(other));
  other.pid = 999'999'999;
  QVERIFY(is_gone(other));
  other = self;
  other.pid = ::getppid(); // is there, and when it was started is not known
  other.started = 0;
  QVERIFY(!is_gone(other));

  other = self;
  {
    const store::detail::OpenStore open;
    other.store = open.number();
    QVERIFY(!is_gone(other));
  }
  QVERIFY(is_gone(other)); // its process lives, but it does not
}

void TestKill::identities_come_back_from_their_text() {
  using store::detail::ProcessIdentity;
  ProcessIdentity identity = store::detail::this_process();
  identity.store = 12;
  ProcessIdentity read = identity;
  store::detail::set_boot_text(read, store::detail::boot_text(identity));
  QVERIFY(read == identity);
  identity.pids.clear();
  store::detail::set_boot_text(read, store::detail::boot_text(identity));
  QVERIFY(read == identity);
  store::detail::set_boot_text(read, identity.boot); // as it was written first
  identity.store = 0;
  QVERIFY(read == identity);
}

static int write_until_killed(int count, char** arguments) {
  if (count == 5 && std::string(arguments[1]) == "--write-until-killed")
    write_until_killed(arguments[2], std::atoi(arguments[3]), std::atoll(arguments[4]));
  return -1;
}

BATCHSCOPE_TEST(TestKill, write_until_killed)
#include "tst_kill.moc"
