#include <QTest>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/telemetry/english.h"
#include "core/telemetry/event_codec.h"
#include "event_samples.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::telemetry;
using telemetry::test::Sample;
using telemetry::test::samples;

class TestEventCodec : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void samples_come_back_data();
  void samples_come_back();
  void random_details_come_back();
  void garbage_is_an_unknown_event_data();
  void garbage_is_an_unknown_event();
  void fields_of_later_versions_survive();
  void values_that_are_no_numbers_survive();
  void numbers_of_messages();
  void an_event_of_nobodys_kind_stays_as_it_is();
  void names_that_scripts_know_data();
  void names_that_scripts_know();
  void reasons_data();
  void reasons();
};

namespace {

std::vector<std::string> kinds() {
  std::vector<std::string> kinds;
  for (const Sample& sample : samples())
    if (!std::holds_alternative<UnknownEvent>(sample.body))
      kinds.push_back(kind_of(sample.body));
  return kinds;
}

/// Names and values of all fields that any kind has.
std::vector<std::pair<std::string, Json>> known_fields() {
  std::vector<std::pair<std::string, Json>> fields;
  for (const Sample& sample : samples()) {
    const Json detail = parse_json_or_discard(encode(sample.body).detail_json);
    for (const auto& [name, value] : detail.items())
      fields.emplace_back(name, value);
  }
  for (const char* text : {"split into micro batches of at most 4", "not split: a single example does not fit",
                           "the program has ended", "follows the memory that is free"}) {
    fields.emplace_back("action", text);
    fields.emplace_back("message", text);
    fields.emplace_back("text", text);
  }
  return fields;
}

/// Any value, mostly of a type that some field has.
Json random_value(std::mt19937& random, const std::vector<std::pair<std::string, Json>>& fields) {
  switch (random() % 8) {
  case 0:
    return static_cast<std::int64_t>(random()) - 2'000'000'000;
  case 1:
    return nullptr;
  case 2:
    return {{"code", "single-example"}, {"args", {{"n", 1}}}, {"text", "words"}};
  case 3:
    return {{"code", "of-a-later-version"}, {"text", "words"}};
  default:
    return fields[random() % fields.size()].second;
  }
}

/// The fields that are not known need not have the same order.
bool same(const Event& a, const Event& b) {
  const auto more = [](const Event& event) { return nlohmann::json::parse(event.more_json, nullptr, false); };
  return a.step == b.step && a.body == b.body && a.message == b.message && a.more_json.empty() == b.more_json.empty() &&
         (a.more_json.empty() || more(a) == more(b));
}

Event again(const Event& event) {
  const EncodedEvent encoded = encode(event);
  return decode_event(event.step, event.seconds, encoded.kind, encoded.detail_json);
}

} // namespace

void TestEventCodec::samples_come_back_data() {
  QTest::addColumn<int>("number");
  const auto all = samples();
  for (std::size_t i = 0; i < all.size(); ++i)
    QTest::addRow("%s %d", kind_of(all[i].body).c_str(), static_cast<int>(i)) << static_cast<int>(i);
}

void TestEventCodec::samples_come_back() {
  QFETCH(int, number);
  const EventBody body = samples()[static_cast<std::size_t>(number)].body;
  const EncodedEvent encoded = encode(body);
  QVERIFY2(decode(encoded.kind, encoded.detail_json) == body, encoded.detail_json.c_str());
  const Event event{.step = 3, .seconds = 1, .body = body, .message = 7};
  if (std::holds_alternative<UnknownEvent>(body))
    return; // its text may be another one with the number
  QVERIFY2(same(again(event), event), encode(event).detail_json.c_str());
  QVERIFY(decode_event(3, 1, encoded.kind, encoded.detail_json).more_json.empty()); // all fields are known
}

/// Whatever a detail holds: what was read is written and read again as the same.
void TestEventCodec::random_details_come_back() {
  const int tries = batchscope::test::sanitized ? 2'000 : 20'000;
  std::mt19937 random(1); // NOLINT(cert-msc51-cpp): the same each time
  const auto fields = known_fields();
  const auto all = kinds();
  std::vector<Json> right;
  for (const Sample& sample : samples())
    right.push_back(parse_json_or_discard(encode(sample.body).detail_json));
  int known = 0;
  for (int i = 0; i < tries; ++i) {
    const std::string& kind = all[random() % all.size()];
    // One that is right for some kind but for some of its fields, or nothing but some fields.
    Json detail = random() % 2 == 0 ? right[random() % right.size()] : Json::object();
    if (!detail.is_object())
      detail = Json::object();
    for (std::size_t n = random() % 8; n > 0; --n) {
      const std::string& name = fields[random() % fields.size()].first;
      Json value = random_value(random, fields);
      if (!name.ends_with("_code") || value.is_string()) // a code beside words is one, or it is missing
        detail[name] = std::move(value);
    }
    const std::string text = json_text(detail);
    const Event event = decode_event(1, 1, kind, text);
    QVERIFY2(same(again(event), event), (kind + ' ' + text + '\n' + encode(event).detail_json).c_str());
    QVERIFY2(decode(kind, text).index() == event.body.index(), text.c_str());
    QVERIFY(!english(event).empty());
    known += std::holds_alternative<UnknownEvent>(event.body) ? 0 : 1;
  }
  QVERIFY(known > tries / 4);
}

