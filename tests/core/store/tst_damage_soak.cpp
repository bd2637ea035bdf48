#include <QTest>

#include "damaged_files.h"
#include "test_program.h"

using namespace batchscope::store::test;

/// The files of tst_damage.cpp and tst_repair.cpp, many more of them.
class TestDamageSoak : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void sound_files_read_as_the_original() {
    for (unsigned seed = 100; seed < 105; ++seed) {
      const Folder folder;
      const DamageFound found = try_damage(folder.path(), seed, 2000);
      qInfo("seed %u: %d of %d damaged files are sound", seed, found.sound, found.files);
      QVERIFY2(found.wrong.empty(), found.wrong.empty() ? "" : found.wrong.front().c_str());
    }
  }

  void repaired_files_have_nothing_new() {
    for (unsigned seed = 200; seed < 205; ++seed) {
      const Folder folder;
      const RepairsTried tried = try_repairs(folder.path(), seed, 200);
      qInfo("seed %u: %d repaired, %d unreadable", seed, tried.repaired, tried.unreadable);
      QVERIFY2(tried.problem.empty(), tried.problem.c_str());
    }
  }
};

BATCHSCOPE_TEST(TestDamageSoak)
#include "tst_damage_soak.moc"
