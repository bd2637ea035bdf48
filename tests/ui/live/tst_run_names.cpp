#include <QTest>

#include "test_program.h"
#include "ui/live/run_names.h"

using namespace batchscope::ui;

class TestRunNames : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void as_short_as_tells_them_apart_data();
  void as_short_as_tells_them_apart();
};

void TestRunNames::as_short_as_tells_them_apart_data() {
  QTest::addColumn<QStringList>("names");
  QTest::addColumn<QStringList>("expected");
  QTest::newRow("a sweep") << QStringList{"cnn on demo, batch 16", "cnn on demo, batch 32", "every 5 steps, +1"}
                           << QStringList{"batch 16", "batch 32", "every 5 steps, +1"};
  QTest::newRow("seeds") << QStringList{"cnn on demo, batch 16, seed 1", "cnn on demo, batch 16, seed 2",
                                        "cnn on demo, batch 32, seed 1"}
                         << QStringList{"batch 16, seed 1", "batch 16, seed 2", "batch 32, seed 1"};
  QTest::newRow("what differs is in the middle")
      << QStringList{"cnn, batch 16, seed 1", "cnn, batch 32, seed 1"} << QStringList{"batch 16", "batch 32"};
  QTest::newRow("the last part stays") << QStringList{"a, b", "a, b, c"} << QStringList{"b", "b, c"};
  QTest::newRow("the same twice") << QStringList{"mine", "mine", "yours"} << QStringList{"mine #1", "mine #2", "yours"};
  QTest::newRow("shortened to the same") << QStringList{"x, z", "x, 1", "y, z", "y, 2"}
                                         << QStringList{"x, z", "1", "y, z", "2"};
  QTest::newRow("one") << QStringList{"cnn on demo, batch 16"} << QStringList{"cnn on demo, batch 16"};
}

void TestRunNames::as_short_as_tells_them_apart() {
  QFETCH(QStringList, names);
  QFETCH(QStringList, expected);
  QList<qint64> numbers;
  for (qint64 number = 1; number <= names.size(); ++number)
    numbers += number;
  QCOMPARE(short_names(names, numbers), expected);
}

BATCHSCOPE_TEST(TestRunNames)
#include "tst_run_names.moc"
