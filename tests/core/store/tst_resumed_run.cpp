#include <QTest>

#include <random>

#include "core/store/run_follower.h"
#include "core/store/run_reader.h"
#include "store_test.h"
#include "test_events.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::store;
using namespace batchscope::store::test;

namespace {

/// What happens after a step, in a run that always goes the same way.
std::vector<telemetry::Event> events_after(std::int64_t step) {
  std::vector<telemetry::Event> events;
  if (step % 100 == 0)
    events.push_back(event_of(step, static_cast<double>(step), "evaluation", "{}",
                              {{"validation_loss", 1.0 / static_cast<double>(step)}, {"loss", 3}}));
  if (step % 50 == 0) // only values
    events.push_back(event_of(step, 0, "", "{}", {{"noise_scale", 7}}));
  if (step % 333 == 0)
    events.push_back(event_of(step + 1, 0, "oom"));
  return events;
}

class Run {
public:
  explicit Run(telemetry::Sink& sink) : sink_(sink) {}
  Run(telemetry::Sink& sink, std::int64_t step, std::int64_t events, const telemetry::RunProgress& progress)
      : sink_(sink), step_(step), events_(events), progress_(progress) {}

  void go_to(std::int64_t last) {
    while (step_ < last) {
      ++step_;
      const telemetry::StepRecord record = record_at(step_);
      sink_.record(record);
      progress_.take(record);
      for (telemetry::Event& event : events_after(step_)) {
        progress_.take(event);
        events_ += !telemetry::has_happened(event) ? 0 : 1;
        sink_.event(std::move(event));
      }
    }
  }
  /// Its checkpoint.
  ResumedRun here(std::int64_t id) const { return {id, step_, events_, progress_}; }
  telemetry::RunOutcome outcome(telemetry::RunStatus status) const {
    telemetry::RunOutcome result = progress_.outcome();
    result.status = status;
    return result;
  }

private:
  telemetry::Sink& sink_;
  std::int64_t step_ = 0;
  std::int64_t events_ = 0;
  telemetry::RunProgress progress_;
};

NewRun resumption(const ResumedRun& at) {
  NewRun run = new_run("another name");
  run.resumed = at;
  return run;
}

std::vector<std::string> text_of_events(const RunReader& reader, std::int64_t run) {
  std::vector<std::string> texts;
  for (const telemetry::Event& event : reader.events(run))
    texts.push_back(kind_text(event) + ' ' + std::to_string(event.step));
  return texts;
}

/// Whether two runs hold the same points, summaries, events and outcome.
bool same_content(const RunReader& reader, std::int64_t a, std::int64_t b) {
  if (reader.series_names(a) != reader.series_names(b) || text_of_events(reader, a) != text_of_events(reader, b))
    return false;
  const auto summaries = reader.summaries(a), others = reader.summaries(b);
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    const SeriesSummary &x = summaries[i], &y = others[i];
    if (x.count != y.count || x.last_step != y.last_step || !same(x.last, y.last) || !same(x.min, y.min) ||
        !same(x.max, y.max))
      return false;
    const auto points = reader.series(a, x.name), other = reader.series(b, x.name);
    if (!std::equal(points.begin(), points.end(), other.begin(), other.end(),
                    [](const Point& p, const Point& q) { return p.step == q.step && same(p.value, q.value); }))
      return false;
  }
  const auto x = reader.run(a).outcome, y = reader.run(b).outcome;
  return x.status == y.status && x.steps == y.steps && x.examples_seen == y.examples_seen && x.seconds == y.seconds &&
         x.examples_per_second == y.examples_per_second && x.oom_events == y.oom_events &&
         x.validation_loss == y.validation_loss;
}

} // namespace

/// A run that goes on from a checkpoint.
class TestResumedRun : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void what_follows_the_checkpoint_is_replaced_data();
  void what_follows_the_checkpoint_is_replaced();
  void series_that_were_pruned_go_on();
  void only_runs_that_ended_early_go_on();
  void old_commands_are_not_for_the_new_process();
};

void TestResumedRun::what_follows_the_checkpoint_is_replaced_data() {
  QTest::addColumn<qlonglong>("checkpoint");
  QTest::addColumn<qlonglong>("end");
  QTest::addColumn<bool>("stopped"); // its last points are sealed
  const auto row = [](qlonglong checkpoint, qlonglong end) {
    for (const bool stopped : {false, true})
      QTest::addRow("%lld of %lld, %s", checkpoint, end, stopped ? "stopped" : "abandoned")
          << checkpoint << end << stopped;
  };
  // A chunk has 1024 points.
  for (const auto& [checkpoint, end] : {std::pair(1, 40), std::pair(100, 101), std::pair(1023, 1030),
                                        std::pair(1024, 1024), std::pair(1025, 3000), std::pair(2048, 2048)})
    row(checkpoint, end);
}

