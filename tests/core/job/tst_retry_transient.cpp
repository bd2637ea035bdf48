#include "core/job/retry_transient.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"

#include <QTest>

#include <mutex>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/search/run_search.h"
#include "core/sweep/sweep.h"
#include "test_program.h"
#include "tests/core/store/store_test.h"

using namespace batchscope;
using namespace batchscope::job;
using namespace batchscope::sweep;
using store::test::error_of;

namespace {

/// The writer wakes up for what it is asked to do only, so that each refusal is where the test wants it.
const store::StoreOptions on_demand{
    .interval = std::chrono::hours(1), .patience = std::chrono::milliseconds(20), .max_waiting = 1'000'000};

SweepSpec sweep_of(const std::string& batches) {
  SweepSpec spec;
  spec.base.model = "mlp:hidden=32";
  spec.base.data = "synthetic:examples=625,shape=1x16x16,classes=4";
  spec.base.memory_budget = 4'000'000;
  spec.base.length = {.epochs = {}, .examples = {}, .steps = 3};
  if (!batches.empty())
    spec.vary = {parse_values("batch", batches)};
  return spec;
}

/// Makes the database unusable at one moment of a sweep, and usable again, or ends the sweep, when that is told.
class Troublemaker : public SweepWatch {
public:
  Troublemaker(const std::filesystem::path& file, const QString& moment, run::JobControl* stops = nullptr)
      : other_(file.string(), SQLite::OPEN_READWRITE), moment_(moment), stops_(stops) {}

  void combination(std::size_t index, std::size_t /*count*/, const run::RunSpec& /*spec*/) override {
    if ((moment_ == "begin" && index == 1) || (moment_ == "refused" && index == 2))
      lock();
  }
  void record(const telemetry::StepRecord& record) override {
    if (record.step != 3)
      return;
    if (moment_ == "finish")
      lock();
    else if (moment_ == "full disk")
      fill();
  }
  /// On the job's thread, or on that of the store, which may still be busy with what it was asked before.
  void not_stored(const std::string& why) override {
    const std::lock_guard guard(mutex_);
    told_.push_back(why);
    if (why.empty())
      return;
    if (stops_ != nullptr)
      stops_->stop();
    else
      end();
  }

  void lock() {
    const std::lock_guard guard(mutex_);
    if (!told_.empty())
      return;
    other_.exec("BEGIN IMMEDIATE");
    locked_ = true;
  }
  void unlock() {
    const std::lock_guard guard(mutex_);
    end();
  }
  std::vector<std::string> told() const {
    const std::lock_guard guard(mutex_);
    return told_;
  }

private:
  void fill() {
    const std::lock_guard guard(mutex_);
    if (told_.empty())
      limit_.emplace(4096);
  }
  void end() {
    limit_.reset();
    if (locked_)
      other_.exec("ROLLBACK");
    locked_ = false;
  }

  mutable std::mutex mutex_;
  std::vector<std::string> told_; ///< guarded by mutex_, as is all that follows but the constants
  SQLite::Database other_;
  const QString moment_;
  run::JobControl* const stops_;
  bool locked_ = false;
  std::optional<store::test::FileSizeLimit> limit_;
};

} // namespace

/// What a job came to is not lost because the database is locked for a while, or the disk full.
class TestInsist : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void a_sweep_goes_on_behind_a_lock_data();
  void a_sweep_goes_on_behind_a_lock();
  void a_stop_ends_the_trying();
  void a_search_is_kept();
};

void TestInsist::a_sweep_goes_on_behind_a_lock_data() {
  QTest::addColumn<QString>("moment");
  QTest::addColumn<QString>("named");
  for (const char* moment : {"begin", "finish", "refused"})
    QTest::newRow(moment) << moment << "locked by another program";
  QTest::newRow("full disk") << "full disk"
                             << "writing to the disk failed";
}

void TestInsist::a_sweep_goes_on_behind_a_lock() {
  QFETCH(QString, moment);
  QFETCH(QString, named);
  const store::test::Folder folder;
  store::RunStore store(folder.file(), on_demand);
  const SweepSpec spec = sweep_of("32,16,10000"); // there are not as many examples
  const std::int64_t sweep = store.add_sweep(to_json(spec));
  Troublemaker watch(folder.file(), moment);
  const auto control = std::make_shared<run::JobControl>();
  const SweepResult result = run_sweep(plan_sweep(spec), sweep, store, watch, control);
  QCOMPARE(result.finished, std::int64_t{2});
  QCOMPARE(result.failed, std::int64_t{1});
  const auto told = watch.told();
  QCOMPARE(told.size(), std::size_t(2));
  QVERIFY2(told[0].find(named.toStdString()) != std::string::npos, told[0].c_str());
  QVERIFY(told[1].empty());
  const store::RunReader reader(folder.file());
  QCOMPARE(reader.list("status = finished and steps = 3").size(), std::size_t(2));
  QCOMPARE(reader.list("status = failed").size(), std::size_t(1));
  for (const store::RunRow& row : reader.list("status = finished"))
    QCOMPARE(reader.series(row.id, "loss").size(), std::size_t(3));
}

void TestInsist::a_stop_ends_the_trying() {
  const store::test::Folder folder;
  {
    store::RunStore store(folder.file(), on_demand);
    const SweepSpec spec = sweep_of("32,16");
    const std::int64_t sweep = store.add_sweep(to_json(spec));
    const auto control = std::make_shared<run::JobControl>();
    Troublemaker watch(folder.file(), "finish", control.get());
    Error::Kind kind{};
    const std::string error = error_of([&] { run_sweep(plan_sweep(spec), sweep, store, watch, control); }, &kind);
    QVERIFY2(error.find("locked by another program") != std::string::npos, error.c_str());
    QCOMPARE(kind, Error::Kind::failed);
    QCOMPARE(watch.told().size(), std::size_t(1));
    watch.unlock();
  }
  // The store wrote it when it was closed.
  const auto runs = store::RunReader(folder.file()).list();
  QCOMPARE(runs.size(), std::size_t(2));
  QCOMPARE(runs[0].outcome.status, telemetry::RunStatus::finished);
  QCOMPARE(runs[1].outcome.status, telemetry::RunStatus::queued); // waits for whoever works at the sweep again
}

void TestInsist::a_search_is_kept() {
  const store::test::Folder folder;
  store::RunStore store(folder.file(), on_demand);
  Troublemaker watch(folder.file(), "search");
  watch.lock();
  run::JobControl control;
  search::SearchResult result;
  result.found = true;
  result.largest = 77;
  const std::int64_t id = store_search(sweep_of("").base, result, store, watch, control);
  QCOMPARE(watch.told().size(), std::size_t(2));
  QVERIFY(store::RunReader(folder.file()).search_json(id).find("77") != std::string::npos);
}

BATCHSCOPE_TEST(TestInsist)
#include "tst_retry_transient.moc"
