#include <QTest>

#include <cmath>
#include <limits>
#include <random>
#include <thread>

#include "core/store/run_fields.h"
#include "core/store/run_reader.h"
#include "store_test.h"
#include "test_events.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::store;
using namespace batchscope::store::test;

class TestRunStore : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void a_run_comes_back_as_it_was_written_data();
  void a_run_comes_back_as_it_was_written();
  void any_mix_of_writing_and_flushing_keeps_every_point();
  void readers_follow_a_running_run();
  void several_reads_are_of_one_moment();
  void events_and_their_values();
  void unknown_metrics_become_series();
  void nan_and_infinities_survive();
  void steps_need_not_be_consecutive();
  void runs_that_never_start_sweeps_and_searches();
  void several_runs_and_threads_at_once();
  void a_run_that_is_not_finished_is_abandoned();
  void a_run_may_outlive_its_store();
  void lists_show_the_settings_of_a_run();
  void large_texts();
  void what_is_not_there_is_named();
};

void TestRunStore::a_run_comes_back_as_it_was_written_data() {
  QTest::addColumn<int>("steps");
  for (const int steps : {0, 1, 1023, 1024, 1025, 5000})
    QTest::addRow("%d steps", steps) << steps;
}

void TestRunStore::a_run_comes_back_as_it_was_written() {
  QFETCH(int, steps);
  const Folder folder;
  RunStore store(folder.file());
  auto run = store.begin(new_run("first"));
  for (int step = 1; step <= steps; ++step)
    run->sink().record(record_at(step));
  telemetry::RunOutcome end = outcome(telemetry::RunStatus::finished);
  end.steps = steps;
  end.loss = 0.25;
  end.peak_bytes = 104'000'000;
  run->finish(end);
  QCOMPARE(store.backlog().waiting, std::uint64_t(0));
  QCOMPARE(store.backlog().stored, static_cast<std::uint64_t>(steps));

  const RunReader reader(folder.file());
  const RunRow row = reader.run(run->id());
  QCOMPARE(row.name, std::string("first"));
  QCOMPARE(row.uid.size(), std::size_t(32));
  QCOMPARE(row.outcome.status, telemetry::RunStatus::finished);
  QCOMPARE(row.outcome.steps, std::int64_t(steps));
  QCOMPARE(*row.outcome.loss, 0.25);
  QVERIFY(!row.outcome.validation_loss);
  QCOMPARE(row.outcome.peak_bytes, std::uint64_t(104'000'000));
  QCOMPARE(reader.spec_json(run->id()), new_run("").spec_json);
  if (steps == 0) {
    QVERIFY(reader.series_names(run->id()).empty());
    return;
  }
  QCOMPARE(reader.series_names(run->id()), telemetry::step_series());
  std::vector<double> values;
  for (std::size_t i = 0; i < telemetry::step_series().size(); ++i) {
    const auto points = reader.series(run->id(), telemetry::step_series()[i]);
    QCOMPARE(points.size(), static_cast<std::size_t>(steps));
    for (int step = 1; step <= steps; ++step) {
      telemetry::row(record_at(step), values);
      QCOMPARE(points[static_cast<std::size_t>(step - 1)].step, std::int64_t(step));
      QVERIFY(same(points[static_cast<std::size_t>(step - 1)].value, values[i]));
    }
  }
  QCOMPARE(reader.check(), std::vector<std::string>{});
}

void TestRunStore::any_mix_of_writing_and_flushing_keeps_every_point() {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    std::mt19937 random(seed);
    const Folder folder;
    RunStore store(folder.file());
    auto run = store.begin(new_run("mixed"));
    std::int64_t step = 0;
    for (int round = 0; round < 12; ++round) {
      for (unsigned n = random() % 900; n > 0; --n)
        run->sink().record(record_at(++step));
      store.flush();
      const RunReader reader(folder.file());
      const auto points = reader.series(run->id(), "grad_norm");
      QVERIFY2(points.size() == static_cast<std::size_t>(step), qPrintable(QString("seed %1").arg(seed)));
      for (std::size_t i = 0; i < points.size(); ++i)
        QVERIFY2(points[i].value == record_at(static_cast<std::int64_t>(i) + 1).grad_norm,
                 qPrintable(QString("seed %1, point %2").arg(seed).arg(i)));
      QCOMPARE(reader.check(), std::vector<std::string>{});
    }
    run->finish(outcome(telemetry::RunStatus::finished));
    QCOMPARE(RunReader(folder.file()).check(), std::vector<std::string>{});
  }
}

