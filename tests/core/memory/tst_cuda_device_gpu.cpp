#include <QTest>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include "core/base/error.h"
#include "core/memory/detail/devices.h"
#include "core/memory/detail/torch_errors.h"
#include "test_program.h"
#include "tests/gpu_needed.h"

using namespace batchscope;

namespace {

constexpr std::uint64_t mib = 1 << 20;
constexpr std::uint64_t gpu_budget = 256 * mib;

/// A block on the GPU.
class Block {
public:
  explicit Block(std::uint64_t bytes)
      : block_(at::empty({static_cast<std::int64_t>(bytes)}, at::TensorOptions(at::kByte).device(at::kCUDA, 0))) {}

private:
  at::Tensor block_;
};

std::unique_ptr<memory::Device> opened(std::optional<std::uint64_t> bytes) {
  return memory::open_device("cuda:0", bytes);
}

} // namespace

/// What every device promises, with LibTorch's own CUDA allocator.
class TestCudaDeviceGpu : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void initTestCase() {
    try {
      opened({});
    } catch (const Error& error) {
      SKIP_WITHOUT_GPU(error);
    }
    const auto device = opened({});
    held_ = device->readings().in_use; // cuBLAS's workspace
    card_ = device->available() + device->readings().reserved;
  }

  void takesFourFifthsOfWhatIsFree() {
    const auto device = opened({});
    QCOMPARE(device->readings().limit / mib, device->available() * 4 / 5 / mib);
    QCOMPARE(device->name(), std::string("cuda:0"));
    QVERIFY(device->kind() == memory::DeviceKind::cuda);
  }

  void refusesABudgetAboveTheCard() {
    try {
      opened(std::uint64_t{1} << 50);
      QFAIL("it was accepted");
    } catch (const Error& error) {
      QVERIFY(error.kind() == Error::Kind::input);
      QVERIFY2(QString(error.what()).contains("that cuda:0 has"), error.what());
      QCOMPARE(error.field(), std::string("memory_budget"));
    }
    opened(card_);
  }

  void countsWhatIsAlive() {
    const auto device = opened(gpu_budget);
    const std::uint64_t before = device->readings().in_use;
    {
      const Block a(1000), b(30 * mib);
      QCOMPARE(device->readings().in_use, before + 1024 + 30 * mib); // sizes count in multiples of 512
      QVERIFY(device->readings().reserved >= device->readings().in_use);
      QCOMPARE(device->available(), card_ - device->readings().reserved);
    }
    QCOMPARE(device->readings().in_use, before);
    QCOMPARE(device->readings().peak, before + 1024 + 30 * mib);
    device->reset_peak();
    QCOMPARE(device->readings().peak, before);
    QVERIFY(device->readings().reserved >= 30 * mib); // kept for the next
    device->release_cache();
    QVERIFY(device->readings().reserved < 30 * mib + held_);
  }

  void refusesAboveItsBudget() {
    const auto device = opened(gpu_budget + held_);
    QVERIFY(!device->take_last_oom());
    device->enter(telemetry::Phase::forward);
    {
      const Block held(200 * mib);
      try {
        const Block more(100 * mib);
        QFAIL("it was served");
      } catch (const std::exception& error) {
        QVERIFY(memory::is_out_of_memory(error, false));
        const std::string line = memory::first_line(error);
        QVERIFY2(line.find("CUDA out of memory. Tried to allocate 100.00 MiB") != std::string::npos, line.c_str());
      }
      const auto info = device->take_last_oom();
      QVERIFY(info.has_value());
      QCOMPARE(info->requested, 100 * mib);
      QCOMPARE(info->in_use, 200 * mib + held_);
      QCOMPARE(info->limit, gpu_budget + held_);
      QVERIFY(info->phase == telemetry::Phase::forward);
      QVERIFY(!device->take_last_oom()); // told once
      QCOMPARE(device->readings().refused, std::uint64_t{1});
    }
    const Block fits(250 * mib); // a kept block gives way
  }

  /// Libraries that ask the driver for memory themselves then fail with texts of their own.
  void saysThatNearlyNothingIsFree() {
    const auto device = opened(card_);
    const std::runtime_error error("CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`");
    QVERIFY(!memory::is_out_of_memory(error, memory::was_short(*device, 0)));
    const Block all(device->available() - 8 * mib);
    QTRY_VERIFY(memory::was_short(*device, 0)); // what the driver says is asked for five times a second
    QVERIFY(memory::is_out_of_memory(error, memory::was_short(*device, 0)));
  }

  void leavesTheWholeCardToTheNext() {
    opened(gpu_budget);
    const auto device = opened(card_);
    const Block large(4 * gpu_budget);
    QCOMPARE(device->readings().refused, std::uint64_t{0});
  }

  void tracesAStep() {
    const auto device = opened(gpu_budget);
    const Block before(5000);
    device->enter(telemetry::Phase::forward);
    QVERIFY(device->start_trace());
    {
      const Block a(3 * mib);
      device->enter(telemetry::Phase::backward);
      const Block b(700);
    }
    const telemetry::Trace trace = device->stop_trace();
    QCOMPARE(trace.start_bytes, held_ + 5120);
    QCOMPARE(trace.peak_bytes, held_ + 5120 + 3 * mib + 1024);
    QCOMPARE(trace.events.size(), std::size_t{4});
    QVERIFY(trace.events[0].allocates && trace.events[0].phase == telemetry::Phase::forward);
    QVERIFY(trace.events[1].allocates && trace.events[1].phase == telemetry::Phase::backward);
    QVERIFY(!trace.events[3].allocates && trace.events[3].block == trace.events[0].block);
  }

private:
  std::uint64_t card_ = 0, held_ = 0;
};

BATCHSCOPE_TEST(TestCudaDeviceGpu)
#include "tst_cuda_device_gpu.moc"
