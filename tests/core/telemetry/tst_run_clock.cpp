#include <QTest>

#include <limits>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/telemetry/outcome_fields.h"
#include "core/telemetry/run_clock.h"
#include "test_events.h"
#include "test_program.h"

using namespace batchscope::telemetry;
using namespace batchscope::test;

namespace {

StepRecord record(std::int64_t step, std::int64_t examples, double seconds) {
  StepRecord record;
  record.step = step;
  record.examples_seen = examples;
  record.seconds = seconds;
  return record;
}

Event evaluation(std::int64_t step, double seconds, double took) {
  return event_of(step, seconds, "evaluation", "{}", {{evaluation_seconds, took}});
}

} // namespace

class TestRunClock : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void nothing_yet();
  void evaluations_count_as_time_but_not_as_training();
  void the_order_of_records_and_events_does_not_matter();
  void times_that_are_no_numbers_are_left_out();
  void goes_on_from_json();
  void windows_tell_what_others_took();
};

void TestRunClock::windows_tell_what_others_took() {
  RunClock clock;
  clock.take(record(1, 100, 0.5));
  QVERIFY(!clock.disturbed());
  StepRecord window = record(2, 200, 1);
  window.more = {{disturbed, 0.2}};
  clock.take(window);
  QCOMPARE(clock.disturbed(), std::optional(0.2));
  window = record(9, 900, 4);
  window.more = {{disturbed, 0.6}};
  clock.take(window);
  QCOMPARE(clock.disturbed(), std::optional((0.2 * 1 + 0.6 * 3) / 4));
  clock.take(record(10, 1000, 5)); // a window is not over
  QCOMPARE(clock.disturbed(), std::optional((0.2 * 1 + 0.6 * 3) / 4));
  // What is no fraction says nothing: a program may have a series of this name.
  window = record(11, 1100, 6);
  window.more = {{disturbed, 7}};
  clock.take(window);
  QCOMPARE(clock.disturbed(), std::optional((0.2 * 1 + 0.6 * 3) / 4));
}

void TestRunClock::nothing_yet() {
  const RunClock clock;
  QCOMPARE(clock.seconds(), 0.0);
  QCOMPARE(clock.examples_per_second(), 0.0);
}

void TestRunClock::evaluations_count_as_time_but_not_as_training() {
  RunClock clock;
  clock.take(record(1, 100, 1));
  QCOMPARE(clock.seconds(), 1.0);
  QCOMPARE(clock.examples_per_second(), 100.0);
  clock.take(evaluation(1, 4, 3));
  QCOMPARE(clock.seconds(), 4.0);
  QCOMPARE(clock.examples_per_second(), 100.0);
  clock.take(record(2, 200, 5));
  QCOMPARE(clock.seconds(), 5.0);
  QCOMPARE(clock.examples_per_second(), 100.0);
  clock.take(evaluation(2, 8, 3)); // the run's end
  QCOMPARE(clock.seconds(), 8.0);
  QCOMPARE(clock.examples_per_second(), 100.0);
}

void TestRunClock::the_order_of_records_and_events_does_not_matter() {
  RunClock late;
  late.take(record(3, 300, 9));
  for (const std::int64_t step : {1, 2, 3})
    late.take(evaluation(step, 3.0 * static_cast<double>(step) + 2, 2));
  QCOMPARE(late.seconds(), 11.0);
  QCOMPARE(late.examples_per_second(), 60.0); // 9 s, of which 4 went into evaluations
}

void TestRunClock::times_that_are_no_numbers_are_left_out() {
  RunClock clock;
  clock.take(record(1, 10, 1));
  clock.take(record(2, 20, std::numeric_limits<double>::quiet_NaN()));
  clock.take(evaluation(2, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()));
  QCOMPARE(clock.seconds(), 1.0);
  QCOMPARE(clock.examples_per_second(), 20.0);
}

/// Progress that was saved and read counts on as the one that was not; no value is rounded.
void TestRunClock::goes_on_from_json() {
  const auto step = [](RunProgress& progress, std::int64_t number) {
    StepRecord next = record(number, number * 16, static_cast<double>(number) / 3);
    next.loss = number == 4 ? std::numeric_limits<double>::quiet_NaN() : 1 / static_cast<double>(number);
    if (number % 3 == 0)
      next.more = {{disturbed, 0.1 / static_cast<double>(number)}};
    progress.take(next);
    if (number % 2 == 0)
      progress.take(evaluation(number, static_cast<double>(number) / 3 + 0.1, 0.1));
  };
  for (std::int64_t saved_at = 0; saved_at < 7; ++saved_at) {
    RunProgress whole(RunStatus::running, 16), first(RunStatus::running, 16);
    for (std::int64_t number = 1; number <= 7; ++number)
      step(whole, number);
    for (std::int64_t number = 1; number <= saved_at; ++number)
      step(first, number);
    const std::string text = batchscope::json_text(to_json(first));
    RunProgress second = run_progress_from_json(batchscope::parse_json(text));
    QCOMPARE(batchscope::json_text(to_json(second)), text);
    for (std::int64_t number = saved_at + 1; number <= 7; ++number)
      step(second, number);
    QCOMPARE(batchscope::json_text(to_json(second)), batchscope::json_text(to_json(whole)));
  }
  for (const char* other : {"[]", "{}", R"({"outcome": {}, "clock": {}})"})
    QVERIFY_THROWS_EXCEPTION(batchscope::Error, run_progress_from_json(batchscope::parse_json(other)));
}

BATCHSCOPE_TEST(TestRunClock)
#include "tst_run_clock.moc"
