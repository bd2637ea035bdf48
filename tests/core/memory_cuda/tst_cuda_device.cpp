#include <QTest>

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

#include "app/reserve/pretended_cuda.h"
#include "core/base/error.h"
#include "core/memory/detail/devices.h"
#include "core/memory/detail/torch_errors.h"
#include "test_program.h"

namespace c10::cuda::_internal {
void setHasPrimaryContext(bool (*has)(DeviceIndex)); // in the library, but in no header of it
}

using namespace batchscope;

namespace {

namespace caching = c10::cuda::CUDACachingAllocator;

constexpr std::uint64_t mega = 1 << 20;
constexpr std::uint64_t card = 1024 * mega;
constexpr std::uint64_t budget = 256 * mega;

/// A block on the pretended device.
class Block {
public:
  explicit Block(std::uint64_t bytes) : data_(caching::raw_alloc(bytes)) {}
  ~Block() { caching::raw_delete(data_); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

private:
  void* data_;
};

} // namespace

/// What every device promises, with LibTorch's own CUDA allocator on a device that is not there.
class TestCudaDevice : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void initTestCase() {
    set_pretended_capacity(card);
    caching::init(1);
    // LibTorch's CUDA library, which asks the driver, is not loaded.
    c10::cuda::_internal::setHasPrimaryContext([](c10::DeviceIndex) { return true; });
  }

  void takesFourFifthsOfWhatIsFree() {
    const auto device = memory::make_cuda_device(0, std::nullopt);
    QCOMPARE(device->readings().limit, card * 4 / 5);
    QCOMPARE(device->name(), std::string("cuda:0"));
    QVERIFY(device->kind() == memory::DeviceKind::cuda);
  }

  void refusesABudgetAboveTheCard() {
    try {
      memory::make_cuda_device(0, card + 1);
      QFAIL("it was accepted");
    } catch (const Error& error) {
      QVERIFY(error.kind() == Error::Kind::input);
      QVERIFY2(QString(error.what()).contains("is more than the 1.1 GB that cuda:0 has"), error.what());
      QCOMPARE(error.field(), std::string("memory_budget"));
    }
    memory::make_cuda_device(0, card);
  }

  void countsWhatIsAlive() {
    const auto device = memory::make_cuda_device(0, budget);
    const std::uint64_t before = device->readings().in_use;
    {
      const Block a(1000), b(30 * mega);
      QCOMPARE(device->readings().in_use, before + 1024 + 30 * mega); // sizes count in multiples of 512
      QVERIFY(device->readings().reserved >= device->readings().in_use);
      QCOMPARE(device->available(), card - device->readings().reserved);
    }
    QCOMPARE(device->readings().in_use, before);
    QCOMPARE(device->readings().peak, before + 1024 + 30 * mega);
    device->reset_peak();
    QCOMPARE(device->readings().peak, before);
    QVERIFY(device->readings().reserved >= 30 * mega); // kept for the next
    device->release_cache();
    QCOMPARE(device->readings().reserved, std::uint64_t{0});
  }

  void refusesAboveItsBudget() {
    const auto device = memory::make_cuda_device(0, budget);
    QVERIFY(!device->take_last_oom());
    device->enter(telemetry::Phase::forward);
    {
      const Block held(200 * mega);
      try {
        const Block more(100 * mega);
        QFAIL("it was served");
      } catch (const std::exception& error) {
        QVERIFY(memory::is_out_of_memory(error, false));
        const std::string line = memory::first_line(error);
        QVERIFY2(line.find("CUDA out of memory. Tried to allocate 100.00 MiB") != std::string::npos, line.c_str());
      }
      const auto info = device->take_last_oom();
      QVERIFY(info.has_value());
      QCOMPARE(info->requested, 100 * mega);
      QCOMPARE(info->in_use, 200 * mega);
      QCOMPARE(info->limit, budget);
      QVERIFY(info->phase == telemetry::Phase::forward);
      QVERIFY(!device->take_last_oom()); // told once
      QCOMPARE(device->readings().refused, std::uint64_t{1});
    }
    const Block fits(250 * mega); // a kept block gives way
  }

  /// Libraries that ask the driver for memory themselves then fail with texts of their own.
  void saysThatNearlyNothingIsFree() {
    const auto device = memory::make_cuda_device(0, card);
    const std::runtime_error error("CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`");
    QVERIFY(!memory::is_out_of_memory(error, memory::was_short(*device, 0)));
    const Block all(1000 * mega);
    QTRY_VERIFY(memory::was_short(*device, 0)); // what the driver says is asked for five times a second
    QVERIFY(memory::is_out_of_memory(error, memory::was_short(*device, 0)));
  }

  void leavesTheWholeCardToTheNext() {
    memory::make_cuda_device(0, budget);
    const auto device = memory::make_cuda_device(0, card);
    const Block large(800 * mega);
    QCOMPARE(device->readings().refused, std::uint64_t{0});
  }

  void tracesAStep() {
    const auto device = memory::make_cuda_device(0, budget);
    const Block before(5000);
    device->enter(telemetry::Phase::forward);
    QVERIFY(device->start_trace());
    {
      const Block a(3 * mega);
      device->enter(telemetry::Phase::backward);
      const Block b(700);
    }
    const telemetry::Trace trace = device->stop_trace();
    QCOMPARE(trace.start_bytes, std::uint64_t{5120});
    QCOMPARE(trace.peak_bytes, std::uint64_t{5120 + 3 * mega + 1024});
    QCOMPARE(trace.events.size(), std::size_t{4});
    QVERIFY(trace.events[0].allocates && trace.events[0].phase == telemetry::Phase::forward);
    QVERIFY(trace.events[1].allocates && trace.events[1].phase == telemetry::Phase::backward);
    QVERIFY(!trace.events[3].allocates && trace.events[3].block == trace.events[0].block);
  }
};

BATCHSCOPE_TEST(TestCudaDevice)
#include "tst_cuda_device.moc"
