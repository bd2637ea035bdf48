#include <QDir>
#include <QTest>

#include "test_program.h"
#include "ui/texts/spec_texts.h"

using namespace batchscope;
using namespace batchscope::ui;

/// What a run is in a terminal.
class TestSpecTexts : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void a_command_names_the_database_unless_it_is_the_users_own();
};

void TestSpecTexts::a_command_names_the_database_unless_it_is_the_users_own() {
  qunsetenv("BATCHSCOPE_DB");
  qputenv("XDG_DATA_HOME", "/home/me/data");
  const QString plain = "batchscope-cli train --model cnn --data demo";
  QCOMPARE(train_command({}, "/home/me/data/batchscope/runs.db"), plain);
  QCOMPARE(train_command({}, "/tmp/my runs.db"), plain + " --db '/tmp/my runs.db'");
  const QString here = QDir::currentPath() + "/runs.db";
  QVERIFY2(train_command({}, "runs.db").endsWith(here) || train_command({}, "runs.db").endsWith(here + "'"),
           qPrintable(train_command({}, "runs.db")));
  // A terminal need not have what is set here.
  qputenv("BATCHSCOPE_DB", "/tmp/set.db");
  QCOMPARE(train_command({}, "/tmp/set.db"), plain + " --db /tmp/set.db");
  qunsetenv("BATCHSCOPE_DB");
  qunsetenv("XDG_DATA_HOME");
  const QByteArray home = qgetenv("HOME");
  qunsetenv("HOME");
  QCOMPARE(train_command({}, "/tmp/runs.db"), plain + " --db /tmp/runs.db");
  qputenv("HOME", home);
}

BATCHSCOPE_TEST(TestSpecTexts)
#include "tst_spec_texts.moc"
