#include "core/program/protocol/wire.h"

#include <algorithm>
#include <cmath>

#include <QTest>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/telemetry/english.h"
#include "test_events.h"
#include "test_program.h"
#include "tests/core/store/store_test.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::program;

namespace {

template <typename Type> Type parsed_as(const std::string& line) {
  const Message message = parse(line);
  return std::holds_alternative<Type>(message) ? std::get<Type>(message) : Type{};
}

std::string why_refused(const std::string& line) {
  try {
    parse(line);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

} // namespace

/// Lines become messages; fields that are known have the right type or the line is refused, others are ignored.
class TestWire : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void readsAHello() {
    const auto hello = parsed_as<Hello>(
        R"({"type":"hello","protocol":1,"client":"python 1","pid":7,"run":"ab","examples":100,"batch":8,"epochs":2.5,)"
        R"("drop_last":null,"name":null,"config":{"lr":0.1},"settings":{"rate":5e-5,"fused":true,"optimizer":"sgd","betas":[0.9],"a":null},"can":["report","batch","new"],"later":[1]})");
    QCOMPARE(hello.pid, 7);
    QCOMPARE(hello.run, std::string("ab"));
    QCOMPARE(hello.examples, std::optional<std::int64_t>(100));
    QCOMPARE(hello.epochs, std::optional(2.5));
    QVERIFY(!hello.steps && !hello.drop_last && hello.name.empty());
    QCOMPARE(hello.config_json, std::string(R"({"lr":0.1})"));
    QCOMPARE(hello.settings_json, std::string(R"({"rate":5e-05,"fused":true,"optimizer":"sgd"})"));
    QCOMPARE(level_of(hello), 2);
  }

  void levelsNeedWhatComesBefore() {
    Hello hello;
    hello.can = {"report", "split", "trace"};
    QCOMPARE(level_of(hello), 1); // it cannot change its size
    hello.can.insert("batch");
    QCOMPARE(level_of(hello), 3);
  }

  void readsARecord() {
    const auto step = parsed_as<StepMessage>(
        R"({"type":"record","seq":3,"step":2,"loss":"NaN","grad_norm":"-Infinity","batch":16,"seconds":1.5,)"
        R"("takes":[8,8],"ask":true,"more":{"extra":2,"odd":"Infinity","none":null}})");
    QCOMPARE(step.seq, 3);
    QCOMPARE(step.record.step, 2);
    QVERIFY(std::isnan(step.record.loss) && std::isnan(step.record.learning_rate));
    QCOMPARE(step.record.grad_norm, -store::test::infinity);
    QCOMPARE(step.record.batch, 16);
    QCOMPARE(step.takes, (std::vector<std::int64_t>{8, 8}));
    QVERIFY(step.ask);
    QCOMPARE(step.record.more.size(), 2U);
  }

  void readsATraceAndItsPeak() {
    const auto message = parsed_as<TraceMessage>(
        R"({"type":"trace","seq":1,"batch":8,"granularity":64,"start_bytes":1000,"start_by":{"parameters":1000},)"
        R"("events":[100,64,-1,[500],640,-2,-3],"phases":[[1,"forward"],[4,"backward"]]})");
    const telemetry::Trace& trace = message.trace;
    QCOMPARE(trace.events.size(), 7U);
    QCOMPARE(trace.peak_bytes, 1000U + 64 - 500 + 640); // with 128 more in between: 1192
    QVERIFY(trace.events[0].phase == telemetry::Phase::batch);
    QVERIFY(trace.events[1].phase == telemetry::Phase::forward);
    QVERIFY(trace.events[4].phase == telemetry::Phase::backward);
    QCOMPARE(trace.events[2].block, 0U);
    QCOMPARE(trace.events[2].bytes, 128U);
    QCOMPARE(trace.events[3].block, telemetry::block_from_before);
    QCOMPARE(trace.start_bytes_by[0], 1000U);
  }

  void readsWhatElseAProgramSays() {
    const auto applied = parsed_as<Applied>(
        R"({"type":"applied","seq":4,"id":2,"step":9,"batch":32,"accumulate":null,"rate_factor":0.5,"limit_bytes":5})");
    QCOMPARE(applied.batch, std::optional<std::int64_t>(32));
    QVERIFY(!applied.accumulate && applied.limit_bytes == 5U);
    const auto estimate =
        parsed_as<EstimateMessage>(R"({"type":"estimate","seq":5,"method":"fake","curve":[[8,100,{"batch":7}]]})");
    QCOMPARE(estimate.curve.at(0).peak_bytes, 100U);
    QCOMPARE(estimate.curve.at(0).by.at(0).second, 7U);
    QCOMPARE(parsed_as<Bye>(R"({"type":"bye","seq":6,"status":"finished","reason":null})").status,
             std::string("finished"));
    QCOMPARE(seq_of(parse(R"({"type":"of a later version","seq":7})")), 7);
    const auto event = parsed_as<EventMessage>(
        R"({"type":"event","seq":8,"step":1,"seconds":2,"kind":"odd","detail":{"a":1},"values":{"x":1}})");
    QCOMPARE(kind_text(event.event), std::string("odd"));
    QVERIFY(detail_of(event.event) == Json({{"a", 1}, {"seq", 8}}));
  }

  void readsEvents_data() {
    QTest::addColumn<QByteArray>("event");
    QTest::addColumn<QByteArray>("sentence");
    const auto row = [](const char* name, const char* event, const char* sentence) {
      QTest::newRow(name) << QByteArray(event) << QByteArray(sentence);
    };
    row("oom",
        R"("kind":"oom","detail":{"attempted_batch":8,"requested_bytes":null,"in_use_bytes":null,"limit_bytes":null,
        "where":"update","outcome":"not-survived","reason":{"code":"own-step","args":{},"text":"?"},"error":"E",
        "estimated_evaluation":3})",
        "out of memory (optimizer step) with a micro batch of 8; the program received the error: the error is inside "
        "optimizer.step(), which may have changed a part of the weights; error: E");
    row("split", R"("kind":"split","detail":{"mean_over":"label weights","relative_error":2e-7,"pieces":2,
        "batch_norm":false,"random":false})",
        "the loss of a split step is combined by the weights of the labels; relative error measured on pieces of a "
        "step: 2e-07; 2 pieces");
    row("level", R"("kind":"level","detail":{"level":1,"reason":{"code":"own-batch-sampler","args":{"class":"S"},
        "text":"?"}})",
        "the program only reports its steps: the program has a batch sampler of its own: S");
    row("growing", R"("kind":"growing","detail":{"bytes_per_step":1000,"since_step":3,"bytes":7000})",
        "memory between steps grows by 1.0 kB a step since step 3, 7.0 kB so far: tensors are being kept (possible "
        "leak)");
    row("budget not kept", R"("kind":"budget-not-kept","detail":{"reason":{"code":"kept-tensors",
        "args":{"bytes_per_step":5000},"text":"?"},"limit_bytes":1000,"needed_bytes":null})",
        "memory budget of 1.0 kB not kept: the program keeps tensors from step to step (5.0 kB a step)");
    row("scheduler", R"("kind":"scheduler","detail":{"name":"OneCycleLR","follows":"progress"})",
        "OneCycleLR advances by progress from now on");
    row("watched", R"("kind":"watched","detail":{"reason":{"code":"world-not-joined","args":{"processes":2},
        "text":"?"}})",
        "the program is watched, not steered: 2 processes train independently of each other");
    row("retry", R"("kind":"retry","detail":{"batch":8,"text":"a micro batch of 8 ran out of memory while libraries
        compiled kernels or took buffers, and is tried again now that they have them"})",
        "a micro batch of 8 ran out of memory while libraries compiled kernels or took buffers, and is tried again now "
        "that they have them");
    row("evaluation", R"("kind":"evaluation","detail":{},"values":{"validation_loss":0.5,"validation_accuracy":0.75}})",
        "validation loss 0.5, accuracy 75.00 %");
    row("another", R"("kind":"mine","detail":{"a":1})", "mine, a: 1");
  }
  void readsEvents() {
    QFETCH(QByteArray, event);
    QFETCH(QByteArray, sentence);
    std::string line = R"({"type":"event","seq":3,"step":1,"seconds":2,)" + event.simplified().toStdString();
    const auto open = std::count(line.begin(), line.end(), '{') - std::count(line.begin(), line.end(), '}');
    line.append(static_cast<std::size_t>(open), '}');
    const auto message = parsed_as<EventMessage>(line.c_str());
    QCOMPARE(message.event.message, std::int64_t{3});
    QCOMPARE(telemetry::english(message.event), sentence.toStdString());
    // It is stored and read as what it is.
    const telemetry::EncodedEvent encoded = telemetry::encode(message.event);
    QVERIFY(telemetry::decode_event(1, 2, encoded.kind, encoded.detail_json).body == message.event.body);
  }

  void refusesWhatIsNoMessage_data() {
    QTest::addColumn<QByteArray>("line");
    const auto row = [](const char* line) { QTest::newRow(line) << QByteArray(line); };
    row("");
    row("\x01\xff garbage");
    row("[1]");
    row("{}");
    row(R"({"type":5})");
    row(R"({"type":"record","step":1})");
    row(R"({"type":"record","seq":0,"step":1})");
    row(R"({"type":"record","seq":1,"step":1.5})");
    row(R"({"type":"record","seq":1,"step":-1})");
    row(R"({"type":"record","seq":1,"step":1,"loss":true})");
    row(R"({"type":"record","seq":1,"step":1,"loss":"low"})");
    row(R"({"type":"record","seq":1,"step":1,"takes":["x"]})");
    row(R"({"type":"record","seq":1,"step":1,"more":{"x":[]}})");
    row(R"({"type":"record","seq":99999999999999999999,"step":1})");
    row(R"({"type":"record","seq":1,"step":1,"loss":NaN})");
    row(R"({"type":"hello"})");
    row(R"({"type":"hello","protocol":1,"batch":0})");
    row(R"({"type":"hello","protocol":1,"examples":"many"})");
    row(R"({"type":"event","seq":1})");
    row(R"({"type":"bye","seq":1,"status":"gone"})");
    row(R"({"type":"estimate","seq":1})");
    row(R"({"type":"trace","seq":1,"batch":1,"events":[-1]})");
    row(R"({"type":"trace","seq":1,"batch":1,"events":[8,-1,-1]})");
    row(R"({"type":"trace","seq":1,"batch":1,"events":[-9223372036854775808]})");
    row(R"({"type":"trace","seq":1,"batch":1,"events":[9223372036854775807]})");
    row(R"({"type":"trace","seq":1,"batch":1,"events":[8],"phases":[0]})");
    QTest::newRow("deep") << QByteArray(5000, '[');
    QByteArray names = "{";
    for (int i = 0; i < 1501; ++i)
      names += "\"name " + QByteArray::number(i) + "\":1,";
    QTest::newRow("many names") << names + "\"type\":\"bye\",\"seq\":1,\"status\":\"finished\"}";
    QTest::newRow("a long name") << "{\"" + QByteArray(129, 'n') +
                                        "\":1,\"type\":\"bye\",\"seq\":1,\"status\":\"finished\"}";
    QTest::newRow("a long text") << QByteArray("{\"type\":\"record\",\"seq\":1,\"step\":\"" + QByteArray(100'000, 'x') +
                                               "\"}");
  }
  void refusesWhatIsNoMessage() {
    QFETCH(QByteArray, line);
    const std::string why = why_refused(line.toStdString());
    QVERIFY(!why.empty());
    QVERIFY(why.size() < 2000 && why.find('\n') == std::string::npos);
  }

  void writesLines() {
    const auto json = [](const std::string& line) {
      return line.ends_with("\n") ? parse_json(line.substr(0, line.size() - 1)) : Json();
    };
    const Json welcome = json(to_line(Welcome{.run = "u", .number = 3, .accumulate = 2, .hold = 1}));
    QVERIFY(welcome["type"] == "welcome" && welcome["batch"].is_null() && welcome["accumulate"] == 2);
    const Json next = json(to_line(Next{.step = 5, .batch = 8, .accumulate = 1, .rate_factor = 0.5, .hold = 4}));
    QVERIFY(next["step"] == 5 && next["rate_factor"] == 0.5);
    const Json edit = json(to_line(Edit{.id = 1, .limit_bytes = 7}));
    QVERIFY(edit["limit_bytes"] == 7 && !edit.contains("batch"));
    QVERIFY(json(to_line(Order::resume))["type"] == "continue");
    QVERIFY(json(stop_line(true))["save"] == true);
    QVERIFY(json(refuse_line("a\nb"))["reason"] == "a\nb");
    QVERIFY(json(probe_line({{.batch = 8, .trace = true, .steps = 2}}, false))["sizes"][0]["steps"] == 2);
    const Json evaluation = json(probe_line({{.batch = 8, .evaluation = 32}}, true));
    QVERIFY(evaluation["sizes"][0]["evaluation"] == 32 && evaluation["then"] == "stop");
    QVERIFY(json(estimate_line({8, 16}))["batches"][1] == 16);
  }
};

BATCHSCOPE_TEST(TestWire)
#include "tst_wire.moc"