void TestResumedRun::what_follows_the_checkpoint_is_replaced() {
  QFETCH(qlonglong, checkpoint);
  QFETCH(qlonglong, end);
  QFETCH(bool, stopped);
  const std::int64_t last = end + 1500;
  const Folder folder;
  {
    RunStore store(folder.file());
    auto whole = store.begin(new_run("whole"));
    Run never_stopped(whole->sink());
    never_stopped.go_to(last);
    whole->finish(never_stopped.outcome(telemetry::RunStatus::finished));
  }
  ResumedRun at;
  {
    RunStore store(folder.file());
    auto writer = store.begin(new_run("first"));
    Run first(writer->sink());
    first.go_to(checkpoint);
    at = first.here(writer->id());
    store.flush();
    first.go_to(end);
    if (stopped)
      writer->finish(first.outcome(telemetry::RunStatus::stopped));
  }
  {
    RunStore store(folder.file());
    auto writer = store.begin(resumption(at));
    QCOMPARE(writer->id(), at.run);
    const RunReader reader(folder.file());
    const RunRow row = reader.run(at.run);
    QCOMPARE(row.name, std::string("first")); // it stays the same run
    QCOMPARE(row.uid, writer->uid());
    QCOMPARE(row.outcome.status, telemetry::RunStatus::running);
    QCOMPARE(row.outcome.reason, std::string());
    QCOMPARE(row.outcome.steps, static_cast<std::int64_t>(checkpoint));
    QCOMPARE(reader.series(at.run, "loss").size(), static_cast<std::size_t>(checkpoint));
    QCOMPARE(reader.check(), std::vector<std::string>{}); // nothing counts as missing
    Run second(writer->sink(), at.steps, at.events, at.progress);
    second.go_to(checkpoint + 700);
    store.flush();
    QCOMPARE(reader.check(), std::vector<std::string>{});
    second.go_to(last);
    writer->finish(second.outcome(telemetry::RunStatus::finished));
  }
  const RunReader reader(folder.file());
  QVERIFY(same_content(reader, 1, at.run));
  QCOMPARE(reader.check(), std::vector<std::string>{});
  RunFollower follower(folder.file(), at.run); // which reads chunks in another way
  std::int64_t step = 0;
  for (bool more = true; more;) {
    const auto update = follower.poll(1000);
    for (const telemetry::StepRecord& record : update.records)
      QCOMPARE(record.step, ++step);
    more = update.more;
  }
  QCOMPARE(step, last);
}

/// Their earlier points stay away, and the others are whole.
void TestResumedRun::series_that_were_pruned_go_on() {
  const Folder folder;
  RunStore store(folder.file());
  auto writer = store.begin(new_run("run"));
  Run first(writer->sink());
  first.go_to(1500);
  const ResumedRun at = first.here(writer->id());
  first.go_to(1700);
  writer->finish(first.outcome(telemetry::RunStatus::stopped));
  store.prune({1}, {"loss", "validation_loss"});
  writer = store.begin(resumption(at));
  Run second(writer->sink(), at.steps, at.events, at.progress);
  second.go_to(2000);
  writer->finish(second.outcome(telemetry::RunStatus::finished));
  const RunReader reader(folder.file());
  QCOMPARE(reader.series(1, "loss").size(), std::size_t{2000});
  QCOMPARE(reader.series(1, "validation_loss").size(), std::size_t{20});
  const auto batch = reader.series(1, "batch");
  QCOMPARE(batch.size(), std::size_t{500});
  QCOMPARE(batch.front().step, std::int64_t{1501});
  for (const Point& point : batch)
    QCOMPARE(point.value, static_cast<double>(record_at(point.step).batch));
  QCOMPARE(reader.check(), std::vector<std::string>{});
}

void TestResumedRun::only_runs_that_ended_early_go_on() {
  const Folder folder;
  RunStore store(folder.file());
  const auto refused = [&](std::int64_t run) {
    try {
      store.begin(resumption({.run = run, .steps = 5, .events = 0, .progress = telemetry::RunProgress()}));
    } catch (const Error& error) {
      return error.kind() == Error::Kind::input;
    }
    return false;
  };
  QVERIFY(refused(1));
  auto running = store.begin(new_run("running"));
  QVERIFY(refused(running->id()));
  Run run(running->sink());
  run.go_to(20);
  running->finish(run.outcome(telemetry::RunStatus::finished));
  QVERIFY(refused(running->id()));
  QCOMPARE(RunReader(folder.file()).series(1, "loss").size(), std::size_t{20});
  const std::int64_t deleted = store.add_finished(new_run("deleted"), outcome(telemetry::RunStatus::failed));
  store.set_deleted({deleted}, true);
  QVERIFY(refused(deleted));
}

void TestResumedRun::old_commands_are_not_for_the_new_process() {
  const Folder folder;
  RunStore store(folder.file());
  std::vector<std::string> taken;
  auto writer = store.begin(new_run("takes no commands"));
  Run first(writer->sink());
  first.go_to(20);
  const ResumedRun at = first.here(1);
  store.send(1, {.verb = "stop"});
  writer->finish(first.outcome(telemetry::RunStatus::stopped));
  NewRun again = resumption(at);
  again.on_command = [&](const Command& command) { taken.push_back(command.verb); };
  writer = store.begin(again);
  const std::int64_t pause = store.send(1, {.verb = "pause"});
  QTRY_VERIFY(RunReader(folder.file()).taken(pause));
  writer->finish(first.outcome(telemetry::RunStatus::stopped));
  QCOMPARE(taken, std::vector<std::string>{"pause"});
}

BATCHSCOPE_TEST(TestResumedRun)
#include "tst_resumed_run.moc"
