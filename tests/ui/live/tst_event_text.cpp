#include <QTest>

#include "test_program.h"
#include "ui/live/event_text.h"
#include "ui/widgets/format.h"

using namespace batchscope;
using namespace batchscope::ui;

class TestEventText : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void words_data();
  void words();
  void an_evaluation_as_a_number();
  void an_oom_in_training();
  void an_oom_in_evaluation();
  void an_oom_that_ended_the_run();
  void what_is_not_known_is_left_out();
};

namespace {

telemetry::Event make_event(const char* kind, const char* detail) {
  return {.step = 400, .seconds = 12, .kind = kind, .detail_json = detail, .values = {}};
}

constexpr const char* survived = R"({"attempted_batch":272,"nominal_batch":272,"requested_bytes":51400000,
"in_use_bytes":366200000,"reserved_bytes":366200000,"limit_bytes":400000000,"phase":"backward",
"in_use_by":{"parameters":500000,"gradients":500000,"optimizer":1100000,"activations":344300000,"workspace":19800000,
"batch":0},"micro_batches_before":1,"micro_batches_after":2,"micro_batch_after":136,"examples_again":272,
"action":"retried the same 272 examples as 2 x 136; effective batch unchanged",
"cause":"the schedule asked for a larger batch"})";

} // namespace

void TestEventText::words_data() {
  QTest::addColumn<QByteArray>("kind");
  QTest::addColumn<QByteArray>("detail");
  QTest::addColumn<QStringList>("cells"); // what, tried, now, asked, in use, action
  QTest::addColumn<bool>("alarming");
  QTest::newRow("oom") << QByteArray("oom") << QByteArray(survived)
                       << QStringList{"out of memory (backward)",
                                      "272",
                                      format_parts(2, 136),
                                      "51.4 MB",
                                      "366.2 MB",
                                      "retried the same 272 examples as 2 x 136; effective batch unchanged"}
                       << true;
  QTest::newRow("program")
      << QByteArray("program")
      << QByteArray(R"({"framework":"transformers 5.23.0","level":3,"examples":1024,"batch":32})")
      << QStringList{"program connected",
                     "",
                     "32",
                     "",
                     "",
                     "transformers 5.23.0, its batch size can be changed, and out of memory costs no example, 1,024 "
                     "examples"}
      << false;
  QTest::newRow("program with another size")
      << QByteArray("program") << QByteArray(R"({"level":2,"batch":8,"given_batch":16})")
      << QStringList{"program connected", "8", "16", "", "", "its batch size can be changed"} << false;
  QTest::newRow("exit") << QByteArray("exit") << QByteArray(R"({"exit_code":1,"signal":null})")
                        << QStringList{"program ended", "", "", "", "", "exit status 1"} << true;
  QTest::newRow("signal") << QByteArray("exit") << QByteArray(R"({"exit_code":null,"signal":9})")
                          << QStringList{"program ended", "", "", "", "", "signal 9"} << true;
  QTest::newRow("output") << QByteArray("output")
                          << QByteArray(R"({"tail":"Traceback\nValueError: no data\n","file":"x"})")
                          << QStringList{"last output", "", "", "", "", "ValueError: no data"} << true;
  QTest::newRow("differs") << QByteArray("differs")
                           << QByteArray(R"({"planned_batch":16,"batch":8,"message":"the step took 8"})")
                           << QStringList{"differs from the plan", "16", "8", "", "", "the step took 8"} << false;
  QTest::newRow("level") << QByteArray("level") << QByteArray(R"({"level":1,"reason":"iterable data"})")
                         << QStringList{"only reports its steps", "", "", "", "", "iterable data"} << false;
  QTest::newRow("lost") << QByteArray("lost") << QByteArray(R"({"lines":7})")
                        << QStringList{"messages lost", "", "", "", "", "7 lines"} << true;
  QTest::newRow("edit")
      << QByteArray("edit") << QByteArray(R"({"schedule":"step:interval=80,increment=24","before":"constant",
                                          "batch_before":320,"batch":344,"applies_from_step":641})")
      << QStringList{"schedule edit applied", "320", "344", "", "", "from step 641: step:interval=80,increment=24"}
      << false;
  QTest::newRow("refused edit") << QByteArray("edit") << QByteArray(R"({"schedule":"x","refused":"no such schedule"})")
                                << QStringList{"schedule edit refused", "", "", "", "", "no such schedule"} << true;
  QTest::newRow("evaluation") << QByteArray("evaluation") << QByteArray(R"({"loss":0.25,"accuracy":0.941})")
                              << QStringList{"validation", "", "", "", "", "loss 0.25, accuracy 94.1 %"} << false;
  QTest::newRow("evaluation without accuracy") << QByteArray("evaluation") << QByteArray(R"({"loss":"NaN"})")
                                               << QStringList{"validation", "", "", "", "", "loss NaN"} << false;
  QTest::newRow("clamp") << QByteArray("clamp")
                         << QByteArray(R"({"asked":9000,"given":8000,"message":"9000 is more than there is"})")
                         << QStringList{"schedule clamped", "9,000", "8,000", "", "", "9000 is more than there is"}
                         << false;
  QTest::newRow("problem") << QByteArray("schedule-problem") << QByteArray(R"({"message":"division by zero"})")
                           << QStringList{"schedule error", "", "", "", "", "division by zero"} << true;
  QTest::newRow("status") << QByteArray("status") << QByteArray(R"({"status":"paused"})")
                          << QStringList{"paused", "", "", "", "", ""} << false;
  QTest::newRow("unknown") << QByteArray("saved") << QByteArray(R"({"file":"a.pt","size":3})")
                           << QStringList{"saved", "", "", "", "", "file: a.pt, size: 3"} << false;
  QTest::newRow("checkpoint") << QByteArray("checkpoint") << QByteArray(R"({"bytes":3,"message":"3 bytes written"})")
                              << QStringList{"checkpoint", "", "", "", "", "3 bytes written"} << false;
  QTest::newRow("no checkpoint") << QByteArray("checkpoint")
                                 << QByteArray(R"({"problem":"full","message":"not written"})")
                                 << QStringList{"checkpoint", "", "", "", "", "not written"} << true;
  QTest::newRow("resumed") << QByteArray("resumed") << QByteArray(R"({"message":"from step 3"})")
                           << QStringList{"resumed", "", "", "", "", "from step 3"} << false;
  QTest::newRow("no JSON") << QByteArray("clamp") << QByteArray("{{")
                           << QStringList{"schedule clamped", "", "", "", "", ""} << false;
}

