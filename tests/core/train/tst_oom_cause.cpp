#include <QTest>

#include "core/telemetry/describe.h"
#include "core/telemetry/english.h"
#include "core/train/detail/oom_cause.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::run;
using namespace batchscope::train;

class TestOomCause : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void namesTheLikeliestCause_data() {
    QTest::addColumn<int>("nominal");
    QTest::addColumn<int>("length");
    QTest::addColumn<int>("largest");
    QTest::addColumn<int>("baseline");
    QTest::addColumn<int>("reserved");
    QTest::addColumn<int>("others");
    QTest::addColumn<QString>("cause");
    // Limit 1000, in use 800, requested 150, of the device 40 more; before: batch 64, length 100, baseline 100,
    // others 50.
    QTest::newRow("first batch") << 64 << 100 << 0 << 100 << 800 << 50 << "the first batch does not fit in memory";
    QTest::newRow("schedule") << 65 << 100 << 64 << 100 << 800 << 50 << "the schedule asked for a larger batch";
    QTest::newRow("length") << 64 << 101 << 64 << 100 << 800 << 50 << "an example is longer than all previous ones";
    QTest::newRow("lowered budget") << 64 << 100 << 64 << 130 << 800 << 90 << "the memory budget was lowered";
    QTest::newRow("leak") << 64 << 100 << 64 << 130 << 800 << 50
                          << "memory use between steps has grown (possible leak)";
    QTest::newRow("fragmentation") << 65 << 100 << 64 << 100 << 950 << 50
                                   << "fragmentation: there was room for the request, but not in one piece";
    QTest::newRow("other process") << 64 << 100 << 64 << 100 << 800 << 90 << "another process uses more device memory";
    QTest::newRow("growing back") << 65 << 101 << 64 << 100 << 800 << 50
                                  << "a larger micro batch was tried again (--grow-back)";
    QTest::newRow("unknown") << 64 << 100 << 64 << 110 << 800 << 60 << "unknown";
  }
  void namesTheLikeliestCause() {
    QFETCH(int, nominal);
    QFETCH(int, length);
    QFETCH(int, largest);
    QFETCH(int, baseline);
    QFETCH(int, reserved);
    QFETCH(int, others);
    QFETCH(QString, cause);
    train::OutOfMemory event;
    event.growing_back = QTest::currentDataTag() == QString("growing back");
    event.nominal = nominal;
    event.length = length;
    event.info.limit = 1000;
    event.info.in_use = 800;
    event.info.requested = 150;
    event.info.available = 40;
    event.info.reserved = static_cast<std::uint64_t>(reserved);
    BeforeOutOfMemory before;
    before.largest_nominal = largest;
    before.longest = 100;
    before.limit = QTest::currentDataTag() == QString("lowered budget") ? 1001 : 1000;
    before.first_baseline = 100;
    before.baseline = static_cast<std::uint64_t>(baseline);
    before.others_first = 50;
    before.others = static_cast<std::uint64_t>(others);
    const auto words = telemetry::cause_of(telemetry::OutOfMemory{.cause = likely_cause(event, before)});
    QVERIFY(words);
    QCOMPARE(QString::fromStdString(telemetry::english(*words)), cause);
  }
};

BATCHSCOPE_TEST(TestOomCause)
#include "tst_oom_cause.moc"
