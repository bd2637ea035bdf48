#include <QTest>

#include "test_events.h"
#include "test_program.h"
#include "tests/core/telemetry/event_samples.h"
#include "ui/live/event_cells.h"
#include "ui/texts/message_text.h"
#include "ui/widgets/format.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::ui;

class TestEventCells : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void cells_data();
  void cells();
  void every_kind_has_words_data();
  void every_kind_has_words();
  void survived_errors_of_programs_do_not_end_a_run_data();
  void survived_errors_of_programs_do_not_end_a_run();
};

namespace {

constexpr const char* in_parts = R"({"attempted_batch":272,"nominal_batch":272,"requested_bytes":51400000,
"in_use_bytes":366200000,"reserved_bytes":366200000,"limit_bytes":400000000,"phase":"backward",
"in_use_by":{"parameters":500000,"gradients":500000,"optimizer":1100000,"activations":344300000,"workspace":19800000,
"batch":0},"micro_batches_before":1,"micro_batches_after":2,"micro_batch_after":136,"examples_again":272,
"action":"retried the same 272 examples as 2 x 136; effective batch unchanged",
"cause":"the schedule asked for a larger batch"})";

QStringList texts_of(const EventCells& cells) {
  return {cells.what, cells.before, cells.after, cells.requested, cells.in_use, cells.details};
}

} // namespace

void TestEventCells::cells_data() {
  QTest::addColumn<QByteArray>("kind");
  QTest::addColumn<QByteArray>("detail");
  QTest::addColumn<QStringList>("cells"); // what, before, after, requested, in use, details
  QTest::addColumn<bool>("alarming");
  const auto row = [](const char* name, const char* kind, const char* detail, const QStringList& cells, bool alarming) {
    QTest::newRow(name) << QByteArray(kind) << QByteArray(detail) << cells << alarming;
  };
  row("oom", "oom", in_parts,
      {"out of memory (backward)", "272", format_parts(2, 136), "51.4 MB", "366.2 MB",
       "retried the same 272 examples as " + format_parts(2, 136) + "; effective batch unchanged"},
      true);
  row("oom of a program", "oom",
      R"({"attempted_batch":64,"requested_bytes":1000,"in_use_bytes":552000000,"limit_bytes":210000000,
          "where":"training","outcome":"split","split_to":32,"in_use_of":"process"})",
      {"out of memory", "64", "32", "1.0 kB", "552.0 MB with libraries", "split into micro batches of at most 32"},
      true);
  row("program", "program", R"({"framework":"transformers 5.23.0","level":3,"examples":1024,"batch":32})",
      {"program connected", "", "32", "", "",
       "transformers 5.23.0; 1,024 examples; its batch size can be changed while it trains, and a step that runs out "
       "of "
       "memory runs again in parts, if its loss allows that"},
      false);
  row("program with another size", "program", R"({"level":2,"batch":8,"given_batch":16})",
      {"program connected", "8", "16", "", "", "its batch size can be changed while it trains"}, false);
  row("exit", "exit", R"({"exit_code":1,"signal":null})", {"program ended", "", "", "", "", "exit status 1"}, true);
  row("signal", "exit", R"({"exit_code":null,"signal":9})", {"program ended", "", "", "", "", "signal 9"}, true);
  row("output", "output", R"({"tail":"Traceback\n\u001b[31mValueError: no data\u001b[0m\n \n","file":"x"})",
      {"last output", "", "", "", "", "ValueError: no data"}, true);
  row("progress bar", "output", R"({"tail":"10 %\r20 %\r30 %\r","file":"x"})", {"last output", "", "", "", "", "30 %"},
      true);
  row("differs", "differs", R"({"planned_batch":16,"planned_examples":32,"batch":8,"examples":8})",
      {"differs from the plan", "16", "8", "", "",
       "the step took 8 examples in batches of 8; the plan was 32 in batches of 16"},
      false);
  row("level", "level", R"({"level":1,"reason":"iterable data"})",
      {"only reports its steps", "", "", "", "", "iterable data"}, false);
  row("level with a code", "level",
      R"({"level":1,"reason":{"code":"old-version","args":{"package":"torch","version":"2.0","least":"2.1"},"text":"?"}})",
      {"only reports its steps", "", "", "", "", "torch 2.0 is too old; accepted: 2.1 or later"}, false);
  row("lost", "lost", R"({"lines":7})", {"messages lost", "", "", "", "", "7 lines"}, true);
  row("edit", "edit",
      R"({"schedule":"step:interval=80,increment=24","before":"constant","batch_before":320,"batch":344,
          "applies_from_step":641})",
      {"schedule edit applied", "320", "344", "", "", "from step 641: step:interval=80,increment=24"}, false);
  row("refused edit", "edit", R"({"schedule":"x","refused":"no such schedule"})",
      {"schedule edit refused", "", "", "", "", "no such schedule"}, true);
  row("budget", "budget", R"({"before_bytes":400000000,"asked_bytes":300000000,"budget_bytes":300000000})",
      {"memory budget changed", "400.0 MB", "300.0 MB", "", "", ""}, false);
  row("evaluation", "evaluation", R"({"loss":0.25,"accuracy":0.941})",
      {"validation", "", "", "", "", "loss 0.25; accuracy 94.10 %"}, false);
  row("evaluation without accuracy", "evaluation", R"({"loss":"NaN"})", {"validation", "", "", "", "", "loss NaN"},
      false);
  row("clamp", "clamp", R"({"asked":9000,"given":8000,"message":"an earlier sentence"})",
      {"schedule clamped", "9,000", "8,000", "", "", "schedule requested 9,000, clamped to 8,000"}, false);
  row("clamp of a program", "clamp", R"({"field":"accumulate","asked":9,"taken":8})",
      {"accumulation clamped", "9", "8", "", "", "accumulation 9 clamped to 8"}, false);
  row("problem", "schedule-problem", R"({"message":"division by zero"})",
      {"schedule error", "", "", "", "", "division by zero"}, true);
  row("status", "status", R"({"status":"paused"})", {"paused", "", "", "", "", ""}, false);
  row("unknown", "saved", R"({"file":"a.pt","size":3})", {"saved", "", "", "", "", "file: a.pt; size: 3"}, false);
  row("unknown with a sentence", "saved", R"({"message":"all of it","size":3})", {"saved", "", "", "", "", "all of it"},
      false);
  row("checkpoint", "checkpoint", R"({"bytes":3,"copy_seconds":0.001,"write_seconds":21,"message":"earlier"})",
      {"checkpoint", "", "", "", "", "3 B written in 0:21; training paused for 1 ms"}, false);
  row("no checkpoint", "checkpoint", R"({"problem":"full","message":"not written"})",
      {"checkpoint", "", "", "", "", "not written: full; training continues"}, true);
  row("resumed", "resumed", R"({"message":"from the checkpoint at step 3"})",
      {"resumed", "", "", "", "", "from the checkpoint at step 3"}, false);
  row("no JSON", "clamp", "{{", {"clamp", "", "", "", "", ""}, false);
}