void TestEventCodec::garbage_is_an_unknown_event_data() {
  QTest::addColumn<QByteArray>("kind");
  QTest::addColumn<QByteArray>("detail");
  for (const char* detail : {"", "{", "[1, 2", "null", "[]", "\"text\"", "7", "{\"schedule\": 7}"})
    for (const char* kind : {"edit", "clamp", "no such kind"})
      QTest::addRow("%s %s", kind, detail) << QByteArray(kind) << QByteArray(detail);
  QTest::newRow("nothing that the kind needs") << QByteArray("status") << QByteArray(R"({"status": "asleep"})");
}

void TestEventCodec::garbage_is_an_unknown_event() {
  QFETCH(QByteArray, kind);
  QFETCH(QByteArray, detail);
  const EventBody body = decode(kind.toStdString(), detail.toStdString());
  const auto* unknown = std::get_if<UnknownEvent>(&body);
  QVERIFY(unknown);
  QCOMPARE(unknown->kind, kind.toStdString());
  QVERIFY((encode(body) == EncodedEvent{kind.toStdString(), detail.toStdString()})); // byte for byte
  QVERIFY(!english(Event{.body = body}).empty());
}

void TestEventCodec::fields_of_later_versions_survive() {
  const Event event = decode_event(1, 1, "oom",
                                   R"({"attempted_batch": 8, "outcome": "moved-to-host", "where": "attic",
                                       "host_bytes": [1, 2], "cause_code": "moon", "limit_bytes": "lots"})");
  const auto* oom = std::get_if<OutOfMemory>(&event.body);
  QVERIFY(oom && oom->attempted_batch == 8 && !oom->limit_bytes);
  QVERIFY(survived(*oom)); // a later version says what it did about it, so it did something
  const Json written = parse_json(encode(event).detail_json);
  for (const auto& [name, value] : {std::pair<const char*, Json>{"host_bytes", {1, 2}},
                                    {"outcome", "moved-to-host"},
                                    {"where", "attic"},
                                    {"cause_code", "moon"},
                                    {"limit_bytes", "lots"}})
    QVERIFY2(written[name] == value, name);
  QVERIFY(same(again(event), event));
}

void TestEventCodec::values_that_are_no_numbers_survive() {
  for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    const EncodedEvent encoded = encode(EventBody(Evaluation{.loss = value}));
    const EventBody body = decode(encoded.kind, encoded.detail_json);
    const double loss = std::get<Evaluation>(body).loss.value();
    QVERIFY(std::isnan(value) ? std::isnan(loss) : loss == value);
  }
  const ScheduleProblem problem{.reason = because(Words::formula_not_a_batch, {{"value", HUGE_VAL}, {"step", 2}})};
  const EncodedEvent encoded = encode(EventBody(problem));
  QVERIFY(decode(encoded.kind, encoded.detail_json) == EventBody(problem));
}

void TestEventCodec::numbers_of_messages() {
  const Event known = decode_event(1, 1, "late", R"({"seconds": 2, "seq": 9, "new": true})");
  QCOMPARE(known.message, std::int64_t{9});
  QCOMPARE(known.more_json, std::string(R"({"new":true})"));
  QVERIFY(parse_json(encode(known).detail_json) == Json({{"seconds", 2.0}, {"new", true}, {"seq", 9}}));
  const Event unknown = decode_event(1, 1, "mine", R"({"a": 1, "seq": 9})");
  QCOMPARE(unknown.message, std::int64_t{9});
  QCOMPARE(encode(unknown).detail_json, std::string(R"({"a":1,"seq":9})"));
  QCOMPARE(decode_event(1, 1, "mine", R"({"a": 1, "seq": "x"})").message, std::int64_t{0});
}

void TestEventCodec::an_event_of_nobodys_kind_stays_as_it_is() {
  const Event event = decode_event(1, 1, "mine", R"({ "a" : 1 })");
  QVERIFY((encode(event) == EncodedEvent{"mine", R"({ "a" : 1 })"}));
  QVERIFY((encode(Event{}) == EncodedEvent{"", "{}"}));
  QVERIFY(!has_happened(decode_event(1, 1, "", "{}")));
}

