#include <QTest>

#include "test_program.h"
#include "tests/core/exchange/import_test.h"

using namespace batchscope;
using namespace batchscope::exchange;
using namespace batchscope::exchange::test;

class TestImportJsonl : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void numbersOfEachLineBecomeSeries() {
    const store::test::Folder folder;
    const auto file = written(folder, "train.jsonl",
                              "{\"step\": 1, \"train/loss\": 2.5, \"lr\": 0.1, \"note\": \"begun\"}\n\n"
                              "{\"step\": 2, \"train/loss\": NaN, \"eval\": {\"acc\": 0.5}, \"done\": true}\r\n"
                              "{\"step\": 3, \"train/loss\": 1.5}");
    const ImportedRuns read = read_runs_of(file, {});
    QCOMPARE(read.runs.size(), 1U);
    const store::CompleteRun& run = read.runs.front();
    QCOMPARE(points_of(run, "loss").size(), 3U);
    QCOMPARE(points_of(run, "loss").back().value, 1.5);
    QVERIFY(std::isnan(points_of(run, "loss")[1].value));
    QCOMPARE(points_of(run, "learning_rate").front().step, 1);
    QCOMPARE(points_of(run, "validation_accuracy").front().value, 0.5);
    QVERIFY(points_of(run, "done").empty());
    QVERIFY(read.remarks.empty());
  }

  void columnsCanBeMapped() {
    const store::test::Folder folder;
    const auto file = written(folder, "log.ndjson", "{\"n\": 10, \"cost\": 3}\n{\"n\": 20, \"cost\": 2}\n");
    QVERIFY2(refusal(file).contains("no column counts the steps; accepted: a column named step, iter or epoch"),
             refusal(file));
    ImportOptions options;
    options.names = {{"n", "step"}, {"cost", "loss"}};
    const ImportedRuns read = read_runs_of(file, options);
    QCOMPARE(points_of(read.runs.front(), "loss").back().step, 20);
    const auto columns = importer_of(file)->columns(file);
    QCOMPARE(columns.size(), 2U);
    QCOMPARE(columns.front().name, std::string("n"));
  }

  /// An epoch beside steps counts none, although a line has nothing else.
  void linesWithoutAStepAreSaid() {
    const store::test::Folder folder;
    const ImportedRuns read = read_runs_of(
        written(folder, "a.jsonl", "{\"step\": 90, \"loss\": 2}\n{\"epoch\": 1, \"val_loss\": 3}\n{\"step\": -1}\n"),
        {});
    QCOMPARE(points_of(read.runs.front(), "loss").front().step, 90);
    QVERIFY(points_of(read.runs.front(), "validation_loss").empty());
    QCOMPARE(read.remarks.size(), 1U);
    QVERIFY(QByteArray::fromStdString(read.remarks.front()).contains("missing or no step were left out: 2"));
    const ImportedRuns epochs =
        read_runs_of(written(folder, "b.jsonl", "{\"epoch\": 1, \"loss\": 3}\n{\"epoch\": 2, \"loss\": 2}\n"), {});
    QCOMPARE(points_of(epochs.runs.front(), "loss").back().step, 2);
  }

  void damagedLinesAreSaid() {
    const store::test::Folder folder;
    const auto damaged = written(folder, "a.jsonl", "{\"step\": 1, \"loss\": 2}\n{\"step\": 2, \"lo\n[3]\n");
    const ImportedRuns read = read_runs_of(damaged, {});
    QCOMPARE(points_of(read.runs.front(), "loss").size(), 1U);
    QCOMPARE(read.remarks.size(), 1U);
    QVERIFY(QByteArray::fromStdString(read.remarks.front()).contains("left out: 2, the first is line 2"));
    QVERIFY(refusal(written(folder, "b.jsonl", "no\n")).contains("line 1: no JSON object"));
    ImportOptions growing;
    growing.partial = true; // its last line is not whole yet
    const auto file = written(folder, "c.jsonl", "{\"step\": 1, \"loss\": 2}\n{\"step\": 2, \"loss\": 1");
    QCOMPARE(points_of(read_runs_of(file, growing).runs.front(), "loss").size(), 1U);
    QVERIFY(read_runs_of(file, growing).remarks.empty());
  }

  void readAgainItExtendsTheRun() {
    const store::test::Folder folder;
    const std::string begun = "{\"iter\": 1, \"loss\": 2}\n";
    import_into(folder, written(folder, "run.jsonl", begun));
    const ImportResult again =
        import_into(folder, written(folder, "run.jsonl", begun + "{\"iter\": 2, \"loss\": 1}\n"));
    QCOMPARE(again.extended.size(), 1U);
    QVERIFY(again.imported.empty());
  }
};

BATCHSCOPE_TEST(TestImportJsonl)
#include "tst_import_jsonl.moc"
