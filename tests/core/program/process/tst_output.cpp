#include <QTest>

#include <fstream>
#include <string>
#include <vector>

#include "core/program/process/output.h"
#include "test_program.h"
#include "tests/core/program/programs.h"

using namespace batchscope;
using namespace batchscope::program;
using batchscope::test::patience;
using batchscope::test::Programs;

using Lines = std::vector<std::string>;

class TestOutput : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void wholeLinesOnly() {
    const Programs programs;
    OutputFollower follower(programs.path("output"));
    QCOMPARE(follower.poll(), Lines()); // the file does not exist yet
    std::ofstream stream(programs.path("output"), std::ios::binary);
    stream << "first\nsec" << std::flush;
    QCOMPARE(follower.poll(), Lines{"first"});
    QCOMPARE(follower.poll(), Lines());
    stream << "ond\nthird\n" << std::flush;
    QCOMPARE(follower.poll(), (Lines{"second", "third"}));
    stream << "without end" << std::flush;
    QCOMPARE(follower.poll(), Lines());
    QCOMPARE(follower.poll(true), Lines{"without end"});
    QCOMPARE(follower.poll(true), Lines());
  }

  void progressBars() {
    const Programs programs;
    std::ofstream(programs.path("output"), std::ios::binary) << "\r 10 %\r 20 %\r\nend\r\n\n";
    OutputFollower follower(programs.path("output"));
    QCOMPARE(follower.poll(), (Lines{" 10 %", " 20 %", "end"}));
  }

  void bytesThatAreNoText() {
    const Programs programs;
    std::string bytes = "loss \xff\xfe 1.5";
    bytes += '\0';
    std::ofstream(programs.path("output"), std::ios::binary) << bytes << "\n";
    OutputFollower follower(programs.path("output"));
    QCOMPARE(follower.poll(), Lines{bytes});
    QVERIFY(follower.tail().starts_with("loss \xEF\xBF\xBD"));
  }

  void lineWithoutAnEnd() {
    const Programs programs;
    {
      std::ofstream stream(programs.path("output"), std::ios::binary);
      for (int i = 0; i < 1000; ++i)
        stream << std::string(10'000, 'x');
      stream << "\nnext\n";
    }
    OutputFollower follower(programs.path("output"));
    Lines lines;
    do
      for (std::string& line : follower.poll())
        lines.push_back(std::move(line));
    while (follower.has_more());
    QCOMPARE(lines.size(), 2U);
    QCOMPARE(lines[0].size(), OutputFollower::longest_line);
    QCOMPARE(lines[1], std::string("next"));
  }

  void fileThatWasEmptied() {
    const Programs programs;
    std::ofstream(programs.path("output")) << "a long first line\n";
    OutputFollower follower(programs.path("output"));
    follower.poll();
    std::ofstream(programs.path("output")) << "new\n";
    QCOMPARE(follower.poll(), Lines{"new"});
  }

  void tailStartsWithALine() {
    const Programs programs;
    OutputFollower follower(programs.path("output"));
    QCOMPARE(follower.tail(), std::string());
    {
      std::ofstream stream(programs.path("output"));
      for (int i = 0; i < 100'000; ++i)
        stream << "line " << i << "\n";
    }
    const std::string tail = follower.tail();
    QVERIFY(tail.size() <= OutputFollower::tail_bytes);
    QVERIFY(tail.size() > OutputFollower::tail_bytes - 100);
    QVERIFY(tail.starts_with("line "));
    QVERIFY(tail.ends_with("line 99999\n"));
  }

  /// 100,000 lines as fast as a program can write them: none is lost or cut.
  void manyLines() {
    const Programs programs;
    Child child(programs.python("import sys\nfor i in range(100000): sys.stdout.write(f'step {i} loss {i * 0.5}\\n')"));
    OutputFollower follower(programs.path("output"));
    std::size_t count = 0;
    bool in_order = true;
    const auto take = [&](bool ended) {
      for (const std::string& line : follower.poll(ended))
        in_order = in_order && line.starts_with("step " + std::to_string(count++) + " loss ");
    };
    QTRY_VERIFY_WITH_TIMEOUT((take(false), child.poll()), patience);
    do
      take(true);
    while (follower.has_more());
    QVERIFY(in_order);
    QCOMPARE(count, 100'000U);
  }
};

BATCHSCOPE_TEST(TestOutput)
#include "tst_output.moc"