void TestRunStore::readers_follow_a_running_run() {
  const Folder folder;
  RunStore store(folder.file());
  auto run = store.begin(new_run("live"));
  const RunReader reader(folder.file());
  QCOMPARE(reader.run(run->id()).outcome.status, telemetry::RunStatus::running);
  for (std::int64_t step = 1; step <= 10; ++step)
    run->sink().record(record_at(step));
  store.flush();
  const telemetry::RunOutcome so_far = reader.run(run->id()).outcome;
  QCOMPARE(so_far.status, telemetry::RunStatus::running);
  QCOMPARE(so_far.steps, std::int64_t(10));
  QCOMPARE(so_far.examples_seen, std::int64_t(640));
  QCOMPARE(*so_far.batch, std::int64_t(16)); // the first
  QCOMPARE(*so_far.loss, 0.1);
  QCOMPARE(so_far.peak_bytes, std::uint64_t(1'500'006));
  QCOMPARE(so_far.examples_per_second, 64000.0);
  QCOMPARE(reader.series(run->id(), "loss").size(), std::size_t(10));
  run->finish(outcome(telemetry::RunStatus::stopped));
  QCOMPARE(reader.run(run->id()).outcome.status, telemetry::RunStatus::stopped);
}

void TestRunStore::several_reads_are_of_one_moment() {
  const Folder folder;
  RunStore store(folder.file());
  auto run = store.begin(new_run("live"));
  const RunReader reader(folder.file());
  std::int64_t step = 0;
  const auto resume = [&] {
    run->sink().record(record_at(++step));
    store.flush();
  };
  resume();
  reader.at_one_moment([&] {
    QCOMPARE(reader.series(run->id(), "loss").size(), std::size_t(1));
    resume();
    QCOMPARE(reader.series(run->id(), "batch").size(), std::size_t(1));
    QCOMPARE(reader.run(run->id()).outcome.steps, std::int64_t(1));
  });
  QCOMPARE(reader.series(run->id(), "batch").size(), std::size_t(2));
  // What goes wrong in it ends it.
  QCOMPARE(error_of([&] { reader.at_one_moment([&] { reader.run(9); }); }),
           folder.file().string() + ": there is no run 9");
  resume();
  QCOMPARE(reader.series(run->id(), "batch").size(), std::size_t(3));

  const std::int64_t gone = store.add_finished(new_run("gone"), outcome(telemetry::RunStatus::finished));
  store.set_deleted({gone}, true);
  const auto rows = reader.present({77, run->id(), gone});
  QCOMPARE(rows.size(), std::size_t(1));
  QCOMPARE(rows.front().name, std::string("live"));
}

void TestRunStore::events_and_their_values() {
  const Folder folder;
  RunStore store(folder.file());
  auto run = store.begin(new_run("events"));
  run->sink().record(record_at(1));
  run->sink().event(event_of(1, 0.5, "oom", R"({"attempted_batch":64})"));
  run->sink().event(event_of(2, 0.75, "evaluation", "{}", {{"validation_loss", 0.5}, {"validation_accuracy", 0.9}}));
  store.flush();
  const RunReader reader(folder.file());
  const auto events = reader.events(run->id());
  QCOMPARE(events.size(), std::size_t(2));
  QCOMPARE(kind_text(events[0]), std::string("oom"));
  QVERIFY(detail_of(events[0])["attempted_batch"] == Json(64));
  QCOMPARE(events[1].step, std::int64_t(2));
  QCOMPARE(events[1].seconds, 0.75);
  const telemetry::RunOutcome so_far = reader.run(run->id()).outcome;
  QCOMPARE(so_far.oom_events, std::int64_t(1));
  QCOMPARE(*so_far.validation_loss, 0.5);
  QCOMPARE(*so_far.validation_accuracy, 0.9);
  telemetry::StepRecord scored = record_at(3); // of a program that prints its scores with its steps
  scored.more = {{"validation_loss", 0.25}};
  run->sink().record(scored);
  store.flush();
  QCOMPARE(*reader.run(run->id()).outcome.validation_loss, 0.25);
  const auto points = reader.series(run->id(), "validation_accuracy");
  QCOMPARE(points.size(), std::size_t(1));
  QCOMPARE(points[0].step, std::int64_t(2));
  QCOMPARE(points[0].value, 0.9);
}

