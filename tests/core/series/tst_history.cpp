#include <QTest>

#include <cmath>
#include <limits>

#include "core/base/utc.h"
#include "core/schedule/progression.h"
#include "core/series/history.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::series;

namespace {

using Values = std::vector<double>;

Values values_of(const Series* series) {
  Values values;
  for (std::size_t i = 0; series && i < series->values.size(); ++i)
    values.push_back(series->values[i]);
  return values;
}

Values x_of(const Series* series, Axis axis) {
  Values values;
  for (std::size_t i = 0; series && i < series->frame->size(); ++i)
    values.push_back(series->frame->x(axis)[i]);
  return values;
}

telemetry::StepRecord record_at(std::int64_t step) {
  telemetry::StepRecord record;
  record.step = step;
  record.examples_seen = 10 * step;
  record.epoch = 0.1 * static_cast<double>(step);
  record.seconds = 2 * static_cast<double>(step);
  record.loss = 1 / static_cast<double>(step);
  return record;
}

telemetry::Event values_at(std::int64_t step, double seconds, std::vector<std::pair<std::string, double>> values) {
  return {.step = step, .seconds = seconds, .body = telemetry::ValuesOnly{}, .values = std::move(values)};
}

/// The known trace of the semantics: 10 examples, 2 ranks, one more every 5 steps.
void append_known_trace(History& history) {
  schedule::ProgressionOptions options;
  options.sampler.examples = 10;
  options.sampler.ranks = 2;
  options.schedule = "step:interval=5,increment=1";
  options.length.steps = 14;
  schedule::Progression progression(options);
  while (const auto step = progression.next()) {
    telemetry::StepRecord record;
    record.step = step->step;
    record.examples_seen = step->takes.seen_in_total;
    record.epoch = step->epoch;
    record.train_coverage = step->train_coverage;
    record.batch = step->batch;
    record.seconds = 0.5 * static_cast<double>(step->step);
    history.append(record);
    progression.done();
  }
}

} // namespace

class TestHistory : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void has_the_known_trace();
  void knows_where_a_step_lies();
  void its_clock_goes_on_in_pauses();
  void knows_nothing_before_the_first_record();
  void keeps_recorded_steps_with_gaps();
  void gives_values_that_come_now_and_then_points_of_their_own();
  void names_what_a_step_series_has_taken();
  void keeps_events_that_have_a_kind();
  void holds_memory_that_was_not_measured();
  void hides_device_memory_that_nobody_knows();
  void never_lets_x_fall();
  void grows_without_moving_what_it_gave_out();
};

void TestHistory::has_the_known_trace() {
  History history;
  append_known_trace(history);
  QCOMPARE(history.steps(), std::size_t{14});
  QCOMPARE(values_of(history.find("batch")), (Values{1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3}));
  QCOMPARE(values_of(history.find("train_coverage")), (Values{.2, .4, .6, .8, 1, .4, .8, 1, .4, .8, 1, .6, 1, .6}));
  QCOMPARE(x_of(history.find("batch"), Axis::epoch),
           (Values{.2, .4, .6, .8, 1.0, 1.4, 1.8, 2.0, 2.4, 2.8, 3.0, 3.6, 4.0, 4.6}));
  QCOMPARE(x_of(history.find("loss"), Axis::examples), (Values{2, 4, 6, 8, 10, 14, 18, 20, 24, 28, 30, 36, 40, 46}));
  QCOMPARE(x_of(history.find("loss"), Axis::step), (Values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}));
}

void TestHistory::knows_where_a_step_lies() {
  History history;
  append_known_trace(history);
  QCOMPARE(history.position(6, Axis::examples), std::optional(14.0));
  QCOMPARE(history.position(14, Axis::epoch), std::optional(4.6));
  QCOMPARE(history.position(99, Axis::seconds), std::optional(7.0)); // the last before it
  QCOMPARE(history.position(99, Axis::step), std::optional(99.0));
  QCOMPARE(history.step_at(13.9, Axis::examples), std::optional<std::int64_t>(5));
  QCOMPARE(history.step_at(14, Axis::examples), std::optional<std::int64_t>(6));
  QCOMPARE(history.step_at(7.5, Axis::step), std::optional<std::int64_t>(7));
  QCOMPARE(history.step_at(1e9, Axis::epoch), std::optional<std::int64_t>(14));
  for (std::int64_t step = 1; step <= 14; ++step)
    for (const Axis axis : {Axis::step, Axis::examples, Axis::epoch, Axis::seconds})
      QCOMPARE(history.step_at(*history.position(step, axis), axis), std::optional(step));
}

