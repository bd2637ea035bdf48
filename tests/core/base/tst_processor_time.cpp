#include "core/base/processor_time.h"
#include "test_program.h"

#include <atomic>
#include <cmath>
#include <random>
#include <thread>

#include <QTest>

using namespace batchscope;

namespace {

/// Keeps a processor busy.
class Busy {
public:
  Busy() : thread_([this] { work(); }) {}
  ~Busy() {
    over_ = true;
    thread_.join();
  }

private:
  void work() {
    while (!over_)
      ;
  }
  std::atomic<bool> over_{false};
  std::thread thread_;
};

} // namespace

class TestProcessorTime : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void loseNothingWhileNothingWaits() {
    // It ran a tenth of the time: it waited for a disk or a GPU, which is no disturbance.
    const ProcessorShare share = processor_share({{1, 5, 2}}, {{1, 5.1, 2}}, 1);
    QCOMPARE(share.undisturbed_seconds, 1.0);
    QCOMPARE(share.lost(), 0.0);
    QCOMPARE(processor_share({}, {}, 1).lost(), 0.0);
    QCOMPARE(processor_share({{1, 5, 2}}, {}, 1).seconds, 0.0);
  }

  void losesWhatThreadsWaited() {
    // One thread that waited half of the time.
    QCOMPARE(processor_share({{1, 0, 0}}, {{1, 0.5, 0.5}}, 1).undisturbed_seconds, 0.5);
    // Two that compute together wait for each other: each has lost 0.25, one after the other.
    QCOMPARE(processor_share({{1, 0, 0}, {2, 0, 0}}, {{1, 0.5, 0.25}, {2, 0.5, 0.25}}, 1).undisturbed_seconds, 0.5);
    // And at the same time; each has computed for 0.7.
    QCOMPARE(processor_share({}, {{1, 0.7, 0.3}, {2, 0.7, 0.3}}, 1).undisturbed_seconds, 0.7);
    // A thread that hardly does anything does not count.
    QCOMPARE(processor_share({}, {{1, 0.9, 0}, {2, 0.01, 0.05}}, 1).lost(), 0.0);
  }

  void isWithinTheStretch() {
    std::mt19937 random(1);
    for (int i = 0; i < 1000; ++i) {
      const auto part = [&] { return std::uniform_real_distribution<>(0, 1)(random); };
      std::vector<ThreadTime> begin, end;
      for (std::int64_t id = 1; id <= 1 + static_cast<std::int64_t>(random() % 5); ++id) {
        if (random() % 3 != 0)
          begin.push_back({id, 10 * part(), part()});
        const double ran = part();
        const ThreadTime then = !begin.empty() && begin.back().id == id ? begin.back() : ThreadTime{};
        end.push_back({id, then.ran_seconds + ran, then.waited_seconds + (1 - ran) * part()});
      }
      const ProcessorShare share = processor_share(begin, end, 1);
      QVERIFY(share.undisturbed_seconds >= 0 && share.undisturbed_seconds <= 1);
      QVERIFY(share.lost() >= 0 && share.lost() <= 1);
      QVERIFY(share.undisturbed_seconds >= 1 - share.waited_seconds - 1e-9);
    }
  }

  void seesWhoElseWantsTheProcessors() {
    if (thread_times().empty())
      QSKIP("this system does not count it");
    // More threads than processors: each must wait, and this one is one of them.
    std::vector<std::unique_ptr<Busy>> all;
    for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency(); ++i)
      all.push_back(std::make_unique<Busy>());
    const ProcessorWatch watch;
    QTRY_VERIFY_WITH_TIMEOUT(watch.share().waited_seconds > 0.2, 20'000);
    QVERIFY(watch.share().ran_seconds > 0);
    QVERIFY(thread_times(std::to_string(INT32_MAX)).empty());
  }
};

BATCHSCOPE_TEST(TestProcessorTime)
#include "tst_processor_time.moc"
