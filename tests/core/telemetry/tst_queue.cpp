#include <QTest>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "core/telemetry/queue.h"
#include "test_program.h"

using namespace batchscope::telemetry;

namespace {

StepRecord record_at(std::int64_t step) {
  StepRecord record;
  record.step = step;
  return record;
}

Event event_at(std::int64_t step) {
  return {.step = step, .body = Evaluation{}};
}

std::int64_t step_of(const Entry& entry) {
  return std::visit([](const auto& value) { return value.step; }, entry);
}

std::vector<std::int64_t> drained(RecordQueue& queue) {
  std::vector<std::int64_t> steps;
  queue.drain([&](Entry&& entry) { steps.push_back(step_of(entry)); });
  return steps;
}

} // namespace

class TestQueue : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void records_and_events_keep_their_order();
  void a_long_queue_loses_nothing_and_blocks_nobody();
  void with_too_many_waiting_the_loop_waits_and_loses_nothing();
  void a_loop_that_ends_waits_no_longer();
  void two_threads_pass_everything_in_order_data();
  void two_threads_pass_everything_in_order();
};

void TestQueue::records_and_events_keep_their_order() {
  RecordQueue queue;
  queue.record(record_at(1));
  queue.event(event_at(2));
  queue.record(record_at(3));
  std::vector<std::size_t> kinds;
  queue.drain([&](Entry&& entry) { kinds.push_back(entry.index()); });
  QCOMPARE(kinds, (std::vector<std::size_t>{0, 1, 0}));
}

void TestQueue::a_long_queue_loses_nothing_and_blocks_nobody() {
  RecordQueue queue;
  std::vector<std::int64_t> expected;
  for (std::int64_t step = 1; step <= 1000; ++step) { // nobody drains: would it block, the test would never end
    queue.record(record_at(step));
    expected.push_back(step);
  }
  QCOMPARE(queue.waiting(), std::size_t(1000));
  QCOMPARE(drained(queue), expected);
  QCOMPARE(queue.waiting(), std::size_t(0));
}

void TestQueue::with_too_many_waiting_the_loop_waits_and_loses_nothing() {
  RecordQueue queue(10);
  constexpr std::int64_t count = 100;
  std::atomic<std::int64_t> pushed{0};
  std::promise<void> stuck; // the most that fits is in, and the next push was begun
  std::thread loop([&] {
    for (std::int64_t step = 1; step <= count; ++step) {
      if (step == 11)
        stuck.set_value();
      queue.record(record_at(step));
      pushed = step;
    }
  });
  stuck.get_future().wait();
  QCOMPARE(pushed.load(), std::int64_t(10));
  QCOMPARE(queue.waiting(), std::size_t(10));
  std::vector<std::int64_t> steps;
  while (steps.size() < count)
    queue.drain([&](Entry&& entry) { steps.push_back(step_of(entry)); });
  loop.join();
  for (std::int64_t step = 1; step <= count; ++step)
    QCOMPARE(steps[static_cast<std::size_t>(step - 1)], step);
}

void TestQueue::a_loop_that_ends_waits_no_longer() {
  std::atomic<bool> ending{false};
  std::promise<void> stuck;
  RecordQueue queue(10, [&, asked = false]() mutable {
    if (!asked)
      stuck.set_value();
    asked = true;
    return ending.load();
  });
  std::vector<std::int64_t> expected;
  for (std::int64_t step = 1; step <= 100; ++step)
    expected.push_back(step);
  std::thread loop([&] {
    for (const std::int64_t step : expected)
      queue.record(record_at(step));
  });
  stuck.get_future().wait();
  QCOMPARE(queue.waiting(), std::size_t(10));
  ending = true;
  loop.join(); // nobody drains
  QCOMPARE(drained(queue), expected);
}

void TestQueue::two_threads_pass_everything_in_order_data() {
  QTest::addColumn<int>("max_waiting");
  QTest::newRow("waits never") << 1'000'000;
  QTest::newRow("waits") << 100;
  QTest::newRow("smallest") << 1;
}

void TestQueue::two_threads_pass_everything_in_order() {
  QFETCH(int, max_waiting);
  constexpr std::int64_t count = 100'000;
  RecordQueue queue(static_cast<std::size_t>(max_waiting));
  std::thread loop([&] {
    for (std::int64_t step = 1; step <= count; ++step) {
      if (step % 10 == 0)
        queue.event(event_at(step));
      else
        queue.record(record_at(step));
    }
  });
  std::int64_t expected = 1;
  std::int64_t wrong = 0;
  while (expected <= count)
    queue.drain([&](Entry&& entry) { wrong += step_of(entry) == expected++ ? 0 : 1; });
  loop.join();
  QCOMPARE(wrong, std::int64_t(0));
  QCOMPARE(queue.waiting(), std::size_t(0));
}

BATCHSCOPE_TEST(TestQueue)
#include "tst_queue.moc"
