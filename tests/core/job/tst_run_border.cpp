#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include <QTest>

#include "core/base/json.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "core/sweep/sweep.h"
#include "test_events.h"
#include "test_program.h"
#include "tests/core/store/store_test.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::job;
using namespace batchscope::sweep;

namespace {

constexpr std::int64_t first_batch = 8;
const store::StoreOptions quick{.interval = std::chrono::milliseconds(2)};

SweepSpec short_runs(std::int64_t runs, std::int64_t steps) {
  SweepSpec spec;
  spec.base.model = "mlp:hidden=8";
  spec.base.data = "synthetic:examples=200,shape=1x8x8,classes=2";
  spec.base.memory_budget = 50'000'000;
  spec.base.length = {.epochs = {}, .examples = {}, .steps = steps};
  spec.vary = {parse_values("batch", std::to_string(first_batch))};
  spec.repeats = runs;
  return spec;
}

/// What whoever steers knows of a sweep: the run that was begun last, and how far it is.
class Seen : public SweepWatch {
public:
  struct Run {
    std::int64_t id = 0;
    std::shared_ptr<run::RunControl> control;
  };

  void started(const StartedRun& run) override {
    step_ = 0; // before: who sees the new run must not take the old one's steps for its own
    const std::lock_guard lock(mutex_);
    run_ = {run.id, run.control};
  }
  void record(const telemetry::StepRecord& record) override { step_ = record.step; }

  Run run() const {
    const std::lock_guard lock(mutex_);
    return run_;
  }
  std::int64_t step() const { return step_; }

private:
  mutable std::mutex mutex_;
  Run run_;
  std::atomic<std::int64_t> step_{0};
};

/// Runs the sweep while `steer` is called again and again on another thread.
SweepResult run_steered(const SweepSpec& spec, store::RunStore& store, Seen& seen,
                        const std::shared_ptr<run::JobControl>& job, const std::function<void()>& steer) {
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over) {
      steer();
      std::this_thread::yield();
    }
  });
  const std::int64_t sweep = store.add_sweep(to_json(spec));
  const SweepResult result = run_sweep(plan_sweep(spec), sweep, store, seen, job);
  over = true;
  other.join();
  return result;
}

std::vector<Json> edits_of(const store::RunReader& reader, std::int64_t run) {
  std::vector<Json> edits;
  for (const auto& event : reader.events(run))
    if (kind_text(event) == "edit")
      edits.push_back(Json::parse(detail_text(event)));
  return edits;
}

} // namespace

/// What is asked of a run while it ends and the next one of its sweep begins.
class TestRunBorder : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void anEditReachesItsRunOrIsRefused();
  void aCommandReachesItsRunOrComesTooLate();
  void aPauseIsOfItsRunAlone();
  void aStopEndsItsRunAlone();
  void aStopOfTheJobEndsTheSweep();
};

