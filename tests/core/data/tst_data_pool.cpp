#include "core/data/data_pool.h"

#include <cstdio>
#include <thread>

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <fcntl.h>
#include <sys/stat.h>

#include "core/base/error.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::data;

namespace {

QByteArray table(int rows, int first = 0) {
  QByteArray text = "a,b,y\n";
  for (int row = first; row < first + rows; ++row)
    text +=
        QByteArray::number(row) + ',' + QByteArray::number(row * row % 17) + ',' + QByteArray::number(row % 2) + '\n';
  return text;
}

} // namespace

/// Data are read once for all who use them at the same time.
class TestDataPool : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void isReadOnceForAllWhoUseIt();
  void isFreedWithItsLastUser();
  void aFileThatChangedIsReadAnew_data();
  void aFileThatChangedIsReadAnew();
  void countsWithoutReadingAgain();
  void isReadOnceByManyThreads();
  void whatCannotBeReadIsTriedAgain();

private:
  QTemporaryDir folder_;
  QString file(const QByteArray& content) {
    const QString path = folder_.filePath(QString("%1.csv").arg(++files_));
    write(path, content);
    return path;
  }
  static void write(const QString& path, const QByteArray& content) {
    QFile out(path);
    QVERIFY(out.open(QIODevice::WriteOnly) && out.write(content) == content.size());
  }
  static std::string text_of(const QString& path) { return "csv:" + path.toStdString() + ",target=y"; }
  int files_ = 0;
};

void TestDataPool::isReadOnceForAllWhoUseIt() {
  DataPool pool;
  const std::string text = text_of(file(table(100)));
  const DataSplit one = pool.open(text);
  const DataSplit other = pool.open(text);
  QCOMPARE(pool.reads(), std::uint64_t{1});
  QCOMPARE(one.train, other.train);
  QCOMPARE(one.validation, other.validation);
  // Another split of the same file is another data set.
  const DataSplit split = pool.open(text + ",validation=0.5");
  QCOMPARE(pool.reads(), std::uint64_t{2});
  QCOMPARE(split.train->size(), std::int64_t{50});
}

void TestDataPool::isFreedWithItsLastUser() {
  DataPool pool;
  const std::string text = text_of(file(table(100)));
  DataSplit one = pool.open(text);
  DataSplit other = pool.open(text);
  const std::weak_ptr<const Dataset> train = one.train;
  one = {};
  QCOMPARE(pool.in_use(), std::size_t{1});
  QVERIFY(!train.expired());
  other = {};
  QCOMPARE(pool.in_use(), std::size_t{0});
  QVERIFY(train.expired());
  QCOMPARE(pool.open(text).train->size(), std::int64_t{80});
  QCOMPARE(pool.reads(), std::uint64_t{2});
}

void TestDataPool::aFileThatChangedIsReadAnew_data() {
  QTest::addColumn<QString>("change");
  for (const char* change : {"size", "time", "another file"})
    QTest::newRow(change) << change;
}

void TestDataPool::aFileThatChangedIsReadAnew() {
  QFETCH(QString, change);
  DataPool pool;
  const QString path = file(table(100));
  const DataSplit before = pool.open(text_of(path));
  struct stat status {};
  QCOMPARE(::stat(path.toUtf8().constData(), &status), 0);
  const auto set_time = [&](const timespec& time) {
    const timespec times[] = {time, time};
    QCOMPARE(::utimensat(AT_FDCWD, path.toUtf8().constData(), times, 0), 0);
  };
  if (change == "size") {
    write(path, table(110));
    set_time(status.st_mtim);
  } else if (change == "time") {
    write(path, table(100, 0));
    set_time({status.st_mtim.tv_sec, (status.st_mtim.tv_nsec + 1000) % 1'000'000'000});
  } else {
    const QString next = file(table(100));
    QCOMPARE(::rename(next.toUtf8().constData(), path.toUtf8().constData()), 0);
    set_time(status.st_mtim);
  }
  const DataSplit after = pool.open(text_of(path));
  QCOMPARE(pool.reads(), std::uint64_t{2});
  QVERIFY(after.train != before.train); // who has the old one keeps it
  QCOMPARE(before.train->size(), std::int64_t{80});
  QCOMPARE(pool.open(text_of(path)).train, after.train);
  QCOMPARE(pool.reads(), std::uint64_t{2});
}

void TestDataPool::countsWithoutReadingAgain() {
  DataPool pool;
  const QString path = file(table(100));
  for (int i = 0; i < 5; ++i)
    QCOMPARE(pool.train_examples(text_of(path)), std::int64_t{80});
  QCOMPARE(pool.reads(), std::uint64_t{1});
  QCOMPARE(pool.in_use(), std::size_t{0});
  write(path, table(200));
  QCOMPARE(pool.train_examples(text_of(path)), std::int64_t{160});
  QCOMPARE(pool.reads(), std::uint64_t{2});
}

void TestDataPool::isReadOnceByManyThreads() {
  DataPool pool;
  const std::string text = text_of(file(table(3000)));
  std::vector<DataSplit> splits(8);
  std::vector<std::thread> threads;
  for (DataSplit& split : splits)
    threads.emplace_back([&] { split = pool.open(text); });
  for (std::thread& thread : threads)
    thread.join();
  QCOMPARE(pool.reads(), std::uint64_t{1});
  for (const DataSplit& split : splits)
    QCOMPARE(split.train, splits.front().train);
}

void TestDataPool::whatCannotBeReadIsTriedAgain() {
  DataPool pool;
  const QString path = folder_.filePath("later.csv");
  QVERIFY_EXCEPTION_THROWN(pool.open(text_of(path)), Error);
  QVERIFY_EXCEPTION_THROWN(pool.train_examples(text_of(path)), Error);
  QCOMPARE(pool.reads(), std::uint64_t{0});
  write(path, table(100));
  QCOMPARE(pool.open(text_of(path)).train->size(), std::int64_t{80});
}

BATCHSCOPE_TEST(TestDataPool)
#include "tst_data_pool.moc"
