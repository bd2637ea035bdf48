#include <QTest>

#include <fstream>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/telemetry/english.h"
#include "core/telemetry/event_codec.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::telemetry;

/// Events that were stored before there were codes.
class TestLegacyEvents : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void what_a_database_had_data();
  void what_a_database_had();
  void errors_data();
  void errors();
  void causes_data();
  void causes();
  void budgets_data();
  void budgets();
  void sentences_data();
  void sentences();
};

namespace {

using Oom = OutOfMemory;

/// Rows that version 0.1.0 had written: trainings with and without errors, edits, budgets, checkpoints, own programs.
std::vector<Json> stored_rows() {
  std::ifstream file(BATCHSCOPE_SOURCE_DIR "/tests/core/telemetry/files/events.jsonl");
  std::vector<Json> rows;
  for (std::string line; std::getline(file, line);)
    rows.push_back(parse_json(line));
  return rows;
}

/// Sentences are made anew.
bool is_sentence(const std::string& name) {
  for (const char* known : {"action", "cause", "message", "text", "reason"})
    if (name == known)
      return true;
  return false;
}

Oom oom_of(const QByteArray& detail) {
  return std::get<Oom>(decode("oom", detail.toStdString()));
}

} // namespace

void TestLegacyEvents::what_a_database_had_data() {
  QTest::addColumn<QByteArray>("kind");
  QTest::addColumn<QByteArray>("detail");
  const auto rows = stored_rows();
  QVERIFY(rows.size() >= 30);
  for (const Json& row : rows)
    QTest::addRow("%s at %d", row["kind"].get<std::string>().c_str(), row["step"].get<int>())
        << QByteArray::fromStdString(row["kind"].get<std::string>())
        << QByteArray::fromStdString(json_text(row["detail"]));
}

void TestLegacyEvents::what_a_database_had() {
  QFETCH(QByteArray, kind);
  QFETCH(QByteArray, detail);
  const Event event = decode_event(1, 1, kind.toStdString(), detail.toStdString());
  QCOMPARE(std::holds_alternative<UnknownEvent>(event.body), kind == "my-note");
  QVERIFY(event.more_json.empty()); // every field is known
  const EncodedEvent encoded = encode(event);
  QVERIFY(decode_event(1, 1, encoded.kind, encoded.detail_json).body == event.body);
  // Scripts find what they found before.
  const Json before = parse_json(detail.toStdString()), after = parse_json(encoded.detail_json);
  for (const auto& [name, value] : before.items()) {
    if (value == "" || value == Json::object())
      continue; // said nothing
    QVERIFY2(after.contains(name), (name + " of " + detail.toStdString()).c_str());
    if (!is_sentence(name))
      QVERIFY2(after[name] == value, (name + ": " + encoded.detail_json).c_str());
  }
}