void TestRunBorder::anEditReachesItsRunOrIsRefused() {
  constexpr std::int64_t steps = 5;
  constexpr int after_the_end = 3;
  const store::test::Folder folder;
  store::RunStore store(folder.file(), quick);
  Seen seen;
  std::map<std::int64_t, std::set<std::string>> accepted; // by run
  std::set<std::string> refused;
  std::int64_t number = 1'000'000; // of a step that no run gets to: it tells the edits apart
  int late_in_a_row = 0;
  const auto steer = [&] {
    const Seen::Run run = seen.run();
    if (!run.control || seen.step() + 1 < steps)
      return;
    // The next run is begun meanwhile, and this one is sent more.
    for (late_in_a_row = 0; late_in_a_row < after_the_end;) {
      const std::string schedule = "piecewise:" + std::to_string(++number) + "=3";
      if (run.control->edit({schedule, 2})) {
        accepted[run.id].insert(schedule);
      } else {
        refused.insert(schedule);
        ++late_in_a_row;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  };
  const SweepResult result =
      run_steered(short_runs(60, steps), store, seen, std::make_shared<run::JobControl>(), steer);
  QCOMPARE(result.finished, std::int64_t{60});
  store.flush();
  const store::RunReader reader(folder.file());
  QVERIFY(!accepted.empty() && !refused.empty());
  std::int64_t too_late = 0;
  for (const std::int64_t run : result.runs) {
    std::multiset<std::string> answered;
    for (const Json& edit : edits_of(reader, run)) {
      answered.insert(edit.at("schedule").get<std::string>());
      too_late += edit.contains("refused") ? 1 : 0;
    }
    QCOMPARE(answered.size(), accepted[run].size());
    for (const std::string& schedule : accepted[run])
      QCOMPARE(answered.count(schedule), std::size_t{1});
    QCOMPARE(reader.series(run, "batch").front().value, static_cast<double>(first_batch));
  }
  qInfo("%lld edits refused when they were sent, %lld by their runs", static_cast<long long>(refused.size()),
        static_cast<long long>(too_late));
}

void TestRunBorder::aCommandReachesItsRunOrComesTooLate() {
  const store::test::Folder folder;
  store::RunStore store(folder.file(), quick);
  store::RunStore other(folder.file());
  Seen seen;
  std::map<std::int64_t, std::int64_t> sent; // command to run
  std::int64_t too_late = 0;
  const auto steer = [&] {
    const Seen::Run run = seen.run();
    if (!run.control || seen.step() < 100)
      return;
    try {
      sent[other.send(run.id, {.verb = "edit", .detail_json = R"({"schedule": "constant", "batch": 2})"})] = run.id;
    } catch (const Error&) {
      ++too_late;
    }
  };
  const SweepResult result = run_steered(short_runs(20, 120), store, seen, std::make_shared<run::JobControl>(), steer);
  QCOMPARE(result.finished, std::int64_t{20});
  const store::RunReader reader(folder.file());
  std::size_t answered = 0;
  for (const std::int64_t run : result.runs) {
    for (const Json& edit : edits_of(reader, run)) {
      QCOMPARE(sent.at(edit.at("command").get<std::int64_t>()), run);
      ++answered;
    }
    QCOMPARE(reader.series(run, "batch").front().value, static_cast<double>(first_batch));
  }
  QVERIFY(answered > 0 && answered <= sent.size());
  qInfo("%zu commands sent, %zu answered by their runs, %lld refused when they were sent", sent.size(), answered,
        static_cast<long long>(too_late));
}

void TestRunBorder::aPauseIsOfItsRunAlone() {
  const store::test::Folder folder;
  store::RunStore store(folder.file(), quick);
  Seen seen;
  std::set<std::int64_t> paused;
  const auto steer = [&] {
    const Seen::Run run = seen.run();
    if (!run.control || seen.step() < 2 || !paused.insert(run.id).second)
      return;
    // Wherever the run is by now, the next one must not wait.
    if (run.control->pause())
      run.control->resume();
    run.control->pause();
    run.control->step_once();
    run.control->resume();
  };
  const SweepResult result = run_steered(short_runs(20, 4), store, seen, std::make_shared<run::JobControl>(), steer);
  QCOMPARE(result.finished, std::int64_t{20});
}

void TestRunBorder::aStopEndsItsRunAlone() {
  const store::test::Folder folder;
  store::RunStore store(folder.file(), quick);
  Seen seen;
  const auto steer = [&] {
    const Seen::Run run = seen.run();
    if (run.control && run.id % 2 == 0)
      run.control->stop();
  };
  const SweepResult result = run_steered(short_runs(6, 5000), store, seen, std::make_shared<run::JobControl>(), steer);
  QVERIFY(!result.stopped);
  QCOMPARE(result.runs.size(), std::size_t{6});
  const store::RunReader reader(folder.file());
  for (const store::RunRow& row : reader.list())
    QCOMPARE(row.outcome.status, row.id % 2 == 0 ? telemetry::RunStatus::stopped : telemetry::RunStatus::finished);
}

void TestRunBorder::aStopOfTheJobEndsTheSweep() {
  const store::test::Folder folder;
  store::RunStore store(folder.file(), quick);
  Seen seen;
  const auto job = std::make_shared<run::JobControl>();
  bool sent = false;
  const auto steer = [&] {
    if (seen.run().id == 2 && seen.step() > 0 && !std::exchange(sent, true))
      store.send(2, {.verb = "stop-job"}); // as another process does
  };
  const SweepResult result = run_steered(short_runs(6, 3000), store, seen, job, steer);
  QVERIFY(result.stopped);
  QCOMPARE(result.runs.size(), std::size_t{2});
  const store::RunReader reader(folder.file());
  QCOMPARE(reader.run(1).outcome.status, telemetry::RunStatus::finished);
  QCOMPARE(reader.run(2).outcome.status, telemetry::RunStatus::stopped);
}

BATCHSCOPE_TEST(TestRunBorder)
#include "tst_run_border.moc"