void TestRunStore::unknown_metrics_become_series() {
  const Folder folder;
  RunStore store(folder.file());
  auto run = store.begin(new_run("other"));
  for (std::int64_t step = 1; step <= 2500; ++step) {
    telemetry::StepRecord record = record_at(step);
    record.more = {{"noise_scale", static_cast<double>(step) * 2}};
    if (step % 2 == 0)
      record.more.emplace_back("loss", -1.0); // a name that is taken
    run->sink().record(record);
  }
  run->finish(outcome(telemetry::RunStatus::finished));
  const RunReader reader(folder.file());
  QCOMPARE(reader.series(run->id(), "noise_scale").size(), std::size_t(2500));
  QCOMPARE(reader.series(run->id(), "noise_scale").back().value, 5000.0);
  const auto other = reader.series(run->id(), "other.loss");
  QCOMPARE(other.size(), std::size_t(1250));
  QCOMPARE(other[1].step, std::int64_t(4));
  QCOMPARE(reader.series(run->id(), "loss")[3].value, 0.25);
  QCOMPARE(reader.check(), std::vector<std::string>{});
}

void TestRunStore::nan_and_infinities_survive() {
  const Folder folder;
  RunStore store(folder.file());
  auto run = store.begin(new_run("diverged"));
  const std::vector<double> losses = {1.0, not_a_number, infinity, -infinity, -0.0, 5e-324, 1e308, not_a_number};
  for (std::size_t i = 0; i < losses.size(); ++i) {
    telemetry::StepRecord record = record_at(static_cast<std::int64_t>(i) + 1);
    record.loss = losses[i];
    record.grad_norm = not_a_number;
    run->sink().record(record);
  }
  const auto check = [&] {
    const RunReader reader(folder.file());
    const auto points = reader.series(run->id(), "loss");
    QCOMPARE(points.size(), losses.size());
    for (std::size_t i = 0; i < losses.size(); ++i)
      QVERIFY(same(points[i].value, losses[i]) && std::signbit(points[i].value) == std::signbit(losses[i]));
    QVERIFY(std::isnan(*reader.run(run->id()).outcome.loss));
    for (const SeriesSummary& summary : reader.summaries(run->id())) {
      if (summary.name == "loss")
        QVERIFY(std::isnan(summary.last) && summary.min == -infinity && summary.max == infinity);
      if (summary.name == "grad_norm")
        QVERIFY(std::isnan(summary.last) && std::isnan(summary.min) && std::isnan(summary.max));
    }
    QCOMPARE(reader.check(), std::vector<std::string>{});
  };
  store.flush();
  check(); // in the tail
  telemetry::RunOutcome end = outcome(telemetry::RunStatus::finished);
  end.loss = not_a_number;
  end.validation_loss = infinity;
  run->finish(end);
  check(); // sealed
  QCOMPARE(*RunReader(folder.file()).run(run->id()).outcome.validation_loss, infinity);
}

void TestRunStore::steps_need_not_be_consecutive() {
  const Folder folder;
  RunStore store(folder.file());
  auto run = store.begin(new_run("resumed"));
  std::vector<std::int64_t> steps;
  for (std::int64_t step = 1; step <= 1500; ++step)
    steps.push_back(step <= 700 ? step * 3 : step - 600);
  for (const std::int64_t step : steps)
    run->sink().record(record_at(step));
  run->finish(outcome(telemetry::RunStatus::finished));
  const RunReader reader(folder.file());
  const auto points = reader.series(run->id(), "loss");
  QCOMPARE(points.size(), steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i)
    QCOMPARE(points[i].step, steps[i]);
  QCOMPARE(reader.check(), std::vector<std::string>{});
}

