#include "core/job/job.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"

#include <QTest>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/run/engine.h"
#include "core/run/run_start.h"
#include "core/search/run_search.h"
#include "test_program.h"
#include "tests/core/store/store_test.h"

using namespace batchscope;
using namespace batchscope::job;

namespace {

run::RunSpec run_spec_of(run::BatchChoice batch) {
  run::RunSpec spec;
  spec.model = "mlp:hidden=32";
  spec.data = "synthetic:examples=625,shape=1x16x16,classes=4";
  spec.memory_budget = 4'000'000;
  spec.batch = batch;
  spec.length = {.epochs = {}, .examples = {}, .steps = 3};
  return spec;
}

class Watching : public Watch {
public:
  explicit Watching(bool wants) : wants_(wants) {}
  bool wants_prediction() const override { return wants_; }
  void probe(const search::Probe&, std::uint64_t) override { ++probes; }
  void started(const StartedRun& run) override { seen = run.start; }

  int probes = 0;
  run::RunStart seen;

private:
  bool wants_;
};

/// Stops the job at its first probe, or at its first timing.
class Stopping : public Watching {
public:
  enum class At { probe, timing };
  Stopping(run::JobControl& control, At at) : Watching(false), control_(control), at_(at) {}
  void probe(const search::Probe& probe, std::uint64_t budget) override {
    Watching::probe(probe, budget);
    stop_at(At::probe);
  }
  void timing(const search::Timing&) override { stop_at(At::timing); }
  void search_stored(std::int64_t id) override { stored = id; }

  std::optional<std::int64_t> stored;

private:
  void stop_at(At at) {
    if (at == at_)
      control_.stop();
  }

  run::JobControl& control_;
  At at_;
};

JobResult run_job(const run::RunSpec& spec, Watching& watch, store::RunStore& store) {
  const auto control = std::make_shared<run::JobControl>();
  const auto session = run::open_session(spec);
  const auto search = choose_batch(*session, store, watch, *control);
  return run_and_store(*session, spec, search, store, {}, watch, control);
}

} // namespace

/// What a run starts with is told to who watches and kept in the database.
class TestJob : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void foretellsOnlyWhereAskedTo() {
    const store::test::Folder folder;
    store::RunStore store(folder.file());
    const run::RunSpec spec = run_spec_of({run::BatchChoice::Kind::number, 32});
    Watching plain(false);
    const JobResult without = run_job(spec, plain, store);
    QVERIFY(!without.start.memory && !plain.seen.memory);
    const store::RunReader reader(folder.file());
    QVERIFY(!run::run_start_from_json(reader.start_json(without.id)).memory);

