#include <QTest>

#include "damaged_files.h"
#include "test_program.h"

using namespace batchscope::store::test;

/// Whatever bits are flipped and wherever the end is cut: a file that the check calls sound is read as it was stored.
class TestDamage : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void sound_files_read_as_the_original() {
    const Folder folder;
    const DamageFound found = try_damage(folder.path(), 1, 150);
    qInfo("%d of %d damaged files are sound", found.sound, found.files);
    QVERIFY2(found.wrong.empty(), found.wrong.empty() ? "" : found.wrong.front().c_str());
  }
};

BATCHSCOPE_TEST(TestDamage)
#include "tst_damage.moc"