void TestHistory::its_clock_goes_on_in_pauses() {
  using Status = telemetry::StatusChange::Status;
  History history;
  history.set_began(unix_seconds("2026-01-31T12:00:00Z"));
  const double noon = unix_seconds("2026-01-31T12:00:00Z");
  const auto step = [&](std::int64_t number, double seconds) {
    telemetry::StepRecord record = record_at(number);
    record.seconds = seconds;
    history.append(record);
  };
  step(1, 10);
  step(2, 20);
  const telemetry::Event paused{2, 20, telemetry::StatusChange{.status = Status::paused, .at = "2026-01-31T12:00:20Z"}};
  history.append(paused);
  const telemetry::Event resumed{2, 20,
                                 telemetry::StatusChange{.status = Status::running, .at = "2026-01-31T12:05:00Z"}};
  history.append(resumed);
  step(3, 30);
  history.append({3, 35, telemetry::ValuesOnly{}, {{"score", 1}}});
  // Ended, and resumed the day after.
  history.append({3, 40, telemetry::Resumed{.from_step = 3, .at = "2026-02-01T12:00:00Z"}});
  step(4, 50);
  history.append({4, 50, telemetry::StatusChange{.status = Status::paused, .at = "2025-01-01T00:00:00Z"}}); // set back
  step(5, 60);
  const double day = 24 * 3600;
  QCOMPARE(x_of(history.find("loss"), Axis::clock),
           (Values{noon + 10, noon + 20, noon + 310, noon + day + 10, noon + day + 20}));
  QCOMPARE(x_of(history.find("score"), Axis::clock), Values{noon + 315});
  QCOMPARE(x_of(history.find("loss"), Axis::seconds), (Values{10, 20, 30, 50, 60}));
  QCOMPARE(history.clock(0), noon + 20);
  QCOMPARE(history.clock(1), noon + 300); // when the pause was over, although its step was before
  QCOMPARE(history.clock(2), noon + day);
  QCOMPARE(history.step_at(noon + 200, Axis::clock), std::optional<std::int64_t>(2));

  History late; // its times are known from some step on
  late.set_began(noon);
  telemetry::StepRecord untimed = record_at(1);
  untimed.seconds = NAN;
  late.append(untimed);
  telemetry::StepRecord timed = record_at(2);
  timed.seconds = 7;
  late.append(timed);
  QCOMPARE(x_of(late.find("loss"), Axis::clock), (Values{noon, noon + 7}));
}

void TestHistory::knows_nothing_before_the_first_record() {
  History history;
  QCOMPARE(history.revision(), std::uint64_t{0});
  QVERIFY(!history.find("loss"));
  QVERIFY(!history.find("nonsense"));
  QVERIFY(!history.position(1, Axis::examples));
  QVERIFY(!history.step_at(1, Axis::step));
  history.append(record_at(5));
  QVERIFY(!history.position(4, Axis::seconds));
  QVERIFY(!history.step_at(9.9, Axis::seconds));
  QVERIFY(!history.step_at(std::nan(""), Axis::seconds));
  QVERIFY(history.find("loss"));
}

void TestHistory::keeps_recorded_steps_with_gaps() {
  History history; // as imported: every tenth step
  for (std::int64_t step = 10; step <= 100; step += 10)
    history.append(record_at(step));
  QCOMPARE(history.position(57, Axis::examples), std::optional(500.0));
  QCOMPARE(history.step_at(57, Axis::step), std::optional<std::int64_t>(50));
  QCOMPARE(history.position(57, Axis::step), std::optional(57.0));
}

void TestHistory::gives_values_that_come_now_and_then_points_of_their_own() {
  History history;
  for (std::int64_t step = 1; step <= 10; ++step) {
    telemetry::StepRecord record = record_at(step);
    if (step % 2 == 0)
      record.more = {{"momentum", 0.1 * static_cast<double>(step)}};
    history.append(record);
    if (step % 5 == 0)
      history.append(values_at(step, 2.0 * static_cast<double>(step) + 1,
                               {{"validation_loss", 0.5}, {"validation_accuracy", std::nan("")}}));
  }
  const Series* validation = history.find("validation_loss");
  QVERIFY(validation);
  QCOMPARE(validation->name, std::string("validation_loss"));
  QCOMPARE(values_of(validation), (Values{0.5, 0.5}));
  QCOMPARE(x_of(validation, Axis::step), (Values{5, 10}));
  QCOMPARE(x_of(validation, Axis::examples), (Values{50, 100}));
  QCOMPARE(x_of(validation, Axis::epoch), (Values{0.5, 1.0}));
  QCOMPARE(x_of(validation, Axis::seconds), (Values{11, 21})); // when it was known, not when the step was
  QVERIFY(std::isnan(history.find("validation_accuracy")->values[1]));
  QCOMPARE(x_of(history.find("momentum"), Axis::seconds), (Values{4, 8, 12, 16, 20}));
  QCOMPARE(history.find("momentum")->values.size(), std::size_t{5});
  QVERIFY(history.find("loss")->frame == history.find("seconds")->frame);
  // A stored point has no time of its own: it is at its step.
  history.append(values_at(7, 0, {{"score", 3}}));
  QCOMPARE(x_of(history.find("score"), Axis::seconds), Values{14});
  // Before any record there is nothing but the step.
  History empty;
  empty.append(values_at(3, 1.5, {{"score", 3}}));
  QCOMPARE(x_of(empty.find("score"), Axis::step), Values{3});
  QCOMPARE(x_of(empty.find("score"), Axis::examples), Values{0});
  QCOMPARE(x_of(empty.find("score"), Axis::seconds), Values{1.5});
  QVERIFY(!empty.find("loss"));
}

