#include <dlfcn.h>

#include <QTest>

#include "core/store/run_store.h"
#include "core/store/sweep_queue.h"
#include "core/sweep/sweep.h"
#include "test_program.h"
#include "tests/core/store/store_test.h"

using namespace batchscope;
using namespace batchscope::sweep;

namespace {

constexpr int illegal_address = 700; // cudaErrorIllegalAddress, after which each call of CUDA fails

using Breaks = void (*)(int error);
Breaks breaks() {
  return reinterpret_cast<Breaks>(dlsym(RTLD_DEFAULT, "batchscope_pretended_breaks"));
}

SweepSpec spec_of(const std::string& device) {
  SweepSpec spec;
  spec.base.device = device;
  spec.base.model = "mlp:hidden=8";
  spec.base.data = "synthetic:examples=64,shape=1x8x8,classes=4";
  spec.base.length = {.epochs = {}, .examples = {}, .steps = 3};
  spec.vary = {parse_values("batch", "4,8,16,32")};
  return spec;
}

/// The GPU breaks in the second run.
class Breaking : public SweepWatch {
public:
  void combination(std::size_t index, std::size_t /*count*/, const run::RunSpec& /*spec*/) override {
    second_ = index == 1;
  }
  void record(const telemetry::StepRecord& /*record*/) override {
    if (second_)
      breaks()(illegal_address);
  }
  void ended(std::int64_t /*id*/, const telemetry::RunOutcome& summary) override { outcomes.push_back(summary); }

  std::vector<telemetry::RunOutcome> outcomes;

private:
  bool second_ = false;
};

} // namespace

/// A GPU that does nothing more for the process.
class TestLostGpu : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void initTestCase() {
    if (breaks() == nullptr)
      QSKIP("only a pretended GPU can be broken");
  }
  void cleanup() { breaks()(0); }

  void endsTheSweepAndLeavesTheRest() {
    const store::test::Folder folder;
    store::RunStore store(folder.file());
    const SweepSpec spec = spec_of("cuda:0");
    const std::int64_t sweep = store.add_sweep(to_json(spec));
    Breaking watch;
    try {
      run_sweep(plan_sweep(spec), sweep, store, watch, std::make_shared<run::JobControl>());
      QFAIL("it went on");
    } catch (const Error& error) {
      const std::string text = error.what();
      QVERIFY2(text.find("restarted") != std::string::npos, text.c_str());
      QVERIFY2(text.find('\n') == std::string::npos, text.c_str());
    }
    QCOMPARE(watch.outcomes.size(), std::size_t{2});
    QVERIFY(watch.outcomes[0].status == telemetry::RunStatus::finished);
    QVERIFY(watch.outcomes[1].status == telemetry::RunStatus::failed);
    const std::string reason = watch.outcomes[1].reason;
    QVERIFY2(reason.find("restarted") != std::string::npos, reason.c_str());
    // A program that is started for the rest of the sweep makes these.
    const auto nothing_fits = [](const auto&, const auto&) -> std::optional<std::uint64_t> { return std::nullopt; };
    QCOMPARE(store::SweepQueue(store, sweep).claim(nothing_fits).waiting, std::int64_t{2});
  }
};

BATCHSCOPE_TEST(TestLostGpu)
#include "tst_lost_gpu.moc"
