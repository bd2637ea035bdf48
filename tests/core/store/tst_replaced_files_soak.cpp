#include <QCoreApplication>
#include <QTest>

#include "other_program.h"
#include "replaced_rounds.h"
#include "test_program.h"

using namespace batchscope::store::test;

/// The random rounds of tst_replaced_files.cpp, many more of them.
class TestReplacedFilesSoak : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void random_rounds() {
    for (unsigned seed = 1000; seed < 1200; ++seed)
      if (const std::string lines = random_round(seed); !lines.empty())
        QFAIL(("round " + std::to_string(seed) + ": " + lines).c_str());
  }
};

BATCHSCOPE_TEST(TestReplacedFilesSoak, run_as_other_program)
#include "tst_replaced_files_soak.moc"
