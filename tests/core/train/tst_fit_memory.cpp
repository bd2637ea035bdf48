#include <QtTest>

#include "core/train/detail/fit_memory.h"

using batchscope::train::FitMemory;

class TestFitMemory : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void splitsNothingBeforeItHasLearnt() {
    const FitMemory memory;
    QCOMPARE(memory.parts(1000, 1), std::int64_t{1});
  }

  void splitsIntoTheFewestPartsThatMayFit() {
    FitMemory memory;
    memory.out_of_memory(272, 1);
    QCOMPARE(memory.parts(271, 1), std::int64_t{1});
    QCOMPARE(memory.parts(272, 1), std::int64_t{2}); // 2 x 136
    QCOMPARE(memory.parts(542, 1), std::int64_t{2}); // 2 x 271
    QCOMPARE(memory.parts(543, 1), std::int64_t{3});
    memory.out_of_memory(136, 1);
    QCOMPARE(memory.parts(272, 1), std::int64_t{3}); // 90, 91, 91
    QVERIFY(memory.known_not_to_fit(136, 1));
    QVERIFY(!memory.known_not_to_fit(135, 1));
  }

  void knowsThatLengthMatters() {
    FitMemory memory;
    memory.out_of_memory(8, 500);
    QCOMPARE(memory.parts(8, 499), std::int64_t{1}); // shorter examples may fit
    QCOMPARE(memory.parts(8, 500), std::int64_t{2});
    QCOMPARE(memory.parts(7, 900), std::int64_t{1}); // fewer may fit too
    memory.out_of_memory(4, 900);
    QCOMPARE(memory.parts(8, 900), std::int64_t{3});
    QCOMPARE(memory.parts(8, 500), std::int64_t{2});
  }

  void splitsIntoSingleExamplesAtMost() {
    FitMemory memory;
    memory.out_of_memory(1, 1);
    QCOMPARE(memory.parts(5, 1), std::int64_t{5});
  }
};

QTEST_APPLESS_MAIN(TestFitMemory)
#include "tst_fit_memory.moc"
