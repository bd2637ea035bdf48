#include <QTest>

#include <numeric>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include "core/base/error.h"
#include "core/memory/detail/budget_allocator.h"
#include "core/memory/detail/torch_errors.h"
#include "core/memory/device.h"
#include "test_program.h"

using namespace batchscope;
using memory::open_device;

namespace {

constexpr std::uint64_t budget = 64 << 20;

at::Tensor bytes(std::int64_t count) {
  return at::empty({count}, at::kByte);
}

} // namespace

/// What every device promises: exact readings, a real error above the limit, and back to the baseline after it.
class TestCpuDevice : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void countsWhatIsAlive() {
    const auto device = open_device("cpu", budget);
    const std::uint64_t before = device->readings().in_use;
    {
      const at::Tensor a = bytes(1000);
      const at::Tensor b = bytes(1 << 20);
      QCOMPARE(device->readings().in_use, before + 1024 + (1 << 20)); // sizes count in multiples of 64
    }
    QCOMPARE(device->readings().in_use, before);
    QCOMPARE(device->readings().peak, before + 1024 + (1 << 20));
    device->reset_peak();
    QCOMPARE(device->readings().peak, before);
  }

  void knowsWhatThePeakWasUsedFor() {
    using telemetry::Use;
    const auto device = open_device("cpu", budget);
    const auto peak_of = [&](Use use) { return (*device->readings().peak_by)[static_cast<std::size_t>(use)]; };
    device->reset_peak();
    const std::uint64_t workspace = peak_of(Use::workspace);
    const std::uint64_t gradients = peak_of(Use::gradients);
    device->enter(telemetry::Phase::forward);
    at::Tensor activation = bytes(4 << 20);
    device->enter(telemetry::Phase::backward);
    const at::Tensor gradient = bytes(2 << 20);
    { const at::Tensor scratch = bytes(1 << 20); } // the peak
    activation.reset();
    const at::Tensor later = bytes(3 << 20); // a gradient that was not there at the peak
    device->retag(gradient.storage().data(), Use::gradients);
    device->retag(later.storage().data(), Use::gradients);
    QCOMPARE(peak_of(Use::activations), std::uint64_t{4 << 20});
    QCOMPARE(peak_of(Use::gradients), gradients + (2 << 20));
    QCOMPARE(peak_of(Use::workspace), workspace + (1 << 20));
    const auto all = *device->readings().peak_by;
    QCOMPARE(std::accumulate(all.begin(), all.end(), std::uint64_t{0}), device->readings().peak);
    device->enter(telemetry::Phase::setup);
  }

  void keepsFreedBlocksAndGivesThemBackBeforeItRefuses() {
    const auto device = open_device("cpu", budget);
    const std::uint64_t before = device->readings().in_use;
    { const at::Tensor a = bytes(40 << 20); }
    QVERIFY(device->readings().reserved >= before + (40 << 20));
    // Not the kept block's size: only possible once that one is gone.
    const at::Tensor b = bytes((40 << 20) + 64);
    QVERIFY(device->readings().reserved <= budget);
    QCOMPARE(device->readings().refused, std::uint64_t{0});
    device->release_cache();
    QCOMPARE(device->readings().reserved, device->readings().in_use);
  }

  void refusesExactlyAboveTheLimit() {
    const auto device = open_device("cpu", budget);
    const auto room = static_cast<std::int64_t>(budget - device->readings().in_use);
    { const at::Tensor all = bytes(room); }
    const std::uint64_t before = device->readings().in_use;
    bool refused = false;
    try {
      const at::Tensor more = bytes(room + 1);
    } catch (const c10::OutOfMemoryError& error) {
      refused = memory::is_out_of_memory(error, true);
    }
    QVERIFY(refused);
    QCOMPARE(device->readings().in_use, before);
    QCOMPARE(device->readings().refused, std::uint64_t{1});
    const auto info = device->take_last_oom();
    QVERIFY(info.has_value());
    QCOMPARE(info->requested, static_cast<std::uint64_t>((room + 1 + 63) / 64 * 64));
    QCOMPARE(info->limit, budget);
    QVERIFY(!device->take_last_oom().has_value());
  }

  void tellsWhatTheMemoryIsFor() {
    const auto device = open_device("cpu", budget);
    device->enter(telemetry::Phase::forward);
    const at::Tensor activation = bytes(4096);
    device->enter(telemetry::Phase::backward);
    const at::Tensor gradient = bytes(8192);
    device->retag(gradient.storage().data(), telemetry::Use::gradients);
    QVERIFY_EXCEPTION_THROWN(bytes(2 * budget), c10::OutOfMemoryError);
    const auto info = device->take_last_oom();
    QCOMPARE(info->in_use_by[static_cast<int>(telemetry::Use::gradients)], std::uint64_t{8192});
    QVERIFY(info->in_use_by[static_cast<int>(telemetry::Use::activations)] >= 4096);
    std::uint64_t sum = 0;
    for (const std::uint64_t part : info->in_use_by)
      sum += part;
    QCOMPARE(sum, info->in_use);
    device->enter(telemetry::Phase::setup);
  }

  void recordsWhatHappens() {
    const auto device = open_device("cpu", budget);
    at::Tensor from_before = bytes(128);
    device->enter(telemetry::Phase::forward);
    QVERIFY(device->start_trace());
    at::Tensor a = bytes(100);
    at::Tensor b = bytes(200);
    a.reset();
    from_before.reset();
    const telemetry::Trace trace = device->stop_trace();
    b.reset();
    QCOMPARE(trace.events.size(), std::size_t{4});
    QCOMPARE(trace.events[0].bytes, std::uint64_t{100});
    QVERIFY(trace.events[1].allocates);
    QCOMPARE(trace.events[2].block, std::uint32_t{0});
    QVERIFY(!trace.events[2].allocates);
    QCOMPARE(trace.events[3].block, telemetry::block_from_before);
    QCOMPARE(trace.events[3].bytes, std::uint64_t{128});
    QCOMPARE(trace.peak_bytes, trace.start_bytes + 128 + 256);
  }

  void leavesTheProgramsOwnCopiesOut() {
    const auto device = open_device("cpu", budget);
    const std::uint64_t before = device->readings().in_use;
    at::Tensor copy;
    {
      const memory::NotCounted own;
      copy = bytes(2 * static_cast<std::int64_t>(budget));
    }
    QCOMPARE(device->readings().in_use, before);
    copy.reset();
    QCOMPARE(device->readings().in_use, before);
  }

  void survivesRandomTraffic() {
    const auto device = open_device("cpu", budget);
    const std::uint64_t before = device->readings().in_use;
    std::srand(7);
    std::vector<at::Tensor> alive;
    std::uint64_t expected = before;
    for (int i = 0; i < 20000; ++i) {
      const std::int64_t size = 1 + std::rand() % (1 << (1 + std::rand() % 22));
      const std::uint64_t counted = static_cast<std::uint64_t>(size + 63) / 64 * 64;
      if (expected + counted <= budget) {
        alive.push_back(bytes(size));
        expected += counted;
      } else {
        QVERIFY_EXCEPTION_THROWN(bytes(size), c10::OutOfMemoryError);
        std::swap(alive[std::rand() % alive.size()], alive.back());
        expected -= (static_cast<std::uint64_t>(alive.back().numel()) + 63) / 64 * 64;
        alive.pop_back();
      }
      QCOMPARE(device->readings().in_use, expected);
      QVERIFY(device->readings().reserved <= budget);
    }
    alive.clear();
    QCOMPARE(device->readings().in_use, before);
  }

  void classifiesErrors_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<bool>("refused");
    QTest::addColumn<bool>("expected");
    QTest::newRow("cuda") << "CUDA out of memory. Tried to allocate 20.00 MiB" << false << true;
    QTest::newRow("host") << "[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried" << false << true;
    QTest::newRow("cublas") << "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling" << false << true;
    QTest::newRow("cudnn") << "GET was unable to find an engine to execute" << true << true;
    QTest::newRow("cudnn, nothing refused") << "GET was unable to find an engine to execute" << false << false;
    const char* handle = "CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`";
    QTest::newRow("no room for a handle") << handle << true << true;
    QTest::newRow("no handle") << handle << false << false;
    QTest::newRow("driver") << "CUDA driver error: out of memory" << false << true;
    QTest::newRow("shape error") << "mat1 and mat2 shapes cannot be multiplied" << true << false;
  }
  void classifiesErrors() {
    QFETCH(QString, text);
    QFETCH(bool, refused);
    QFETCH(bool, expected);
    // TorchScript rethrows whatever happened as this type.
    QCOMPARE(memory::is_out_of_memory(std::runtime_error(text.toStdString()), refused), expected);
  }

  void refusesWhatIsNoDevice() {
    QVERIFY_EXCEPTION_THROWN(open_device("tpu", budget), Error);
    QVERIFY_EXCEPTION_THROWN(open_device("cuda:x", budget), Error);
    QVERIFY_EXCEPTION_THROWN(open_device("cuda:-1", budget), Error);
  }
};

BATCHSCOPE_TEST(TestCpuDevice)
#include "tst_cpu_device.moc"
