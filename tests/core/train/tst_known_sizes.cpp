#include <QTest>

#include "core/train/detail/known_sizes.h"
#include "test_program.h"

using batchscope::train::KnownSizes;

class TestKnownSizes : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void splitsNothingBeforeItHasLearnt() {
    const KnownSizes memory;
    QCOMPARE(memory.parts(1000, 1), std::int64_t{1});
  }

  void halvesWithoutAPrediction() {
    KnownSizes memory;
    memory.out_of_memory(272, 1);
    QCOMPARE(memory.parts(136, 1), std::int64_t{1});
    QCOMPARE(memory.parts(272, 1), std::int64_t{2}); // 2 x 136
    QCOMPARE(memory.parts(543, 1), std::int64_t{4});
    memory.out_of_memory(136, 1);
    QCOMPARE(memory.parts(272, 1), std::int64_t{4}); // 4 x 68
    QVERIFY(memory.known_not_to_fit(136, 1));
    QVERIFY(!memory.known_not_to_fit(135, 1));
  }

  /// The first size down is found in as many errors as halvings, the gap is closed in a few more.
  void narrowsTheGapStepByStep() {
    constexpr std::int64_t nominal = 4000;
    constexpr std::int64_t capacity = 61;
    KnownSizes memory;
    int errors = 0;
    std::int64_t largest = nominal;
    for (int step = 0; step < 20; ++step) {
      while (true) {
        const std::int64_t parts = memory.parts(nominal, 1);
        largest = (nominal + parts - 1) / parts;
        if (largest <= capacity)
          break;
        memory.out_of_memory(largest, 1);
        ++errors;
      }
      memory.fitted(largest, 1, false);
    }
    QVERIFY2(errors <= 10, qPrintable(QString::number(errors)));
    QVERIFY2(largest >= 54, qPrintable(QString::number(largest)));
  }

  void takesAPrediction() {
    KnownSizes memory;
    memory.out_of_memory(4000, 1);
    memory.predicted(64, 61, 1);
    QCOMPARE(memory.parts(4000, 1), std::int64_t{66}); // 66 x 61
    QCOMPARE(memory.parts(64, 1), std::int64_t{1});    // no gradients of other parts beside it
    QCOMPARE(memory.parts(65, 1), std::int64_t{2});
    memory.out_of_memory(61, 1);                      // wrong by a little
    QCOMPARE(memory.parts(570, 1), std::int64_t{10}); // 57 each
    memory.out_of_memory(57, 1);                      // by more
    QCOMPARE(memory.parts(450, 1), std::int64_t{10});
    memory.predicted(64, 61, 1); // believed less from now on
    QVERIFY(memory.parts(4000, 1) > 66);
    memory.forget();
    QVERIFY(memory.empty());
    QCOMPARE(memory.parts(4000, 1), std::int64_t{1});
  }

  /// What fits after all is believed, and no more than that.
  void forgetsWhatFitsAfterAll() {
    KnownSizes memory;
    memory.out_of_memory(250, 1);
    memory.predicted(90, 84, 1);
    QCOMPARE(memory.parts(250, 1), std::int64_t{3});
    memory.fitted(125, 1, false);
    QCOMPARE(memory.parts(250, 1), std::int64_t{2});
    memory.out_of_memory(125, 1);
    QCOMPARE(memory.parts(250, 1), std::int64_t{3});
    memory.fitted(125, 1, false);
    QCOMPARE(memory.parts(250, 1), std::int64_t{2});
    QVERIFY(memory.known_not_to_fit(126, 1));
    memory.fitted(250, 1, true);
    QCOMPARE(memory.parts(250, 1), std::int64_t{1});
    QCOMPARE(memory.parts(500, 1), std::int64_t{4}); // 125 is still all that fits beside gradients
  }

  void knowsThatLengthMatters() {
    KnownSizes memory;
    memory.out_of_memory(8, 500);
    memory.predicted(6, 5, 500);
    QCOMPARE(memory.parts(8, 300), std::int64_t{1}); // shorter examples take less
    QCOMPARE(memory.parts(8, 500), std::int64_t{2});
    QCOMPARE(memory.parts(10, 1000), std::int64_t{5}); // longer ones more
  }

  void splitsIntoSingleExamplesAtMost() {
    KnownSizes memory;
    memory.out_of_memory(1, 1);
    QCOMPARE(memory.parts(5, 1), std::int64_t{5});
  }
};

BATCHSCOPE_TEST(TestKnownSizes)
#include "tst_known_sizes.moc"