void TestEventCells::cells() {
  QFETCH(QByteArray, kind);
  QFETCH(QByteArray, detail);
  QFETCH(QStringList, cells);
  QFETCH(bool, alarming);
  const EventCells shown = cells_of(event_of(400, 12, kind.toStdString(), detail.toStdString()));
  QCOMPARE(texts_of(shown), cells);
  QCOMPARE(shown.alarming, alarming);
}

void TestEventCells::every_kind_has_words_data() {
  QTest::addColumn<int>("number");
  const auto samples = telemetry::test::samples();
  for (std::size_t i = 0; i < samples.size(); ++i)
    QTest::newRow(telemetry::kind_of(samples[i].body).c_str()) << static_cast<int>(i);
}

void TestEventCells::every_kind_has_words() {
  QFETCH(int, number);
  const telemetry::test::Sample sample = telemetry::test::samples()[static_cast<std::size_t>(number)];
  const telemetry::Event event{.step = 1, .body = sample.body};
  const EventCells cells = cells_of(event);
  QVERIFY(!cells.what.isEmpty());
  // All that is shown was filled in, but for the placeholder that a command may have.
  for (QString text : texts_of(cells) + QStringList{sentence_of(event)}) {
    text.remove("{batch}");
    QVERIFY2(!text.contains('{') && !text.contains('['), qPrintable(text));
  }
}

void TestEventCells::survived_errors_of_programs_do_not_end_a_run_data() {
  QTest::addColumn<QByteArray>("detail");
  QTest::addColumn<QString>("details");
  QTest::newRow("split") << QByteArray(R"({"attempted_batch":8,"where":"training","outcome":"split","split_to":4})")
                         << "split into micro batches of at most 4";
  QTest::newRow("of the first clients")
      << QByteArray(R"({"attempted_batch":8,"cause":"training step","text":"RuntimeError: no memory",
                        "action":"split into micro batches of at most 4"})")
      << "split into micro batches of at most 4";
  QTest::newRow("smaller") << QByteArray(
                                  R"({"attempted_batch":8,"where":"evaluation","outcome":"smaller","split_to":4})")
                           << "evaluation continues with 4 examples at a time; training is not affected";
  QTest::newRow("retried") << QByteArray(R"({"attempted_batch":8,"where":"training","outcome":"retried"})")
                           << "the same micro batch is retried";
  QTest::newRow("of a later version") << QByteArray(R"({"attempted_batch":8,"outcome":"moved","split_to":4})")
                                      << "split into micro batches of at most 4";
}

void TestEventCells::survived_errors_of_programs_do_not_end_a_run() {
  QFETCH(QByteArray, detail);
  QFETCH(QString, details);
  const telemetry::Event event = event_of(1, 1, "oom", detail.toStdString());
  QVERIFY(telemetry::survived(std::get<telemetry::OutOfMemory>(event.body)));
  QCOMPARE(cells_of(event).details, details);
  for (const char* end : {"the run ends", "failed", "not split", "error:"})
    QVERIFY2(!sentence_of(event).contains(end), qPrintable(sentence_of(event)));
}

BATCHSCOPE_TEST(TestEventCells)
#include "tst_event_cells.moc"
