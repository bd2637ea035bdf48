#include <QDir>
#include <QTest>

#include "core/data/file_text.h"
#include "test_program.h"
#include "tests/core/data/data_files.h"

using namespace batchscope;
using namespace batchscope::data;

namespace {

QByteArray bytes(std::size_t value, int count) {
  QByteArray little(count, '\0');
  for (int i = 0; i < count; ++i)
    little[i] = static_cast<char>(value >> (8 * i));
  return little;
}

/// A ZIP archive of two empty files, stored.
QByteArray archive_of(const QByteArray& first, const QByteArray& second) {
  QByteArray files, list;
  for (const QByteArray& name : {first, second}) {
    const auto length = static_cast<std::size_t>(name.size());
    list += "PK\1\2" + bytes(20, 2) + bytes(20, 2) + QByteArray(20, '\0') + bytes(length, 2) + QByteArray(12, '\0') +
            bytes(static_cast<std::size_t>(files.size()), 4) + name;
    files += "PK\3\4" + bytes(20, 2) + QByteArray(20, '\0') + bytes(length, 2) + QByteArray(2, '\0') + name;
  }
  return files + list + "PK\5\6" + QByteArray(4, '\0') + bytes(2, 2) + bytes(2, 2) +
         bytes(static_cast<std::size_t>(list.size()), 4) + bytes(static_cast<std::size_t>(files.size()), 4) +
         QByteArray(2, '\0');
}

} // namespace

/// What is proposed for a file that was chosen.
class FileTextTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void takesTheLastColumnAsTheTarget_data() {
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
  void takesTheLastColumnAsTheTarget() {
    QFETCH(QByteArray, table);
    QFETCH(QString, parameters);
    DataFiles files;
    const std::string file = files.write("t.csv", table);
    const FileText text = text_for_file(file);
    QCOMPARE(text.text, "csv:" + file + "," + parameters.toStdString());
    QCOMPARE(text.problem.empty(), parameters != "target=");
  }

  void findsLabelsBesideTheirImages() {
    DataFiles files;
    const std::string images = files.write("train-images-idx3-ubyte.gz", "x");
    QCOMPARE(text_for_file(images).text, "idx:" + images + ",");
    QVERIFY(!text_for_file(images).problem.empty());
    const std::string labels = files.write("train-labels-idx1-ubyte.gz", "x");
    QCOMPARE(text_for_file(images).text, "idx:" + images + "," + labels);
    QVERIFY(text_for_file(images).problem.empty());
    QCOMPARE(text_for_file(labels).text, "idx:" + labels + ",");
  }

  void findsTargetsBesideTheirArray() {
    DataFiles files;
    const std::string array = files.write("x_train.npy", "x");
    QCOMPARE(text_for_file(array).text, "npy:" + array + ",");
    QVERIFY(!text_for_file(array).problem.empty());
    const std::string targets = files.write("y_train.npy", "x");
    QCOMPARE(text_for_file(array).text, "npy:" + array + "," + targets);
    QVERIFY(text_for_file(array).problem.empty());
  }

  void namesTheArraysOfAnArchive() {
    DataFiles files;
    QVERIFY(text_for_file(files.write("bad.npz", "x")).problem.find("is not a ZIP archive") != std::string::npos);
    const std::string standard = files.write("xy.npz", archive_of("x.npy", "y.npy"));
    QCOMPARE(text_for_file(standard).text, "npz:" + standard);
    QVERIFY(text_for_file(standard).problem.empty());
    const std::string named = files.write("named.npz", archive_of("images.npy", "labels.npy"));
    QCOMPARE(text_for_file(named).text, "npz:" + named + ",inputs=images,targets=labels");
    QVERIFY(text_for_file(files.write("a.npz", archive_of("a.npy", "b.npy"))).problem.ends_with("a, b"));
  }

  void takesTheFolderOfAllClasses() {
    DataFiles files;
    QVERIFY(QDir().mkpath(files.path("pets/cat")));
    const std::string image = files.write("pets/cat/1.JPG", "x");
    QCOMPARE(text_for_file(image).text, "images:" + files.path("pets").toStdString());
    QVERIFY(!text_for_file(image).problem.empty());
    QVERIFY(QDir().mkpath(files.path("pets/dog")));
    QVERIFY(text_for_file(image).problem.empty());
  }

  void leavesPlainTextToTheUser() {
    DataFiles files;
    for (const char* name : {"some text", "some.txt"}) {
      const std::string text = files.write(name, "x");
      QCOMPARE(text_for_file(text).text, "text:" + text);
      QCOMPARE(text_for_file(text, "lines").text, "lines:" + text);
    }
    QVERIFY(text_for_file("/a,b.txt").problem.find("comma") != std::string::npos);
  }

  void knowsTheKindOfAText() {
    QCOMPARE(file_kind("csv:a.csv,target=b"), std::string("csv"));
    QCOMPARE(file_kind("demo"), std::string());
    QCOMPARE(file_kind("synthetic:examples=10"), std::string());
    for (const FileFilter& filter : file_filters())
      QCOMPARE(file_kind(filter.kind + ":x"), filter.kind);
    QVERIFY(file_filters().size() >= 7);
  }
};

BATCHSCOPE_TEST(FileTextTest)
#include "tst_file_text.moc"
