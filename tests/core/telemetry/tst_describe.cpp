#include <QTest>

#include <set>
#include <string>

#include "core/telemetry/describe.h"
#include "core/telemetry/english.h"
#include "core/telemetry/event_codec.h"
#include "core/telemetry/message_json.h"
#include "event_samples.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::telemetry;
using telemetry::test::Sample;
using telemetry::test::samples;

class TestDescribe : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void every_kind_is_among_the_samples();
  void sentences_data();
  void sentences();
  void groups();
  void patterns();
  void optional_parts();
  void reasons_of_programs_data();
  void reasons_of_programs();
  void an_unknown_code_has_its_own_words();
  void a_reason_within_a_reason();
  void arguments_without_words();
  void bytes_in_use_are_compared_with_the_same_only();
};

void TestDescribe::every_kind_is_among_the_samples() {
  std::set<std::size_t> kinds{EventBody(ValuesOnly{}).index()};
  for (const Sample& sample : samples())
    kinds.insert(sample.body.index());
  QCOMPARE(kinds.size(), std::variant_size_v<EventBody>);
}

void TestDescribe::sentences_data() {
  QTest::addColumn<int>("number");
  const auto all = samples();
  for (std::size_t i = 0; i < all.size(); ++i)
    QTest::addRow("%s %d", kind_of(all[i].body).c_str(), static_cast<int>(i)) << static_cast<int>(i);
}

void TestDescribe::sentences() {
  QFETCH(int, number);
  const Sample sample = samples()[static_cast<std::size_t>(number)];
  QCOMPARE(english(Event{.step = 1, .body = sample.body}), sample.sentence);
}

void TestDescribe::groups() {
  const auto group = [](const EventBody& body) { return describe({.body = body}).group; };
  QVERIFY(group(OutOfMemory{}) == EventGroup::out_of_memory);
  QVERIFY(group(ScheduleEdit{}) == EventGroup::edits);
  QVERIFY(group(ScheduleEdit{.refused = as_told("no")}) == EventGroup::edits);
  QVERIFY(group(SharesEdit{}) == EventGroup::edits);
  QVERIFY(group(BudgetChange{}) == EventGroup::edits);
  QVERIFY(group(Evaluation{}) == EventGroup::evaluations);
  QVERIFY(group(StatusChange{}) == EventGroup::all);
}

/// Every pattern has whole braces and brackets, and an id of its own.
void TestDescribe::patterns() {
  std::set<std::string> ids;
  constexpr auto last = static_cast<int>(Words::evaluation);
  for (int i = 0; i <= last; ++i) {
    const auto words = static_cast<Words>(i);
    QVERIFY2(ids.insert(id_of(words)).second, id_of(words).c_str());
    int open = 0, brackets = 0;
    for (const char* c = english_pattern(words); *c != '\0'; ++c) {
      open += *c == '{' ? 1 : *c == '}' ? -1 : 0;
      brackets += *c == '[' ? 1 : *c == ']' ? -1 : 0;
      QVERIFY2(open >= 0 && brackets >= 0, id_of(words).c_str());
    }
    QVERIFY2(open == 0 && brackets == 0, id_of(words).c_str());
  }
}

void TestDescribe::optional_parts() {
  const auto shown = [](const Argument& argument) { return std::get<Text>(argument).value; };
  const Message message{Words::verbatim, {{"a", Text{"1"}}, {"b", Text{"[2]"}}}};
  QCOMPARE(filled("{a}[, {b}][, {c}].", message, shown), std::string("1, [2]."));
  QCOMPARE(filled("[{c}[ {a}]]x", message, shown), std::string("x"));
  QCOMPARE(filled("[{a}[ {c}]]x", message, shown), std::string("1x"));
  QCOMPARE(filled("{c}", message, shown), std::string("-"));
  QCOMPARE(filled("put {{a}} into {a}", message, shown), std::string("put {a} into 1"));
  QCOMPARE(filled("{a", message, shown), std::string("1"));
  QCOMPARE(filled("", message, shown), std::string());
}