void TestRunStore::runs_that_never_start_sweeps_and_searches() {
  const Folder folder;
  RunStore store(folder.file());
  const std::int64_t sweep = store.add_sweep(R"({"batch":[16,32]})");
  NewRun part = new_run("part");
  part.sweep = sweep;
  part.batch = 9000;
  telemetry::RunOutcome end = outcome(telemetry::RunStatus::failed);
  end.reason = "batch 9000 is above the 8000 examples";
  end.batch = 9000;
  const std::int64_t failed = store.add_finished(part, end);
  auto running = store.begin(part);
  const std::int64_t search = store.add_search("{}", R"({"largest":100})");
  const RunReader reader(folder.file());
  QCOMPARE(reader.runs_of_sweep(sweep), (std::vector<std::int64_t>{failed, running->id()}));
  QCOMPARE(reader.sweep_json(sweep), std::string(R"({"batch":[16,32]})"));
  QCOMPARE(reader.search_json(search), std::string(R"({"largest":100})"));
  const std::int64_t second = store.add_search(R"({"model":"mlp"})", R"({"largest":7})");
  const auto searches = reader.searches();
  QCOMPARE(searches.size(), std::size_t{2});
  QCOMPARE(searches.front().id, search);
  QCOMPARE(searches.back().spec_json, std::string(R"({"model":"mlp"})"));
  QCOMPARE(searches.back().result_json, std::string(R"({"largest":7})"));
  QVERIFY(searches.back().created.ends_with('Z'));
  QCOMPARE(reader.searches(search).size(), std::size_t{1}); // what came after it
  QCOMPARE(reader.searches(0, 1).front().id, second);       // the newest
  QVERIFY(reader.searches(second).empty());
  QCOMPARE(reader.run(failed).outcome.reason, end.reason);
  QCOMPARE(reader.run(failed).outcome.batch.value(), std::int64_t(9000));
  QCOMPARE(reader.run(failed).sweep.value(), sweep);
  running->finish(outcome(telemetry::RunStatus::finished));
  QCOMPARE(reader.list().size(), std::size_t(2));
  QCOMPARE(reader.list("status = failed and batch > 8000").size(), std::size_t(1));
  part.sweep = 77;
  QCOMPARE(error_of([&] { store.begin(part); }), std::string("there is no sweep 77 to add a run to"));
}

void TestRunStore::several_runs_and_threads_at_once() {
  const Folder folder;
  RunStore store(folder.file());
  std::vector<std::unique_ptr<RunWriter>> runs;
  std::vector<std::thread> loops;
  for (int i = 0; i < 4; ++i)
    runs.push_back(store.begin(new_run("run " + std::to_string(i))));
  for (auto& run : runs)
    loops.emplace_back([&run] {
      for (std::int64_t step = 1; step <= 6000; ++step)
        run->sink().record(record_at(step));
      run->finish(outcome(telemetry::RunStatus::finished));
    });
  for (int i = 0; i < 20; ++i)
    store.flush();
  for (auto& loop : loops)
    loop.join();
  const RunReader reader(folder.file());
  for (const auto& run : runs)
    QCOMPARE(reader.series(run->id(), "loss").size(), std::size_t(6000));
  QCOMPARE(reader.check(), std::vector<std::string>{});
}

void TestRunStore::a_run_that_is_not_finished_is_abandoned() {
  const Folder folder;
  RunStore store(folder.file());
  auto run = store.begin(new_run("left"));
  run->sink().record(record_at(1));
  const std::int64_t id = run->id();
  run.reset();
  const telemetry::RunOutcome end = RunReader(folder.file()).run(id).outcome;
  QCOMPARE(end.status, telemetry::RunStatus::failed);
  QCOMPARE(end.reason, std::string("abandoned"));
  QCOMPARE(end.steps, std::int64_t(1));
}

void TestRunStore::a_run_may_outlive_its_store() {
  const Folder folder;
  std::unique_ptr<RunWriter> run;
  {
    RunStore store(folder.file());
    run = store.begin(new_run("long"));
  }
  run->sink().record(record_at(1));
  run->finish(outcome(telemetry::RunStatus::finished));
  QCOMPARE(RunReader(folder.file()).series(run->id(), "loss").size(), std::size_t(1));
}