    Watching wanting(true);
    const JobResult with = run_job(spec, wanting, store);
    QCOMPARE(wanting.probes, 0); // it is no search
    QVERIFY(with.start.memory && wanting.seen.memory);
    QVERIFY(!with.start.search);
    const double real = static_cast<double>(with.outcome.peak_bytes);
    QVERIFY(std::abs(static_cast<double>(with.start.memory->at(32).bytes) / real - 1) < 0.005);
    // The prediction leaves the run as it was.
    QCOMPARE(with.outcome.loss, without.outcome.loss);
    QCOMPARE(with.outcome.peak_bytes, without.outcome.peak_bytes);
    const run::RunStart stored = run::run_start_from_json(reader.start_json(with.id));
    QCOMPARE(run::to_json(stored), run::to_json(with.start));
    QCOMPARE(run::to_json(stored), run::to_json(wanting.seen));
  }

  void saysWhyASearchChoseTheBatch() {
    const store::test::Folder folder;
    store::RunStore store(folder.file());
    Watching watch(false);
    run::RunSpec spec = run_spec_of({});
    spec.memory_budget = 40'000'000; // all of the data fits
    const JobResult job = run_job(spec, watch, store);
    // 500 examples to train on.
    QVERIFY(job.start.batch <= 26);
    QVERIFY((500 + job.start.batch - 1) / job.start.batch >= 20);
    QVERIFY(!job.start.batch_reason.empty());
    const store::RunReader reader(folder.file());
    const run::RunStart stored = run::run_start_from_json(reader.start_json(job.id));
    QCOMPARE(stored.batch_reason, job.start.batch_reason);
    const Json search = Json::parse(reader.search_json(*job.search));
    QCOMPARE(search["automatic"].get<std::int64_t>(), job.start.batch);

    spec.accumulate = 4;
    QVERIFY(run_job(spec, watch, store).start.batch <= 6);
    spec.accumulate = 1;
    spec.batch.kind = run::BatchChoice::Kind::largest;
    QCOMPARE(run_job(spec, watch, store).start.batch, std::int64_t{500});
    spec.batch = {run::BatchChoice::Kind::number, 8};
    QVERIFY(run_job(spec, watch, store).start.batch_reason.empty());
  }

  void tellsTheNumberOfItsSearch() {
    class Told : public Watching {
    public:
      Told() : Watching(false) {}
      void search_stored(std::int64_t id) override { search = id; }
      std::int64_t search = 0;
    };
    const store::test::Folder folder;
    store::RunStore store(folder.file());
    Told watch;
    QCOMPARE(run_job(run_spec_of({run::BatchChoice::Kind::safe, 0}), watch, store).search.value(), watch.search);
  }

  /// The sizes were settled when it was stopped; only the throughput was not known yet.
  void aSearchStoppedWhileItTimesIsStored() {
    const store::test::Folder folder;
    store::RunStore store(folder.file());
    run::JobControl control;
    Stopping watch(control, Stopping::At::timing);
    const run::RunSpec spec = run_spec_of({});
    const auto session = run::open_session(spec);
    const auto stored = search_and_store(
        spec, {}, session->budget_bytes(),
        [&](const auto& options, const auto& on_probe) { return session->find(options, on_probe); }, store, watch,
        control);
    QVERIFY(stored && stored->result.found && stored->result.interrupted);
    QVERIFY(stored->result.largest_is_exact && stored->result.safe && !stored->result.recommended);
    QCOMPARE(stored->result.timings.size(), std::size_t{1});
    const auto kept = search::search_result_from_json(store::RunReader(folder.file()).search_json(stored->id));
    QVERIFY(kept.found && kept.largest == stored->result.largest && kept.safe == stored->result.safe);
  }

  void aRunStoppedInItsSearchLeavesTheSearch() {
    const store::test::Folder folder;
    store::RunStore store(folder.file());
    run::JobControl control;
    Stopping watch(control, Stopping::At::probe);
    const auto session = run::open_session(run_spec_of({}));
    QVERIFY_EXCEPTION_THROWN(choose_batch(*session, store, watch, control), Error);
    QVERIFY(watch.stored);
    const auto kept = search::search_result_from_json(store::RunReader(folder.file()).search_json(*watch.stored));
    QVERIFY(!kept.recommended && kept.timings.empty());
    QCOMPARE(kept.probes.size() + kept.checks.size(), std::size_t{1});
    QCOMPARE(watch.probes, 1);

    // Nothing was run, so there is nothing to keep.
    const auto again = search_and_store(
        run_spec_of({}), {}, 0,
        [&](const auto& options, const auto& on_probe) { return session->find(options, on_probe); }, store, watch,
        control);
    QVERIFY(!again);
    QCOMPARE(store::RunReader(folder.file()).searches().size(), std::size_t{1});
  }

  void takesTheCurveOfItsSearch() {
    const store::test::Folder folder;
    store::RunStore store(folder.file());
    Watching watch(true);
    const JobResult job = run_job(run_spec_of({run::BatchChoice::Kind::safe, 0}), watch, store);
    QVERIFY(watch.probes >= 1);
    QVERIFY(job.search.has_value());
    const store::RunReader reader(folder.file());
    const run::RunStart stored = run::run_start_from_json(reader.start_json(job.id));
    QCOMPARE(stored.search, job.search);
    QCOMPARE(stored.batch, job.start.batch);
    QCOMPARE(stored.expected_steps.value(), std::int64_t{3});
    QVERIFY(stored.memory.has_value());
    const Json search = Json::parse(reader.search_json(*job.search));
    QCOMPARE(search["memory"].dump(), Json::parse(stored.memory->to_json()).dump());
  }
};

BATCHSCOPE_TEST(TestJob)
#include "tst_job.moc"