void TestDescribe::reasons_of_programs_data() {
  QTest::addColumn<QString>("code");
  for (const char* code : {"on-oom-fail",
                           "single-example",
                           "examples-interact",
                           "cannot-cut",
                           "cannot-compute",
                           "pair-does-not-fit",
                           "random-mixing",
                           "own-step",
                           "buffers",
                           "several-ranks",
                           "iterable-dataset",
                           "own-batch-sampler",
                           "sampler-for-a-size",
                           "not-a-dataloader",
                           "old-version",
                           "data-parallel",
                           "deepspeed",
                           "fsdp",
                           "grouped-batches",
                           "steps-in-backward",
                           "own-loop",
                           "manual-optimization",
                           "limit-train-batches",
                           "overfit-batches",
                           "accumulation-schedule",
                           "strategy",
                           "several-machines",
                           "world-not-joined",
                           "zipped-loaders",
                           "own-backward",
                           "kept-tensors",
                           "evaluation"})
    QTest::newRow(code) << QString(code);
}

/// The codes that programs send are known, with and without their values.
void TestDescribe::reasons_of_programs() {
  QFETCH(QString, code);
  Reason reason{.code = code.toStdString(), .text = "words of the program"};
  QVERIFY(english(reason) != reason.text);
  QVERIFY(!english(reason).empty());
  reason.args = {{"relative_error", 0.25}, {"error", "E"},          {"what", "w"},  {"class", "C"},
                 {"package", "p"},         {"version", "1"},        {"least", "2"}, {"methods", "m"},
                 {"processes", 4},         {"bytes_per_step", 5000}};
  const QString text = QString::fromStdString(english(reason));
  QVERIFY2(!text.contains('{') && !text.contains('['), qPrintable(text));
  if (code == "kept-tensors")
    QVERIFY2(text.contains("5.0 kB a step"), qPrintable(text));
}

void TestDescribe::an_unknown_code_has_its_own_words() {
  QCOMPARE(english(Reason{.code = "new", .args = {{"n", 1}}, .text = "a new reason"}), std::string("a new reason"));
  QCOMPARE(english(Reason{.code = "new"}), std::string("new"));
  QCOMPARE(english(as_told("told\nin two lines")), std::string("told in two lines"));
}

void TestDescribe::a_reason_within_a_reason() {
  const Reason reason =
      because(Words::ran_out_of_memory,
              {{"cause", "device"}, {"place", "evaluation"}, {"why", "examples-interact"}, {"relative_error", 0.5}});
  QCOMPARE(english(reason),
           std::string("out of memory (device) (evaluation); not survived: the loss depends on the whole batch: it is "
                       "not a weighted mean of its examples' losses (relative error 0.5)"));
  // A code that nobody knows, and one that would name itself, are texts.
  QCOMPARE(english(because(Words::batch_not_steered, {{"why", "odd"}})), std::string("odd: its batch size cannot be "
                                                                                     "changed"));
  QCOMPARE(english(because(Words::batch_not_steered, {{"why", "batch-not-steered"}})),
           std::string("-: its batch size cannot be changed: its batch size cannot be changed"));
}

void TestDescribe::arguments_without_words() {
  const Event event{
      .body = OutOfMemory{
          .attempted_batch = 8, .requested_bytes = 100, .reason = because(Words::single_example), .error = "E"}};
  const Json json = arguments_json(describe(event).sentence);
  QVERIFY(
      json ==
      Json({{"attempted_batch", 8}, {"requested_bytes", 100}, {"reason", {{"id", "single-example"}}}, {"error", "E"}}));
}

void TestDescribe::bytes_in_use_are_compared_with_the_same_only() {
  OutOfMemory event{.in_use_bytes = 552'000'000, .limit_bytes = 210'000'000};
  const auto text = [&] { return QString::fromStdString(english(Event{.body = event})); };
  QVERIFY2(text().contains("552.0 MB in use, as reported by the program; memory budget 210.0 MB"), qPrintable(text()));
  event.counts = OutOfMemory::Counts::process;
  QVERIFY2(text().contains("552.0 MB in use by the whole process, libraries included; memory budget 210.0 MB"),
           qPrintable(text()));
  event.counts = OutOfMemory::Counts::budget;
  QVERIFY2(text().contains("552.0 MB in use, limit 210.0 MB"), qPrintable(text()));
  event.in_use_bytes.reset();
  QVERIFY2(text().contains("memory budget 210.0 MB"), qPrintable(text()));
}

BATCHSCOPE_TEST(TestDescribe)
#include "tst_describe.moc"
