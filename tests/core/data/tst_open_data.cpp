#include <QTest>

#include "core/data/split.h"
#include "core/store/run_store.h"
#include "test_program.h"
#include "tests/core/base/file_locks.h"
#include "tests/core/data/data_files.h"

using namespace batchscope;
using namespace batchscope::data;

class OpenDataTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void refusesBadTexts_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* text, const char* words) { QTest::newRow(text) << text << words; };
    row("", "unknown kind ''");
    row("mnist", "unknown kind 'mnist'; accepted: demo, idx:IMAGES,LABELS");
    row("demo:file", "unexpected part 'file'");
    row("demo:validation=1", "accepted: 0 to 0.9");
    row("demo:validation=-0.1", "accepted: 0 to 0.9");
    row("demo:validation=nan", "validation");
    row("demo:validation=0.1,validation=0.2", "given twice");
    row("idx", "a file name is missing");
    row("idx:images", "a file name is missing");
    row("idx:,labels", "a file name is missing");
    row("idx:a,b,c", "unexpected part 'c'");
    row("text:", "a file name is missing");
    row("text:nowhere.txt", "nowhere.txt: no such file");
    row("text:a,contxt=5", "unexpected part 'contxt=5'");
    row("npy:x.npy", "a file name is missing; accepted: npy:INPUTS,TARGETS");
    row("npy:x.npy,y.npy,z.npy", "unexpected part 'z.npy'");
    row("npz:", "a file name is missing");
    row("images", "a file name is missing; accepted: images:DIR");
    row("images:nowhere", "nowhere: No such file or directory");
    row("csv:a.csv", "'target=COLUMN' is missing");
    row("csv:a.csv,target=", "'target=COLUMN' is missing");
    row("synthetic", "'examples=' is missing");
    row("synthetic:examples=0,vocabulary=5", "examples");
    row("synthetic:examples=5", "'vocabulary=' is missing");
    row("synthetic:examples=5,vocabulary=1", "vocabulary");
    row("synthetic:examples=5,vocabulary=5,classes=2", "cannot be combined with 'shape=' or 'classes='");
    row("synthetic:examples=5,shape=3x4,classes=2", "accepted: CxHxW");
    row("synthetic:examples=5,shape=3x4x5", "'classes=' is missing");
    row("synthetic:examples=5,shape=3x0x5,classes=2", "shape");
    row("synthetic:examples=5,shape=3xx5,classes=2", "shape");
    row("synthetic:examples=5,shape=99999x99999x99999,classes=2", "has more than");
    row("synthetic:examples=5,shape=8,classes=1", "classes");
    row("synthetic:examples=5,size=8", "unexpected part 'size=8'");
  }
  void refusesBadTexts() {
    QFETCH(QString, text);
    QFETCH(QString, words);
    const QString message = DataFiles::refusal(text.toStdString());
    QVERIFY2(message.contains(words), qPrintable(message));
  }

  void acceptsFileNamesWithEqualsSigns() {
    DataFiles files;
    QVERIFY(open_data("text:" + files.write("a=b.txt", "abcdefgh"), {.context = 2}).train->size() > 0);
  }

  void leavesTheOpenDatabaseAlone() {
    DataFiles files;
    const std::string database = files.path("runs.db").toStdString();
    const store::RunStore store(database);
    QVERIFY(test::is_locked_here(database));
    for (const QString text :
         {"csv:%1,target=x", "text:%1", "lines:%1", "idx:%1,%1", "npy:%1,%1", "npz:%1", "text:%1-wal", "text:%1-shm"}) {
      const QString message = DataFiles::refusal(text.arg(files.path("runs.db")).toStdString());
      QVERIFY2(message.contains("is the run database that is open"), qPrintable(message));
    }
    QVERIFY(test::is_locked_here(database) && test::is_locked_here(database + "-shm"));
  }

  void drawsAFixedSplit() {
    QCOMPARE(held_out(10'000, 0.2), 2000);
    QCOMPARE(held_out(10, 0.3), 3);
    QCOMPARE(held_out(4, 0.2), 0);
    QCOMPARE(held_out(1, 0.9), 0);
    for (std::int64_t n : {1, 2, 5, 10, 1000}) {
      for (double fraction : {0.0, 0.2, 0.5, 0.9}) {
        const Split split = draw_split(n, fraction);
        QCOMPARE(static_cast<std::int64_t>(split.validation.size()), held_out(n, fraction));
        std::vector<std::int64_t> all = split.train;
        all.insert(all.end(), split.validation.begin(), split.validation.end());
        std::sort(all.begin(), all.end());
        QCOMPARE(all, numbers_below(n));
        QVERIFY(std::is_sorted(split.train.begin(), split.train.end()));
        QCOMPARE(draw_split(n, fraction).validation, split.validation);
      }
    }
  }

  void holdsOutFromEverywhere() {
    const Split split = draw_split(10'000, 0.2);
    std::vector<int> counts(10, 0);
    for (std::int64_t row : split.validation)
      ++counts[static_cast<std::size_t>(row / 1000)];
    for (int count : counts)
      QVERIFY2(count > 150 && count < 250, qPrintable(QString::number(count)));
  }
};

BATCHSCOPE_TEST(OpenDataTest)
#include "tst_open_data.moc"
