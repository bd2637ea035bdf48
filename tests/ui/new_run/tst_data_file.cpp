#include "test_program.h"
#include "ui/new_run/data_file.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace batchscope::ui;

/// What is proposed for a table that was chosen.
class TestDataFile : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void takes_the_last_column_as_the_target_data();
  void takes_the_last_column_as_the_target();
};

void TestDataFile::takes_the_last_column_as_the_target_data() {
  QTest::addColumn<QByteArray>("table");
  QTest::addColumn<QString>("parameters");
  QTest::newRow("names") << QByteArray("a,b,price\n1,2,3\n") << "target=price";
  QTest::newRow("years as names") << QByteArray("2019,2020,price\n1,2,3\n") << "target=price";
  QTest::newRow("numbers alone") << QByteArray("1,2,3\n4,5,6\n") << "header=no,target=3";
  QTest::newRow("classes as texts") << QByteArray("5.1,3.5,setosa\n4.9,3.0,virginica\n") << "header=no,target=3";
  QTest::newRow("one row") << QByteArray("1,2") << "header=no,target=2";
  QTest::newRow("nothing") << QByteArray() << "target=";
  QTest::newRow("a line without an end") << QByteArray(1'000'000, '1') << "target=";
}

void TestDataFile::takes_the_last_column_as_the_target() {
  QFETCH(QByteArray, table);
  QFETCH(QString, parameters);
  const QTemporaryDir folder;
  QFile file(folder.filePath("t.csv"));
  QVERIFY(file.open(QIODevice::WriteOnly) && file.write(table) == table.size());
  file.close();
  const DataText text = data_text(file.fileName(), {});
  QCOMPARE(text.text, "csv:" + file.fileName() + "," + parameters);
  QCOMPARE(text.problem.isEmpty(), parameters != "target=");
}

BATCHSCOPE_TEST(TestDataFile)
#include "tst_data_file.moc"
