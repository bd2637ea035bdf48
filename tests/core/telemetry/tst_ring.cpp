#include <QTest>

#include <memory>
#include <random>
#include <string>
#include <thread>

#include "core/telemetry/ring.h"
#include "test_program.h"

using batchscope::telemetry::Ring;

class TestRing : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void capacity_is_a_power_of_two();
  void full_and_empty_leave_the_value_alone();
  void follows_a_queue_in_random_use();
  void two_threads_pass_everything_in_order();
};

void TestRing::capacity_is_a_power_of_two() {
  QCOMPARE(Ring<int>(1).capacity(), std::size_t(1));
  QCOMPARE(Ring<int>(5).capacity(), std::size_t(8));
  QCOMPARE(Ring<int>(4096).capacity(), std::size_t(4096));
}

void TestRing::full_and_empty_leave_the_value_alone() {
  Ring<std::string> ring(2);
  std::string out = "untouched";
  QVERIFY(!ring.try_pop(out));
  QCOMPARE(out, std::string("untouched"));
  QVERIFY(ring.try_push("a") && ring.try_push("b"));
  QCOMPARE(ring.size(), std::size_t(2));
  std::string in = "kept";
  QVERIFY(!ring.try_push(std::move(in)));
  QCOMPARE(in, std::string("kept"));
  QVERIFY(ring.try_pop(out));
  QCOMPARE(out, std::string("a"));
  QVERIFY(ring.try_push(std::move(in)));
}

void TestRing::follows_a_queue_in_random_use() {
  std::mt19937 random(7);
  Ring<std::unique_ptr<int>> ring(8);
  int pushed = 0;
  int popped = 0;
  for (int i = 0; i < 100'000; ++i) {
    if (random() % 2 == 0) {
      const bool fits = pushed - popped < 8;
      QCOMPARE(ring.try_push(std::make_unique<int>(pushed)), fits);
      pushed += fits ? 1 : 0;
    } else {
      std::unique_ptr<int> value;
      QCOMPARE(ring.try_pop(value), popped < pushed);
      if (value)
        QCOMPARE(*value, popped++);
    }
    QCOMPARE(ring.size(), static_cast<std::size_t>(pushed - popped));
  }
}

void TestRing::two_threads_pass_everything_in_order() {
  constexpr int count = 300'000;
  Ring<std::string> ring(64);
  std::thread producer([&] {
    for (int i = 0; i < count; ++i) {
      std::string value = std::to_string(i);
      while (!ring.try_push(std::move(value)))
        std::this_thread::yield();
    }
  });
  int wrong = 0;
  std::string value;
  for (int i = 0; i < count; ++i) {
    while (!ring.try_pop(value))
      std::this_thread::yield();
    wrong += value == std::to_string(i) ? 0 : 1;
  }
  producer.join();
  QCOMPARE(wrong, 0);
  QCOMPARE(ring.size(), std::size_t(0));
}

BATCHSCOPE_TEST(TestRing)
#include "tst_ring.moc"
