#include <QTest>

#include <fstream>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/program/run/read_files.h"
#include "test_program.h"
#include "tests/core/program/programs.h"

using namespace batchscope;
using namespace batchscope::program;
using batchscope::test::Programs;

class TestReadFiles : public QObject {
  Q_OBJECT

private Q_SLOTS:
  /// A table that a program writes line by line.
  void tableGrows() {
    const Programs folder;
    ReadFiles files({"csv:log.csv"}, folder.path());
    QVERIFY(files.poll(true).empty()); // not there yet
    std::ofstream table(folder.path("log.csv"));
    table << "step,loss,score\n1,2.5,0.1\n2,2.0,0.2\n" << std::flush;
    const auto first = files.poll(true);
    QCOMPARE(first.size(), 2U);
    QCOMPARE(first[0].step, 1);
    QCOMPARE(first[0].loss, 2.5);
    QCOMPARE(first[0].more.size(), 1U);
    QCOMPARE(first[0].more[0].first, std::string("score"));
    QCOMPARE(first[1].more[0].second, 0.2);
    QVERIFY(files.poll(true).empty());
    table << "3,1.5,0.3\n" << std::flush;
    const auto second = files.poll(true);
    QCOMPARE(second.size(), 1U);
    QCOMPARE(second[0].step, 3);
    QVERIFY(files.problem().empty());
  }

  /// Until a later step is there, more values may come for the last one.
  void lastStepWaits() {
    const Programs folder;
    ReadFiles files({"csv:log.csv"}, folder.path());
    std::ofstream table(folder.path("log.csv"));
    table << "step,loss\n1,2.5\n2,2.0\n" << std::flush;
    const auto records = files.poll();
    QCOMPARE(records.size(), 1U);
    QCOMPARE(records[0].step, 1);
    QCOMPARE(files.poll(true).size(), 1U);
  }

  /// What an earlier program has left is none of this one's.
  void earlierValuesAreLeftOut() {
    const Programs folder;
    std::ofstream table(folder.path("log.csv"));
    table << "step,loss\n1,2.5\n2,2.0\n" << std::flush;
    ReadFiles files({"csv:log.csv"}, folder.path());
    files.skip_present();
    const Json position = files.position();
    table << "3,1.5\n" << std::flush;
    const auto records = files.poll(true);
    QCOMPARE(records.size(), 1U);
    QCOMPARE(records[0].step, 3);
    ReadFiles later({"csv:log.csv"}, folder.path());
    later.resume(position);
    QCOMPARE(later.poll(true).size(), 1U);
    ReadFiles of_others({"csv:log.csv", "csv:more.csv"}, folder.path());
    of_others.resume(position);
    QCOMPARE(of_others.poll(true).size(), 3U);
  }

  void trainerState() {
    const Programs folder;
    ReadFiles files({"trainer-state:out"}, folder.path());
    std::filesystem::create_directories(folder.path("out/checkpoint-4"));
    std::ofstream(folder.path("out/checkpoint-4/trainer_state.json"))
        << R"({"global_step": 4, "log_history": [{"step": 2, "loss": 3.0}, {"step": 4, "loss": NaN}]})";
    const auto records = files.poll(true);
    QCOMPARE(records.size(), 2U);
    QCOMPARE(records[0].step, 2);
    QCOMPARE(records[0].loss, 3.0);
  }

  void wrongForms() {
    for (const char* text : {"log.csv", "csv:", "json:x", ":x", ""})
      QVERIFY_EXCEPTION_THROWN(ReadFiles({text}, "."), Error);
    QVERIFY(ReadFiles({}, ".").empty());
  }
};

BATCHSCOPE_TEST(TestReadFiles)
#include "tst_read_files.moc"
