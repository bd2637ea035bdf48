#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "core/sweep/sweep.h"

#include <fstream>

#include <QTest>

#include "test_program.h"
#include "tests/core/store/store_test.h"

using namespace batchscope;
using namespace batchscope::sweep;

namespace {

void write_table(const std::filesystem::path& file, int rows) {
  std::ofstream out(file);
  out << "a,b,y\n";
  for (int row = 0; row < rows; ++row)
    out << row << ',' << row * row % 17 << ',' << row % 2 << '\n';
}

SweepSpec spec_of(const std::filesystem::path& file) {
  SweepSpec spec;
  spec.base.model = "mlp:hidden=8";
  spec.base.data = "csv:" + file.string() + ",target=y";
  spec.base.memory_budget = 50'000'000;
  spec.base.length = {.epochs = {}, .examples = {}, .steps = 3};
  spec.vary = {parse_values("batch", "4,8,16,32")};
  return spec;
}

/// Does something when a run has ended.
class AtTheEnd : public SweepWatch {
public:
  explicit AtTheEnd(std::function<void(std::int64_t)> work) : work_(std::move(work)) {}
  void ended(std::int64_t id, const telemetry::RunOutcome& /*summary*/) override { work_(id); }

private:
  std::function<void(std::int64_t)> work_;
};

} // namespace

/// The data of a sweep are read once, not once a run.
class TestSharedData : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void aSweepReadsItsDataOnce();
  void aFileThatChangesMeanwhileIsReadAnew();
  void theRestOfASweepReadsItOnce();
};

void TestSharedData::aSweepReadsItsDataOnce() {
  const store::test::Folder folder;
  const auto table = folder.file().parent_path() / "table.csv";
  write_table(table, 200);
  store::RunStore store(folder.file());
  const auto pool = std::make_shared<data::DataPool>();
  const SweepSpec spec = spec_of(table);
  SweepPlan plan = plan_sweep(spec, pool);
  SweepWatch watch;
  const auto result =
      run_sweep(std::move(plan), store.add_sweep(to_json(spec)), store, watch, std::make_shared<run::JobControl>());
  QCOMPARE(result.finished, std::int64_t{4});
  QCOMPARE(pool->reads(), std::uint64_t{1});
  QCOMPARE(pool->in_use(), std::size_t{0});
}

void TestSharedData::aFileThatChangesMeanwhileIsReadAnew() {
  const store::test::Folder folder;
  const auto table = folder.file().parent_path() / "table.csv";
  write_table(table, 200);
  store::RunStore store(folder.file());
  const auto pool = std::make_shared<data::DataPool>();
  const SweepSpec spec = spec_of(table);
  AtTheEnd watch([&](std::int64_t id) {
    if (id == 2)
      write_table(table, 300);
  });
  const auto result = run_sweep(plan_sweep(spec, pool), store.add_sweep(to_json(spec)), store, watch,
                                std::make_shared<run::JobControl>());
  QCOMPARE(result.finished, std::int64_t{4});
  QCOMPARE(pool->reads(), std::uint64_t{2});
  QCOMPARE(pool->in_use(), std::size_t{0});
  const store::RunReader reader(folder.file());
  const auto examples = [&](std::int64_t run) {
    return run::run_start_from_json(reader.start_json(run)).train_examples;
  };
  QCOMPARE(examples(2), std::int64_t{160});
  QCOMPARE(examples(3), std::int64_t{240});
}

void TestSharedData::theRestOfASweepReadsItOnce() {
  const store::test::Folder folder;
  const auto table = folder.file().parent_path() / "table.csv";
  write_table(table, 200);
  store::RunStore store(folder.file());
  const SweepSpec spec = spec_of(table);
  const std::int64_t sweep = store.add_sweep(to_json(spec));
  const auto pool = std::make_shared<data::DataPool>();
  SweepWatch watch;
  const auto result = run_sweep(plan_rest(store::RunReader(folder.file()), sweep, {}, pool), sweep, store, watch,
                                std::make_shared<run::JobControl>());
  QCOMPARE(result.finished, std::int64_t{4});
  QCOMPARE(pool->reads(), std::uint64_t{1});
}

BATCHSCOPE_TEST(TestSharedData)
#include "tst_shared_data.moc"
