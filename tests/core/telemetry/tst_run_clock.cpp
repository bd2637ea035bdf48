#include <QTest>

#include <limits>

#include "core/telemetry/run_clock.h"
#include "test_program.h"

using namespace batchscope::telemetry;

namespace {

StepRecord record(std::int64_t step, std::int64_t examples, double seconds) {
  StepRecord record;
  record.step = step;
  record.examples_seen = examples;
  record.seconds = seconds;
  return record;
}

Event evaluation(std::int64_t step, double seconds, double took) {
  return {.step = step,
          .seconds = seconds,
          .kind = "evaluation",
          .detail_json = "{}",
          .values = {{evaluation_seconds, took}}};
}

} // namespace

class TestRunClock : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void nothing_yet();
  void evaluations_count_as_time_but_not_as_training();
  void the_order_of_records_and_events_does_not_matter();
  void times_that_are_no_numbers_are_left_out();
};

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

BATCHSCOPE_TEST(TestRunClock)
#include "tst_run_clock.moc"
