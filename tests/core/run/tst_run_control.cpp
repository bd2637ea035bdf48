#include "core/run/run_control.h"
#include "test_program.h"

#include <future>
#include <thread>

#include <QTest>

using namespace batchscope::run;

class TestRunControl : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void nothingAsked();
  void editsArriveOnceAndInOrder();
  void pausedRunMakesSingleSteps();
  void saysBeforeItWaits();
  void takesNoOrdersOnceClosed();
  void endsWithItsJob();
  void resumeWakes();
  void resumeForgetsSingleSteps();
  void stepOnceMeansNothingWhileRunning();
  void stopWakesPausedRun();
  void signalWakesPausedRun();
  void manyThreads();
};

void TestRunControl::nothingAsked() {
  RunControl control;
  const auto orders = control.at_boundary();
  QVERIFY(!orders.stop);
  QVERIFY(orders.edits.empty());
  QCOMPARE(orders.waited_seconds, 0.0);
  QVERIFY(!control.paused());
  QVERIFY(!control.stopping());
}

void TestRunControl::editsArriveOnceAndInOrder() {
  RunControl control;
  QVERIFY(control.edit({"constant", std::nullopt}));
  QVERIFY(control.edit({"step:interval=2,increment=1", 8}));
  const auto orders = control.at_boundary();
  QCOMPARE(orders.edits.size(), std::size_t{2});
  QCOMPARE(orders.edits[0].schedule, std::string("constant"));
  QVERIFY(!orders.edits[0].batch);
  QCOMPARE(orders.edits[1].batch.value(), std::int64_t{8});
  QVERIFY(control.at_boundary().edits.empty());
}

void TestRunControl::pausedRunMakesSingleSteps() {
  RunControl control;
  control.pause();
  QVERIFY(control.paused());
  std::promise<void> three_steps;
  int steps = 0;
  std::thread loop([&] {
    while (!control.at_boundary().stop)
      if (++steps == 3)
        three_steps.set_value();
  });
  for (int i = 0; i < 3; ++i)
    control.step_once();
  three_steps.get_future().wait();
  QVERIFY(control.paused());
  control.stop();
  loop.join();
  QCOMPARE(steps, 3);
}

void TestRunControl::saysBeforeItWaits() {
  RunControl control;
  int waits = 0;
  const auto count = [&] { ++waits; };
  QVERIFY(!control.at_boundary(count).paused);
  control.pause();
  control.step_once();
  // With a step to make there is nothing to wait for.
  QVERIFY(control.at_boundary(count).paused);
  QCOMPARE(waits, 0);
  // Called without a lock held: others may steer the run meanwhile, from the very same thread.
  const auto wake = [&] {
    ++waits;
    QVERIFY(control.paused());
    control.resume();
  };
  QVERIFY(!control.at_boundary(wake).paused);
  QCOMPARE(waits, 1);
  control.pause();
  const auto end = [&] { control.stop(); };
  const auto orders = control.at_boundary(end);
  QVERIFY(orders.stop && !orders.paused);
}

void TestRunControl::takesNoOrdersOnceClosed() {
  RunControl control;
  QVERIFY(control.edit({"constant", 4}));
  QVERIFY(control.pause());
  const auto late = control.close();
  QCOMPARE(late.size(), std::size_t{1});
  QCOMPARE(late[0].batch.value(), std::int64_t{4});
  QVERIFY(!control.paused());
  QVERIFY(!control.edit({"constant", 8}));
  QVERIFY(!control.pause() && !control.resume() && !control.step_once());
  QVERIFY(!control.paused());
  QVERIFY(control.close().empty());
  control.stop(); // an evaluation may still go on
  QVERIFY(control.stopping());
}

void TestRunControl::endsWithItsJob() {
  const auto job = std::make_shared<JobControl>();
  RunControl one(job);
  RunControl other(job);
  one.stop();
  QVERIFY(one.stopping() && one.at_boundary().stop);
  QVERIFY(!job->stopping() && !other.stopping() && !other.at_boundary().stop);
  job->stop();
  QVERIFY(other.stopping() && other.at_boundary().stop);
}

void TestRunControl::resumeWakes() {
  RunControl control;
  control.pause();
  std::promise<void> waits;
  auto requests = std::async(std::launch::async, [&] { return control.at_boundary([&] { waits.set_value(); }); });
  waits.get_future().wait();
  QVERIFY(control.edit({"constant", 4}));
  control.resume();
  const auto given = requests.get();
  QVERIFY(!given.stop);
  QCOMPARE(given.edits.size(), std::size_t{1});
  QVERIFY(!control.paused());
}

void TestRunControl::resumeForgetsSingleSteps() {
  RunControl control;
  control.pause();
  control.step_once();
  control.step_once();
  control.resume();
  control.pause();
  // Without a step left over the loop waits here until it is stopped.
  auto orders = std::async(std::launch::async, [&] { return control.at_boundary(); });
  control.stop();
  QVERIFY(orders.get().stop);
}

void TestRunControl::stepOnceMeansNothingWhileRunning() {
  RunControl control;
  control.step_once();
  control.pause();
  auto orders = std::async(std::launch::async, [&] { return control.at_boundary(); });
  control.stop();
  QVERIFY(orders.get().stop);
}

void TestRunControl::stopWakesPausedRun() {
  RunControl control;
  control.pause();
  auto orders = std::async(std::launch::async, [&] { return control.at_boundary(); });
  control.stop();
  QVERIFY(orders.get().stop);
  QVERIFY(control.stopping());
  QVERIFY(control.at_boundary().stop);
}

void TestRunControl::signalWakesPausedRun() {
  const auto job = std::make_shared<JobControl>();
  RunControl control(job);
  control.pause();
  auto orders = std::async(std::launch::async, [&] { return control.at_boundary(); });
  job->stop(); // as a signal handler does: it wakes nobody
  QVERIFY(orders.get().stop);
  QVERIFY(control.stopping());
}

void TestRunControl::manyThreads() {
  RunControl control;
  constexpr int per_thread = 200;
  std::size_t edits = 0;
  std::thread loop([&] {
    for (bool more = true; more;) {
      const auto orders = control.at_boundary();
      edits += orders.edits.size();
      more = !orders.stop;
    }
    edits += control.close().size();
  });
  std::vector<std::thread> users;
  for (int user = 0; user < 3; ++user)
    users.emplace_back([&] {
      for (int i = 0; i < per_thread; ++i) {
        control.pause();
        static_cast<void>(control.edit({"constant", i + 1}));
        control.step_once();
        control.resume();
      }
    });
  for (auto& user : users)
    user.join();
  control.stop();
  loop.join();
  QCOMPARE(edits, std::size_t{3 * per_thread});
}

BATCHSCOPE_TEST(TestRunControl)
#include "tst_run_control.moc"
