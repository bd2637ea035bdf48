#include <QCoreApplication>
#include <QEventLoop>
#include <QTest>

#include <algorithm>
#include <thread>
#include <vector>

#include "test_program.h"
#include "ui/threads/ui_queue.h"
#include "ui/threads/worker_thread.h"

using namespace batchscope::ui;

class TestUiQueue : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void calls_in_order_in_its_own_thread();
  void a_loop_within_a_call_goes_on_with_the_next();
  void what_waits_when_it_is_destroyed_is_not_called();
  void a_worker_calls_all_before_it_ends();
  void a_worker_is_waited_for();
};

void TestUiQueue::calls_in_order_in_its_own_thread() {
  constexpr int threads = 4;
  constexpr int calls = 500;
  UiQueue queue;
  std::vector<std::vector<int>> called(threads); // not guarded: all calls come in this thread
  std::vector<std::thread> workers;
  for (int worker = 0; worker < threads; ++worker)
    workers.emplace_back([&, worker] {
      for (int i = 0; i < calls; ++i)
        queue.post([&called, worker, i] { called[static_cast<std::size_t>(worker)].push_back(i); });
    });
  const auto all_came = [&] {
    return std::all_of(called.begin(), called.end(), [](const auto& each) { return each.size() == calls; });
  };
  QTRY_VERIFY(all_came());
  for (std::thread& worker : workers)
    worker.join();
  for (const std::vector<int>& each : called)
    QVERIFY(std::is_sorted(each.begin(), each.end()));
}

void TestUiQueue::a_loop_within_a_call_goes_on_with_the_next() {
  UiQueue queue;
  std::vector<int> called;
  QEventLoop dialog;
  queue.post([&] {
    queue.post([&] {
      called.push_back(2);
      dialog.quit();
    });
    dialog.exec();
    called.push_back(1);
  });
  QTRY_COMPARE(called.size(), std::size_t{2});
  QCOMPARE(called, (std::vector{2, 1}));
}

void TestUiQueue::what_waits_when_it_is_destroyed_is_not_called() {
  bool called = false;
  {
    UiQueue queue;
    queue.post([&] { called = true; });
  }
  QCoreApplication::processEvents();
  QVERIFY(!called);
}

void TestUiQueue::a_worker_calls_all_before_it_ends() {
  std::vector<int> called;
  {
    WorkerThread worker;
    for (int i = 0; i < 100; ++i)
      worker.post([&called, i] { called.push_back(i); });
  }
  QCOMPARE(called.size(), std::size_t{100});
  QVERIFY(std::is_sorted(called.begin(), called.end()));
}

void TestUiQueue::a_worker_is_waited_for() {
  WorkerThread worker;
  worker.wait(); // nothing was posted
  int called = 0;
  for (int i = 0; i < 100; ++i)
    worker.post([&] { ++called; });
  worker.wait();
  QCOMPARE(called, 100);
}

BATCHSCOPE_TEST(TestUiQueue)
#include "tst_ui_queue.moc"