void TestLegacyEvents::errors_data() {
  QTest::addColumn<QByteArray>("detail");
  QTest::addColumn<int>("outcome");
  QTest::addColumn<int>("where");
  QTest::addColumn<QByteArray>("reason"); // code, or text
  QTest::addColumn<int>("split_to");      // 0: none
  const auto row = [](const char* name, const char* detail, Oom::Outcome outcome, Oom::Where where, const char* reason,
                      int split_to) {
    QTest::newRow(name) << QByteArray(detail) << static_cast<int>(outcome) << static_cast<int>(where)
                        << QByteArray(reason) << split_to;
  };
  using Outcome = Oom::Outcome;
  using Where = Oom::Where;
  row("in parts", R"({"attempted_batch":64,"micro_batches_before":1,"micro_batches_after":2,"micro_batch_after":32,
                      "action":"the same 64 examples again as 2 x 32, effective batch kept"})",
      Outcome::split, Where::training, "", 32);
  row("not one example", R"({"attempted_batch":1,"micro_batches_before":4,"micro_batches_after":4,
                             "micro_batch_after":1,"action":"the run ends: even one example does not fit"})",
      Outcome::not_survived, Where::training, "single-example", 1);
  row("told to fail", R"({"attempted_batch":8,"micro_batches_before":1,"micro_batches_after":1,"micro_batch_after":8,
                          "action":"the run was stopped because of --on-oom fail"})",
      Outcome::not_survived, Where::training, "on-oom-fail", 8);
  row("told to fail, earlier", R"({"attempted_batch":8,"micro_batches_before":1,"micro_batches_after":1,
                                   "micro_batch_after":8,"action":"the run ends: --on-oom is fail"})",
      Outcome::not_survived, Where::training, "on-oom-fail", 8);
  row("evaluation", R"({"attempted_batch":8,"micro_batch_before":8,"micro_batch_after":4,"cause":"evaluation",
                        "action":"evaluation goes on with 4 examples at once; training is not touched"})",
      Outcome::smaller, Where::evaluation, "", 4);
  row("program, split", R"({"attempted_batch":1200,"cause":"training step","text":"E",
                            "action":"split into micro batches of at most 600"})",
      Outcome::split, Where::training, "", 600);
  row("program, not split", R"({"attempted_batch":1,"cause":"training step","text":"E",
                                "action":"not split: a single example does not fit"})",
      Outcome::not_survived, Where::training, "single-example", 0);
  row("program, told to fail", R"({"action":"not split: on_oom is fail"})", Outcome::not_survived, Where::training,
      "on-oom-fail", 0);
  row("program, no mean", R"({"action":"not split: its loss is no mean over its examples"})", Outcome::not_survived,
      Where::training, "examples-interact", 0);
  row("program, another reason", R"({"action":"not split: the moon is full"})", Outcome::not_survived, Where::training,
      "the moon is full", 0);
  row("program, without a reason", R"({"action":"not split"})", Outcome::not_survived, Where::training, "", 0);
  row("program, its own words", R"({"action":"split into micro batches"})", Outcome::split, Where::training, "", 0);
  row("program, something else", R"({"action":"the cache was emptied"})", Outcome::retried, Where::training, "", 0);
  row("program, in the optimizer", R"({"cause":"optimizer state","action":"not split: x"})", Outcome::not_survived,
      Where::update, "x", 0);
  row("program, ended", R"({"cause":"host","text":"out of memory (host): E","action":"the program has ended"})",
      Outcome::not_survived, Where::outside, "", 0);
  row("nothing is known", "{}", Outcome::not_survived, Where::training, "", 0);
}

void TestLegacyEvents::errors() {
  QFETCH(QByteArray, detail);
  QFETCH(int, outcome);
  QFETCH(int, where);
  QFETCH(QByteArray, reason);
  QFETCH(int, split_to);
  const Oom event = oom_of(detail);
  QCOMPARE(static_cast<int>(event.outcome), outcome);
  QCOMPARE(static_cast<int>(event.where), where);
  QCOMPARE(event.reason.code.empty() ? event.reason.text : event.reason.code, reason.toStdString());
  QCOMPARE(event.split_to.value_or(0), std::int64_t{split_to});
}

void TestLegacyEvents::causes_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<int>("cause");
  const auto row = [](const char* text, Oom::Cause cause) {
    QTest::newRow(text) << QByteArray(text) << static_cast<int>(cause);
  };
  using Cause = Oom::Cause;
  row("the first batch does not fit in memory", Cause::first_batch);
  row("the first batch is too large for the memory", Cause::first_batch);
  row("the schedule asked for a larger batch", Cause::schedule);
  row("an example longer than any before", Cause::longer_example);
  row("an example is longer than all previous ones", Cause::longer_example);
  row("memory in use between steps has grown (a leak)", Cause::growth);
  row("memory use between steps has grown (possible leak)", Cause::growth);
  row("fragmentation: much more is reserved than in use", Cause::fragmentation);
  row("another process took memory of the device", Cause::other_process);
  row("another process uses more device memory", Cause::other_process);
  row("a larger micro batch was tried again (--grow-back)", Cause::growing_back);
  row("unknown", Cause::unknown);
  row("device", Cause::device);
  row("host", Cause::host);
  row("kernel", Cause::kernel);
  row("loader worker", Cause::loader_worker);
  row("training step", Cause::none);
  row("something else", Cause::none);
}

void TestLegacyEvents::causes() {
  QFETCH(QByteArray, text);
  QFETCH(int, cause);
  const Oom event = oom_of(QByteArray::fromStdString(json_text({{"cause", text.toStdString()}})));
  QCOMPARE(static_cast<int>(event.cause), cause);
}

