#include <QTest>

#include <cstdint>
#include <string>

#include "core/program/process/memory.h"
#include "test_program.h"
#include "tests/core/program/programs.h"

using namespace batchscope;
using namespace batchscope::program;
using batchscope::test::patience;
using batchscope::test::Programs;

namespace {

constexpr std::uint64_t megabyte = 1 << 20;

} // namespace

class TestMemory : public QObject {
  Q_OBJECT

private Q_SLOTS:
  /// Pages that forked processes share count once.
  void sharedPagesCountOnce() {
    const Programs programs;
    Child child(programs.python("import os, time\n"
                                "held = bytearray(os.urandom(1)) * (100 << 20)\n"
                                "for i in range(3):\n"
                                "    if os.fork() == 0: print('.', end='', flush=True); time.sleep(1000)\n"
                                "time.sleep(1000)"));
    QTRY_COMPARE_WITH_TIMEOUT(programs.output(), std::string("..."), patience);
    QCOMPARE(child.group().members().size(), 4U);
    GroupMemory memory(child.group());
    const auto bytes = memory.sample();
    QVERIFY(bytes);
    QVERIFY2(*bytes >= 100 * megabyte, std::to_string(*bytes).c_str());
    QVERIFY2(*bytes < 200 * megabyte, std::to_string(*bytes).c_str());
    QCOMPARE(memory.sample(), bytes); // not measured again so soon
  }

  /// What was freed before anybody looked.
  void peakBetweenMeasurements() {
    const Programs programs;
    Child child(programs.python("import time\nheld = bytearray(b'x') * (200 << 20)\ndel held\n"
                                "print('freed', flush=True)\ntime.sleep(1000)"));
    QTRY_COMPARE_WITH_TIMEOUT(programs.output(), std::string("freed\n"), patience);
    GroupMemory memory(child.group());
    QVERIFY(!memory.peak());
    QVERIFY(memory.sample().value() < 100 * megabyte);
    QVERIFY(memory.peak().value() >= 200 * megabyte);
  }

  void programThatHasEnded() {
    const Programs programs;
    Child child(programs.shell("true"));
    batchscope::test::wait_for(child);
    GroupMemory memory(child.group());
    QVERIFY(!memory.sample());
    QVERIFY(!memory.peak());
  }
};

BATCHSCOPE_TEST(TestMemory)
#include "tst_memory.moc"
