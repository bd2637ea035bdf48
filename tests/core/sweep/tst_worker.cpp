#include "core/store/run_store.h"
#include "core/sweep/worker.h"

#include <QTest>

#include "test_program.h"
#include "tests/core/store/store_test.h"

using namespace batchscope;
using namespace batchscope::sweep;

namespace {

constexpr std::uint64_t budget = 10'000'000;

/// Asks the queue what is reserved, as another program that would claim a run then.
class Asking : public SweepWatch {
public:
  Asking(store::RunStore& store, std::int64_t sweep) : queue_(store, sweep) {}

  void probe(const search::Probe& /*probe*/, std::uint64_t /*budget*/) override { searching = reserved(); }
  void started(const job::StartedRun& /*run*/) override { training = training.value_or(reserved()); }

  std::optional<std::uint64_t> searching; ///< bytes during the last trial of a search
  std::optional<std::uint64_t> training;  ///< when the first run began

private:
  std::uint64_t reserved() {
    std::uint64_t bytes = 0;
    queue_.claim([&](const store::WaitingRun& /*run*/, const store::SweepQueue::Load& load) {
      bytes = load.reserved_bytes;
      return std::nullopt;
    });
    return bytes;
  }

  store::SweepQueue queue_;
};

} // namespace

class TestWorker : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void reservesWhatItMayUse_data();
  void reservesWhatItMayUse();
};

void TestWorker::reservesWhatItMayUse_data() {
  QTest::addColumn<QString>("batch");
  QTest::addColumn<QString>("schedule");
  QTest::addColumn<bool>("whole");
  QTest::newRow("a number") << "16"
                            << "constant" << false;
  QTest::newRow("a share, found by trials of any size") << "10%"
                                                        << "constant" << true;
  QTest::newRow("a schedule that grows") << "16"
                                         << "linear:max=64" << true;
}

/// While a run of a shared sweep searches or trains, others get none of the budget that it may need.
void TestWorker::reservesWhatItMayUse() {
  QFETCH(QString, batch);
  QFETCH(QString, schedule);
  QFETCH(bool, whole);
  const store::test::Folder folder;
  SweepSpec spec;
  spec.base.model = "mlp:hidden=64";
  spec.base.data = "synthetic:examples=1000,shape=1x16x16,classes=4";
  spec.base.memory_budget = budget;
  spec.base.batch = run::parse_batch(batch.toStdString(), "--batch");
  spec.base.schedule = schedule.toStdString();
  spec.base.length = {.epochs = {}, .examples = {}, .steps = 3};
  spec.repeats = 2; // one waits, so that there is a run to claim
  store::RunStore store(folder.file());
  const std::int64_t sweep = store.add_sweep(to_json(spec));
  Asking watch(store, sweep);
  const auto result =
      run_sweep(plan_sweep(spec), sweep, store, watch, std::make_shared<run::JobControl>(), {.shared = true});
  QCOMPARE(result.finished, std::int64_t{2});
  QVERIFY(watch.training);
  QVERIFY2(whole ? *watch.training == budget : *watch.training > 0 && *watch.training < budget / 2,
           std::to_string(*watch.training).c_str());
  QCOMPARE(watch.searching.has_value(), batch.endsWith('%'));
  if (watch.searching)
    QCOMPARE(*watch.searching, budget);
}

BATCHSCOPE_TEST(TestWorker)
#include "tst_worker.moc"
