#include <QElapsedTimer>
#include <QTest>

#include <random>
#include <vector>

#include "core/base/error.h"
#include "core/predict/reserve.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::predict;

namespace {

constexpr std::uint64_t mib = 1 << 20;
constexpr std::uint64_t plenty = std::uint64_t{1} << 40;

/// Allocates (positive) and frees (the number of the allocation, negative from -1).
telemetry::Trace trace_of(const std::vector<std::int64_t>& events) {
  telemetry::Trace trace;
  std::uint32_t blocks = 0;
  for (const std::int64_t event : events) {
    if (event > 0)
      trace.events.push_back({blocks++, true, telemetry::Phase::forward, static_cast<std::uint64_t>(event)});
    else
      trace.events.push_back({static_cast<std::uint32_t>(-event - 1), false, telemetry::Phase::forward, 0});
  }
  return trace;
}

} // namespace

/// LibTorch's CUDA caching allocator, asked without a GPU. What is expected is its documented policy: blocks of
/// multiples of 512 bytes; up to 1 MiB from segments of 2 MiB, up to 10 MiB from segments of 20 MiB, larger ones from
/// segments rounded up to 2 MiB; freed segments are kept.
class TestReserve : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void initTestCase() {
    qunsetenv("PYTORCH_ALLOC_CONF");
    qunsetenv("PYTORCH_CUDA_ALLOC_CONF");
    try {
      reserve(trace_of({}), plenty);
    } catch (const Error& error) {
      if (error.kind() != Error::Kind::unavailable)
        throw;
      QSKIP("this torch was built without CUDA");
    }
  }

  void followsThePolicy_data() {
    QTest::addColumn<QList<qint64>>("events");
    QTest::addColumn<quint64>("reserved");
    QTest::addColumn<quint64>("allocated");
    using Events = QList<qint64>;
    QTest::newRow("nothing") << Events{} << quint64{0} << quint64{0};
    QTest::newRow("one byte") << Events{1} << quint64{2 * mib} << quint64{512};
    QTest::newRow("two small ones share") << Events{1000, 1000} << quint64{2 * mib} << quint64{2048};
    QTest::newRow("medium") << Events{2 * mib} << quint64{20 * mib} << quint64{2 * mib};
    QTest::newRow("large") << Events{11 * mib + 1} << quint64{12 * mib}
                           << quint64{12 * mib}; // a rest below 1 MiB stays with the block
    QTest::newRow("used again") << Events{12 * mib, -1, 12 * mib} << quint64{12 * mib} << quint64{12 * mib};
    QTest::newRow("too small to be used again")
        << Events{12 * mib, -1, 40 * mib} << quint64{52 * mib} << quint64{40 * mib};
  }
  void followsThePolicy() {
    QFETCH(QList<qint64>, events);
    QFETCH(quint64, reserved);
    QFETCH(quint64, allocated);
    const Reserve found = reserve(trace_of({events.begin(), events.end()}), plenty);
    QVERIFY(found.fits);
    QCOMPARE(found.reserved_bytes, reserved);
    QCOMPARE(found.allocated_bytes, allocated);
    QVERIFY(found.message.empty());
  }

  void runsOutOfMemory() {
    const telemetry::Trace trace = trace_of({30 * static_cast<std::int64_t>(mib), 30 * static_cast<std::int64_t>(mib)});
    QVERIFY(reserve(trace, 60 * mib).fits);
    const Reserve found = reserve(trace, 60 * mib - 1);
    QVERIFY(!found.fits);
    QCOMPARE(found.reserved_bytes, 30 * mib);
    QVERIFY2(found.message.starts_with("CUDA out of memory. Tried to allocate 30.00 MiB"), found.message.c_str());
  }

  /// Kept segments are given back before a request is refused.
  void givesBackBeforeItRefuses() {
    const auto m = static_cast<std::int64_t>(mib);
    QVERIFY(reserve(trace_of({12 * m, -1, 40 * m}), 40 * mib).fits);
  }

  void countsAMillionEvents() {
    std::mt19937 random(1);
    telemetry::Trace trace;
    std::vector<std::uint32_t> live;
    std::uint32_t blocks = 0;
    while (trace.events.size() < 1'000'000) {
      if (live.size() < 100 || (live.size() < 2000 && random() % 2 == 0)) {
        live.push_back(blocks);
        trace.events.push_back({blocks++, true, telemetry::Phase::forward, 1 + random() % 3'000'000});
      } else {
        std::swap(live[random() % live.size()], live.back());
        trace.events.push_back({live.back(), false, telemetry::Phase::forward, 0});
        live.pop_back();
      }
    }
    QElapsedTimer timer;
    timer.start();
    const Reserve found = reserve(trace, plenty);
    qInfo("1,000,000 events in %lld ms, %.1f %% unused", timer.elapsed(), 100 * found.fragmentation());
    QVERIFY(found.fits);
    QVERIFY(found.allocated_bytes < found.reserved_bytes);
    QVERIFY(found.fragmentation() < 0.5);
  }
};

BATCHSCOPE_TEST(TestReserve)
#include "tst_reserve.moc"
