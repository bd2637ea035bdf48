#include <QTest>

#include "test_program.h"
#include "tests/core/program/program_kills.h"

using namespace batchscope::test;

/// 50 kills of either side at random moments: no record is lost.
class TestKills : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void batchScopeIsKilled() {
    for (std::uint32_t seed = 0; seed < 10; ++seed)
      kill_batchscope(5, seed);
  }
  void theProgramIsKilled() {
    for (std::uint32_t seed = 0; seed < 50; ++seed)
      kill_program(seed);
  }
};

BATCHSCOPE_TEST(TestKills, run_program_if_asked)
#include "tst_kills_soak.moc"
