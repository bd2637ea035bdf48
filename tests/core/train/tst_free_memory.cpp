#include <QTest>

#include "core/data/dataset.h"
#include "core/run/run_plan.h"
#include "core/train/detail/free_memory.h"
#include "core/train/detail/loop.h"
#include "run_helpers.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::train;

namespace {

/// The real device `cpu` on a machine of which it is pretended how much memory is free.
class CpuElsewhere final : public memory::Device {
public:
  explicit CpuElsewhere(std::uint64_t budget) : cpu_(memory::open_device("cpu", budget)) {}
  std::uint64_t left = 0; ///< bytes that other programs leave

  std::uint64_t available() const override { return left - std::min(left, readings().reserved); }
  std::string name() const override { return cpu_->name(); }
  memory::DeviceKind kind() const override { return cpu_->kind(); }
  int index() const override { return cpu_->index(); }
  memory::Readings readings() const override { return cpu_->readings(); }
  void set_budget(std::uint64_t bytes) override { cpu_->set_budget(bytes); }
  void reset_peak() override { cpu_->reset_peak(); }
  void release_cache() override { cpu_->release_cache(); }
  void synchronize() override { cpu_->synchronize(); }
  void enter(telemetry::Phase phase) override { cpu_->enter(phase); }
  void retag(const void* data, telemetry::Use use) override { cpu_->retag(data, use); }
  std::optional<memory::OutOfMemoryInfo> take_last_oom() override { return cpu_->take_last_oom(); }
  bool start_trace() override { return cpu_->start_trace(); }
  telemetry::Trace stop_trace() override { return cpu_->stop_trace(); }

private:
  std::unique_ptr<memory::Device> cpu_;
};

constexpr std::uint64_t plenty = 400'000'000;
constexpr auto always = std::chrono::milliseconds(0);

/// Other programs take and free memory after some steps.
struct Neighbours : Recorded {
  void record(const telemetry::StepRecord& record) override {
    Recorded::record(record);
    if (record.step == 3)
      device->left = 3'000'000;
    if (record.step == 13)
      device->left = plenty;
    if (record.step == 14)
      control->set_budget({.bytes = 50'000'000});
  }
  CpuElsewhere* device = nullptr;
  run::RunControl* control = nullptr;
};

} // namespace

/// The default budget while a run goes on.
class TestFreeMemory : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void followsNoticeableChanges() {
    CpuElsewhere device(80'000'000);
    FreeMemory free(always);
    device.left = 105'000'000;
    QVERIFY(!free.new_budget(device)); // 84 MB: about the same
    device.left = 50'000'000;
    QCOMPARE(free.new_budget(device), std::optional<std::uint64_t>(40'000'000));
    device.left = 200'000'000;
    QCOMPARE(free.new_budget(device), std::optional<std::uint64_t>(160'000'000));
    FreeMemory seldom(std::chrono::hours(1));
    QVERIFY(!seldom.new_budget(device));
  }

  /// Memory that others take makes the budget smaller, which a run survives as any other memory error, and what they
  /// free makes it larger, until the user sets one.
  void aRunFollowsIt() {
    const run::RunSpec spec = small_spec(250, 18);
    const FinishedRun plain = run_to_end(spec);
    CpuElsewhere device(plenty);
    device.left = plenty * 5 / 4;
    const data::DataSplit data = data::open_data(spec.data);
    Learner learner(spec, data, device);
    LoopOptions options;
    options.progression = run::progression_options(spec, data.train->size(), 250);
    options.weight_decay = run::weight_decay_or_default(spec);
    options.follow_free_memory = always;
    run::RunControl control;
    Neighbours seen;
    seen.device = &device;
    seen.control = &control;
    const auto outcome = Loop(options, learner, seen, control).run();
    QVERIFY2(outcome.status == telemetry::RunStatus::finished, outcome.reason.c_str());
    QCOMPARE(seen.records.size(), plain.recorded.records.size());
    for (std::size_t i = 0; i < seen.records.size(); ++i) {
      QVERIFY(relative(seen.records[i].loss, plain.recorded.records[i].loss) < 1e-4);
      QCOMPARE(seen.records[i].examples_seen, plain.recorded.records[i].examples_seen);
      if (i < 3 || i > 9) // in between, it gives back what it holds
        QCOMPARE(seen.records[i].micro_batches > 1, i > 9 && i < 13);
    }
    QVERIFY(!seen.details("oom").empty());
    std::vector<std::uint64_t> budgets;
    for (const Json& change : seen.details("budget"))
      budgets.push_back(change["budget_bytes"].get<std::uint64_t>());
    const std::uint64_t smallest = *std::min_element(budgets.begin(), budgets.end());
    QVERIFY2(smallest >= 2'400'000 && smallest <= 2'700'000, qPrintable(QString::number(smallest)));
    QCOMPARE(budgets.back(), std::uint64_t{50'000'000}); // and not followed any more
    QVERIFY(seen.details("budget").front()["message"].get<std::string>().starts_with("follows the memory"));
  }
};

BATCHSCOPE_TEST(TestFreeMemory)
#include "tst_free_memory.moc"
