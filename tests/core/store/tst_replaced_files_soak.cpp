#include <QCoreApplication>
#include <QTest>

#include "other_program.h"
#include "replaced_rounds.h"

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

int main(int count, char** arguments) {
  if (const int status = run_as_other_program(count, arguments); status >= 0)
    return status;
  QCoreApplication application(count, arguments);
  TestReplacedFilesSoak test;
  return QTest::qExec(&test, count, arguments);
}
#include "tst_replaced_files_soak.moc"
