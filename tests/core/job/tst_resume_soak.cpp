#include <QTest>

#include "killed_runs.h"
#include "test_program.h"

using namespace batchscope::job::test;

/// A run that is killed twenty times in a row ends with the bits of one that never was.
class TestResumeSoak : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void twentyTimesInARow_data() {
    QTest::addColumn<int>("row");
    for (std::size_t row = 0; row < killed_specs().size(); ++row)
      QTest::newRow(killed_specs()[row].name) << static_cast<int>(row);
  }
  void twentyTimesInARow() {
    QFETCH(int, row);
    kill_and_compare(static_cast<std::size_t>(row), 20, static_cast<std::uint32_t>(row));
  }
};

BATCHSCOPE_TEST(TestResumeSoak, train_if_asked)
#include "tst_resume_soak.moc"