void TestHistory::names_what_a_step_series_has_taken() {
  History history;
  telemetry::StepRecord record = record_at(1);
  record.more = {{"loss", 7}};
  history.append(record);
  history.append(values_at(1, 2, {{"loss", 8}, {"zeta", 1}, {"alpha", 2}}));
  QCOMPARE(values_of(history.find("loss")), Values{1});
  QCOMPARE(values_of(history.find("other.loss")), (Values{7, 8}));
  QCOMPARE(history.find("other.loss")->name, std::string("other.loss"));
  std::vector<std::string> names = telemetry::step_series();
  std::erase(names, "device_bytes");
  names.insert(names.end(), {"alpha", "other.loss", "zeta"});
  QVERIFY(!history.find("device_bytes"));
  for (const std::string& name : names)
    QVERIFY2(history.find(name) && history.find(name)->name == name, name.c_str());
}

void TestHistory::keeps_events_that_have_a_kind() {
  History history;
  history.append(record_at(1));
  std::uint64_t revision = history.revision();
  history.append({.step = 1, .seconds = 2.5, .body = telemetry::OutOfMemory{.attempted_batch = 64}});
  QVERIFY(history.revision() > revision);
  revision = history.revision();
  history.append({.step = 1, .seconds = 2.5, .body = telemetry::ValuesOnly{}, .values = {{"validation_loss", 1}}});
  QVERIFY(history.revision() > revision);
  QCOMPARE(history.events().size(), std::size_t{1});
  const auto* oom = std::get_if<telemetry::OutOfMemory>(&history.events()[0].body);
  QVERIFY(oom && oom->attempted_batch == 64);
  QCOMPARE(history.events()[0].seconds, 2.5);
}

void TestHistory::holds_memory_that_was_not_measured() {
  History history;
  for (const std::int64_t bytes : {0, 700, 0, 0, 900}) {
    telemetry::StepRecord record = record_at(static_cast<std::int64_t>(history.steps()) + 1);
    record.allocated_bytes = bytes;
    record.loss = bytes == 900 ? std::numeric_limits<double>::quiet_NaN() : 1;
    history.append(record);
  }
  const Values values = values_of(history.find("allocated_bytes"));
  QVERIFY(std::isnan(values[0]));
  QCOMPARE(Values(values.begin() + 1, values.end()), (Values{700, 700, 700, 900}));
  QVERIFY(std::isnan(values_of(history.find("loss"))[4])); // a value that diverged is shown
}

void TestHistory::hides_device_memory_that_nobody_knows() {
  History history;
  history.append(record_at(1));
  QVERIFY(!history.find("device_bytes"));
  telemetry::StepRecord record = record_at(2);
  record.device_bytes = 5000;
  history.append(record);
  history.append(record_at(3));
  const Values values = values_of(history.find("device_bytes"));
  QCOMPARE(values.size(), std::size_t{3});
  QVERIFY(std::isnan(values[0]) && std::isnan(values[2])); // never drawn as -1 byte
  QCOMPARE(values[1], 5000.0);
}

void TestHistory::never_lets_x_fall() {
  Frame frame;
  const double infinity = std::numeric_limits<double>::infinity();
  frame.append({1, std::nan(""), -3, 5});
  frame.append({2, 7, infinity, 4}); // a clock that was set back, a value that is none
  frame.append({1, 6, -2, 6});
  const auto x = [&](Axis axis) { return Values{frame.x(axis)[0], frame.x(axis)[1], frame.x(axis)[2]}; };
  QCOMPARE(x(Axis::step), (Values{1, 2, 2}));
  QCOMPARE(x(Axis::examples), (Values{0, 7, 7}));
  QCOMPARE(x(Axis::epoch), (Values{-3, -3, -2}));
  QCOMPARE(x(Axis::seconds), (Values{5, 5, 6}));
}

void TestHistory::grows_without_moving_what_it_gave_out() {
  History history;
  history.append(record_at(1));
  history.append(values_at(1, 2, {{"score 0", 0}}));
  const Series* loss = history.find("loss");
  const Series* score = history.find("score 0");
  for (std::int64_t step = 2; step <= 10'000; ++step) {
    const std::uint64_t revision = history.revision();
    history.append(record_at(step));
    if (history.revision() == revision)
      QFAIL("a record went unnoticed");
    if (step % 100 == 0)
      history.append(values_at(step, 0, {{"score " + std::to_string(step), 0}}));
  }
  QVERIFY(history.find("loss") == loss);
  QVERIFY(history.find("score 0") == score);
  QCOMPARE(loss->values.size(), std::size_t{10'000});
  QCOMPARE(loss->values[9'999], 1e-4);
  QCOMPARE(score->values.size(), std::size_t{1});
}

BATCHSCOPE_TEST(TestHistory)
#include "tst_history.moc"