void TestEventCodec::names_that_scripts_know_data() {
  QTest::addColumn<int>("number");
  QTest::addColumn<QStringList>("names");
  const auto row = [](const EventBody& body, const QStringList& names) {
    const auto all = samples();
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].body.index() == body.index()) {
        QTest::newRow(kind_of(body).c_str()) << static_cast<int>(i) << names;
        return;
      }
  };
  row(OutOfMemory{},
      {"attempted_batch", "nominal_batch", "accumulate", "effective_batch", "longest_example", "requested_bytes",
       "in_use_bytes", "reserved_bytes", "limit_bytes", "phase", "in_use_by", "micro_batches_before",
       "micro_batches_after", "micro_batch_before", "micro_batch_after", "examples_again", "action", "cause"});
  row(ScheduleEdit{}, {"schedule", "command", "before", "batch_before", "batch", "applies_from_step"});
  row(BudgetChange{}, {"before_bytes", "asked_bytes", "command", "budget_bytes", "applies_from_step"});
  row(Clamp{}, {"asked", "given", "message"});
  row(ScheduleProblem{}, {"message"});
  row(Evaluation{}, {"loss", "accuracy"});
  row(StatusChange{}, {"status"});
  row(CheckpointWritten{}, {"bytes", "copy_seconds", "write_seconds", "message"});
  row(WeightsWritten{}, {"file", "bytes", "message"});
  row(Resumed{}, {"replaced_steps", "at", "message"});
  row(ProgramConnected{}, {"pid", "level", "client", "framework", "torch", "device", "world", "examples", "batch",
                           "accumulate", "given_batch", "name", "config"});
  row(ProgramExit{}, {"exit_code", "signal", "status", "reason"});
  row(ProgramBye{}, {"message", "status", "reason"});
  row(ProgramOutput{}, {"tail", "file"});
  row(Differs{}, {"planned_batch", "planned_examples", "batch", "examples", "message"});
  row(NotFollowed{}, {"message"});
}

void TestEventCodec::names_that_scripts_know() {
  QFETCH(int, number);
  QFETCH(QStringList, names);
  const Json detail = parse_json(encode(samples()[static_cast<std::size_t>(number)].body).detail_json);
  for (const QString& name : names)
    QVERIFY2(detail.contains(name.toStdString()), qPrintable(name));
}

void TestEventCodec::reasons_data() {
  QTest::addColumn<QByteArray>("detail");
  QTest::addColumn<QByteArray>("code");
  QTest::addColumn<QByteArray>("text"); // that is kept
  QTest::addColumn<QByteArray>("shown");
  const auto row = [](const char* name, const char* detail, const char* code, const char* text, const char* shown) {
    QTest::newRow(name) << QByteArray(detail) << QByteArray(code) << QByteArray(text) << QByteArray(shown);
  };
  row("as a program sends it", R"({"reason": {"code": "strategy", "args": {"class": "X"}, "text": "?"}})", "strategy",
      "", "the strategy X is not known");
  row("as it is stored", R"({"reason": "?", "reason_code": "strategy", "reason_args": {"class": "X"}})", "strategy", "",
      "the strategy X is not known");
  row("of the first clients", R"({"reason": "IterableDataset"})", "", "IterableDataset", "IterableDataset");
  row("of a later version", R"({"reason": {"code": "new", "args": {}, "text": "new words"}})", "new", "new words",
      "new words");
  row("of a later version, stored", R"({"reason": "new words", "reason_code": "new"})", "new", "new words",
      "new words");
  row("odd values", R"({"reason": {"code": "strategy", "args": {"class": [1], "n": null}, "text": 7}})", "strategy", "",
      "the strategy [1] is not known");
}

void TestEventCodec::reasons() {
  QFETCH(QByteArray, detail);
  QFETCH(QByteArray, code);
  QFETCH(QByteArray, text);
  QFETCH(QByteArray, shown);
  const EventBody body = decode("watched", detail.toStdString());
  const auto* watched = std::get_if<Watched>(&body);
  QVERIFY(watched);
  QCOMPARE(watched->reason.code, code.toStdString());
  QCOMPARE(watched->reason.text, text.toStdString());
  QCOMPARE(english(watched->reason), shown.toStdString());
  const EncodedEvent encoded = encode(body);
  QVERIFY(decode(encoded.kind, encoded.detail_json) == body);
}

BATCHSCOPE_TEST(TestEventCodec)
#include "tst_event_codec.moc"