void TestRunStore::lists_show_the_settings_of_a_run() {
  const Folder folder;
  RunStore store(folder.file());
  NewRun ours = new_run("ours");
  ours.spec_json = R"({"model":"mlp:hidden=32","data":"demo","lr":null,"seed":7,"optimizer":"sgd"})";
  ours.start_json = R"({"learning_rate":0.1})";
  const std::int64_t one = store.add_finished(ours, outcome(telemetry::RunStatus::finished));
  ours.spec_json = R"({"model":"cnn","lr":0.5})";
  const std::int64_t two = store.add_finished(ours, outcome(telemetry::RunStatus::finished));
  // Of another program: any text, or JSON with other types.
  NewRun other = new_run("other");
  other.spec_json = "not JSON";
  other.start_json = "neither";
  const std::int64_t three = store.add_finished(other, outcome(telemetry::RunStatus::finished));
  other.spec_json = R"({"model":5,"lr":"high","seed":1.5})";
  const std::int64_t four = store.add_finished(other, outcome(telemetry::RunStatus::finished));

  const RunReader reader(folder.file());
  RunSettings settings = reader.run(one).settings;
  QCOMPARE(settings.model.value(), std::string("mlp:hidden=32"));
  QCOMPARE(settings.optimizer.value(), std::string("sgd"));
  QCOMPARE(settings.seed.value(), std::int64_t(7));
  QCOMPARE(settings.learning_rate.value(), 0.1);
  QVERIFY(!settings.schedule && !settings.device);
  QCOMPARE(reader.run(two).settings.learning_rate.value(), 0.5);
  for (const std::int64_t id : {three, four}) {
    settings = reader.run(id).settings;
    QVERIFY(!settings.model && !settings.data && !settings.learning_rate && !settings.seed);
  }
  QCOMPARE(reader.list("optimizer = sgd").size(), std::size_t(1));

  // Integers that no double has are exact all the same.
  constexpr std::int64_t large = 9'223'372'036'854'775'807;
  ours.spec_json = R"({"model":"cnn","seed":9223372036854775807})";
  telemetry::RunOutcome end = outcome(telemetry::RunStatus::finished);
  end.batch = large;
  end.peak_bytes = (std::uint64_t{1} << 53) + 1;
  const RunRow exact = reader.run(store.add_finished(ours, end));
  QCOMPARE(exact.outcome.batch.value(), large);
  QCOMPARE(exact.outcome.peak_bytes, (std::uint64_t{1} << 53) + 1);
  for (const RunField& field : run_fields())
    if (field.name == "seed" || field.name == "batch")
      QCOMPARE(field.json(exact).get<std::int64_t>(), large);
}

void TestRunStore::large_texts() {
  const Folder folder;
  RunStore store(folder.file());
  NewRun given = new_run(std::string(1000, 'x'));
  given.spec_json = "{\"text\":\"" + std::string(3'000'000, 'y') + "\"}";
  auto run = store.begin(given);
  const std::string detail = "{\"text\":\"" + std::string(1'000'000, 'z') + "\"}";
  run->sink().event(event_of(0, not_a_number, "note", detail));
  run->finish(outcome(telemetry::RunStatus::finished));
  const RunReader reader(folder.file());
  QVERIFY(reader.spec_json(run->id()) == given.spec_json);
  QVERIFY(detail_text(reader.events(run->id()).at(0)) == detail);
  QVERIFY(std::isnan(reader.events(run->id()).at(0).seconds));
}

void TestRunStore::what_is_not_there_is_named() {
  const Folder folder;
  RunStore store(folder.file());
  auto run = store.begin(new_run("one"));
  const RunReader reader(folder.file());
  const std::string file = folder.file().string();
  QCOMPARE(error_of([&] { reader.run(7); }), file + ": there is no run 7");
  QCOMPARE(error_of([&] { reader.series(7, "loss"); }), file + ": there is no run 7");
  QCOMPARE(error_of([&] { reader.events(7); }), file + ": there is no run 7");
  QCOMPARE(error_of([&] { reader.search_json(3); }), file + ": there is no search 3");
  QCOMPARE(error_of([&] { reader.runs_of_sweep(3); }), file + ": there is no sweep 3");
  QCOMPARE(error_of([&] { reader.series(run->id(), "loss"); }),
           std::string("run 1 has no series loss: it has no series yet"));
  run->sink().record(record_at(1));
  run->finish(outcome(telemetry::RunStatus::finished));
  const std::string error = error_of([&] { reader.series(run->id(), "lsos"); });
  QVERIFY(error.find("has no series lsos; it has examples_seen, epoch_index") != std::string::npos);
}

BATCHSCOPE_TEST(TestRunStore)
#include "tst_run_store.moc"
