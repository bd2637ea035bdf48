#include <QDir>
#include <QTest>

#include "test_program.h"
#include "ui/texts/spec_texts.h"

using namespace batchscope;
using namespace batchscope::ui;

/// Which field of a form an error belongs to, and what a run is in a terminal.
class TestSpecTexts : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void an_error_finds_its_field_data();
  void an_error_finds_its_field();
  void a_command_names_the_database_unless_it_is_the_users_own();
};

void TestSpecTexts::an_error_finds_its_field_data() {
  QTest::addColumn<QString>("data");
  QTest::addColumn<QString>("error");
  QTest::addColumn<QString>("key");
  QTest::newRow("option") << "demo"
                          << "--lr: 0 is not accepted"
                          << "lr";
  QTest::newRow("beginning") << "demo"
                             << "the memory budget of 1 MB is too small"
                             << "memory_budget";
  QTest::newRow("file") << "csv:/a/b.csv,target=y"
                        << "/a/b.csv: no such file"
                        << "data";
  QTest::newRow("line of a file") << "csv:/a/b.csv,target=y"
                                  << "/a/b.csv, line 3: field 2 is empty"
                                  << "data";
  QTest::newRow("second file") << "idx:/a/x,/a/y"
                               << "/a/y: is a directory; a file is needed"
                               << "data";
  QTest::newRow("file that sounds like a field") << "text:batch 1.txt"
                                                 << "batch 1.txt: no such file"
                                                 << "data";
  QTest::newRow("part of a name") << "csv:/data/cnn/b.csv,target=y"
                                  << "cnn: 3 is no option"
                                  << "";
  QTest::newRow("neither") << "demo"
                           << "the disk is full"
                           << "";
}

void TestSpecTexts::an_error_finds_its_field() {
  QFETCH(QString, data);
  QFETCH(QString, error);
  QFETCH(QString, key);
  run::RunSpec spec;
  spec.data = data.toStdString();
  QCOMPARE(QString::fromStdString(field_to_blame(spec, error)), key);
}

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