void TestLegacyEvents::budgets_data() {
  QTest::addColumn<QByteArray>("message");
  QTest::addColumn<int>("why");
  QTest::addColumn<QByteArray>("reason");
  const auto row = [](const char* message, BudgetChange::Why why, const char* reason) {
    QTest::newRow(message) << QByteArray(message) << static_cast<int>(why) << QByteArray(reason);
  };
  using Why = BudgetChange::Why;
  row("", Why::asked, "");
  row("follows the memory that is free; --memory-budget sets a fixed one", Why::follows_free_memory, "");
  row("not even one example fits in 1.0 MB; the budget is 300.0 MB again", Why::taken_back, "single-example");
  row("the step could not be made: a single example does not fit; the budget is the earlier one again", Why::taken_back,
      "single-example");
  row("the step could not be made: it is late; the budget is the earlier one again", Why::taken_back, "it is late");
}

void TestLegacyEvents::budgets() {
  QFETCH(QByteArray, message);
  QFETCH(int, why);
  QFETCH(QByteArray, reason);
  Json detail{{"before_bytes", 1000}, {"budget_bytes", 2000}};
  if (!message.isEmpty())
    detail["message"] = message.toStdString();
  const auto change = std::get<BudgetChange>(decode("budget", json_text(detail)));
  QCOMPARE(static_cast<int>(change.why), why);
  QCOMPARE(change.reason.code.empty() ? change.reason.text : change.reason.code, reason.toStdString());
}

void TestLegacyEvents::sentences_data() {
  QTest::addColumn<QByteArray>("kind");
  QTest::addColumn<QByteArray>("detail");
  QTest::addColumn<QByteArray>("sentence");
  const auto row = [](const char* name, const char* kind, const char* detail, const char* sentence) {
    QTest::newRow(name) << QByteArray(kind) << QByteArray(detail) << QByteArray(sentence);
  };
  row("resumed", "resumed",
      R"({"replaced_steps":1200,"at":"x","message":"from the checkpoint at step 1,500; 1,200 later steps are made again; threads was 2 and is 4 now"})",
      "resumed: from the checkpoint at step 1,500; 1,200 later steps are made again; threads was 2 and is 4 now");
  row("resumed, one step again", "resumed",
      R"({"replaced_steps":1,"message":"from the checkpoint at step 5; 1 later step is made again"})",
      "resumed: from the checkpoint at step 5; 1 later step is made again");
  row("second", "second", R"({"message":"process 12345 connected as rank 3, too; it is not listened to"})",
      "process 12345 connected as rank 3, too; it is not listened to");
  row("left behind, one", "left-behind",
      R"({"message":"the program has ended without a step, so a process that it had started is ended with it; accepted: a program that stays until the training is over"})",
      "the program has ended without a step, so a process that it had started is ended with it; accepted: a program "
      "that "
      "stays until the training is over");
  row("left behind", "left-behind",
      R"({"message":"the program has ended without a step, so 3 processes that it had started are ended with it; accepted: x"})",
      "the program has ended without a step, so 3 processes that it had started are ended with it; accepted: a program "
      "that stays until the training is over");
  row("time over", "time-over", R"x({"message":"the program is stopped after 2.5 s (--max-seconds)"})x",
      "the program is stopped after 2.5 s (--max-seconds)");
  row("retry", "retry",
      R"({"text":"a micro batch of 16 ran out of memory while libraries compiled kernels or took buffers, and is tried again now that they have them"})",
      "a micro batch of 16 ran out of memory while libraries compiled kernels or took buffers, and is tried again now "
      "that they have them");
  row("retry in other words", "retry", R"({"text":"once more"})", "once more");
  row("not followed", "not-followed", R"({"message":"batch size 64 is not followed: ..."})",
      "batch size 64 is not followed: ...");
  row("message of a later program", "protocol", R"({"line":"garbage"})",
      "the program did not understand a message: garbage");
  row("message not understood", "protocol", R"({"message":"not JSON","line":"garbage"})",
      "a message of the program was not understood: not JSON: garbage");
  row("silent", "silent", R"({"seconds":61.5,"message":"the program has not reported a step since"})",
      "the program has not reported a step for 1:02");
}

void TestLegacyEvents::sentences() {
  QFETCH(QByteArray, kind);
  QFETCH(QByteArray, detail);
  QFETCH(QByteArray, sentence);
  const Event event = decode_event(1, 1, kind.toStdString(), detail.toStdString());
  QVERIFY(!std::holds_alternative<UnknownEvent>(event.body));
  QCOMPARE(english(event), sentence.toStdString());
  const EncodedEvent encoded = encode(event);
  QCOMPARE(english(decode_event(1, 1, encoded.kind, encoded.detail_json)), sentence.toStdString());
}

BATCHSCOPE_TEST(TestLegacyEvents)
#include "tst_legacy_events.moc"