void TestEventText::words() {
  QFETCH(QByteArray, kind);
  QFETCH(QByteArray, detail);
  QFETCH(QStringList, cells);
  QFETCH(bool, alarming);
  const EventText text = event_text(make_event(kind.constData(), detail.constData()));
  QCOMPARE((QStringList{text.what, text.tried, text.now, text.asked, text.in_use, text.action}), cells);
  QCOMPARE(text.alarming, alarming);
}

void TestEventText::an_evaluation_as_a_number() {
  QCOMPARE(validation_loss(make_event("evaluation", R"({"loss":0.25,"accuracy":0.941})")), 0.25);
  QVERIFY(std::isinf(validation_loss(make_event("evaluation", R"({"loss":"Infinity"})"))));
  QVERIFY(std::isnan(validation_loss(make_event("edit", R"({"loss":0.25})"))));
}

void TestEventText::an_oom_in_training() {
  const auto details = oom_details(make_event("oom", survived));
  QVERIFY(details);
  QCOMPARE(details->end, OomDetails::End::run_in_parts);
  QCOMPARE(details->step, std::int64_t{400});
  QCOMPARE(details->short_by(), std::uint64_t{17'600'000});
  QVERIFY(details->in_use_by);
  QCOMPARE((*details->in_use_by)[static_cast<int>(telemetry::Use::activations)], std::uint64_t{344'300'000});
  QCOMPARE(details->parts_after, std::int64_t{2});
  QCOMPARE(details->size_after, std::int64_t{136});
  QCOMPARE(details->examples_again, std::int64_t{272});
  QCOMPARE(details->cause, QString("the schedule asked for a larger batch"));
}

void TestEventText::an_oom_in_evaluation() {
  const auto details = oom_details(make_event("oom", R"({"attempted_batch":512,"requested_bytes":10,"in_use_bytes":5,
      "limit_bytes":100,"phase":"evaluation","micro_batch_after":256,"cause":"evaluation"})"));
  QVERIFY(details);
  QCOMPARE(details->end, OomDetails::End::evaluation_shrunk);
  QCOMPARE(details->size_after, std::int64_t{256});
  QCOMPARE(details->short_by(), std::uint64_t{0}); // fragmented: the limit alone does not explain it
  QVERIFY(!details->in_use_by);
}

void TestEventText::an_oom_that_ended_the_run() {
  const auto failed =
      make_event("oom", R"({"attempted_batch":1,"requested_bytes":10,"in_use_bytes":95,"limit_bytes":100,
      "micro_batches_before":4,"micro_batches_after":4,"micro_batch_after":1,"examples_again":4,
      "action":"the run ends","cause":"unknown"})");
  QCOMPARE(oom_details(failed)->end, OomDetails::End::run_failed);
  QCOMPARE(event_text(failed).now, QString()); // nothing came after it
}

void TestEventText::what_is_not_known_is_left_out() {
  const auto details = oom_details(make_event("oom", R"({"attempted_batch":"many","in_use_bytes":-5,"in_use_by":[]})"));
  QVERIFY(details);
  QCOMPARE(details->attempted, std::int64_t{0});
  QCOMPARE(details->in_use_bytes, std::uint64_t{0});
  QVERIFY(!details->in_use_by);
  QCOMPARE(details->end, OomDetails::End::run_failed);
  QVERIFY(!oom_details(make_event("edit", "{}")));
}

BATCHSCOPE_TEST(TestEventText)
#include "tst_event_text.moc"
