#include "core/run/run_spec.h"

#include <cmath>
#include <functional>
#include <limits>

#include <QTest>

#include "core/base/error.h"
#include "core/base/json.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::run;

using Change = std::function<void(RunSpec&)>;
Q_DECLARE_METATYPE(Change)

class TestRunSpec : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void defaultsAreGood();
  void defaultsOfTheDocument();
  void refused_data();
  void refused();
  void accepted_data();
  void accepted();
  void jsonKeepsEveryField();
  void jsonKeepsTheBase();
  void lengthsReplaceEachOther();
  void accumulationAndEffectiveBatchReplaceEachOther();
  void fieldsOfLaterVersionsAreKept();
  void fieldsThatEarlierVersionsDidNotHave();
  void badJson_data();
  void badJson();
  void commandLine();
};

namespace {

const double not_a_number = std::nan("");
const double infinity = std::numeric_limits<double>::infinity();

RunSpec full_spec() {
  RunSpec spec;
  spec.name = "it's \"big\" \\";
  spec.model = "resnet:width=8,norm=batch";
  spec.data = "csv:a b.csv,target=y";
  spec.device = "cuda:1";
  spec.memory_budget = 400'000'000;
  spec.batch = {BatchChoice::Kind::number, 16};
  spec.effective_batch = 500;
  spec.schedule = "formula:min(batch + 1, 64)";
  spec.max_batch = 64;
  spec.drop_last = true;
  spec.batch_norm_rule = "inverse";
  spec.ema = 0.999;
  spec.precision = "fp16";
  spec.checkpointing = true;
  spec.optimizer = "sgd";
  spec.learning_rate = 0.1;
  spec.momentum = 0.8;
  spec.weight_decay = 1e-4;
  spec.lr_rule = "sqrt";
  spec.lr_reference_batch = 32;
  spec.lr_decay = "cosine";
  spec.warmup = "auto";
  spec.dropout = 0.1;
  spec.label_smoothing = 0.05;
  spec.regularization_rule = "sqrt";
  spec.task = "fine-tuning";
  spec.clip = 1.5;
  spec.length = {.epochs = std::nullopt, .examples = std::nullopt, .steps = 77};
  spec.seed = 9'223'372'036'854'775'807ULL;
  spec.on_oom = OnOom::fail;
  spec.margin = 0.1;
  spec.max_seconds = 90.5;
  spec.target_score = 0.97;
  spec.evaluate_every = EvaluationInterval{.percent = 12.5};
  spec.init = "weights.safetensors";
  spec.save = "trained.safetensors";
  spec.noise_every = 5;
  spec.checkpoint_every = 500;
  spec.checkpoint_minutes = 2.5;
  spec.augment = "flip,crop:24";
  spec.grow_back = 30;
  return spec;
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.kind() == Error::Kind::input ? error.what() : "another kind";
  }
  return {};
}

} // namespace

void TestRunSpec::defaultsAreGood() {
  check(RunSpec{});
  check(full_spec());
}

void TestRunSpec::defaultsOfTheDocument() {
  const RunSpec spec;
  QCOMPARE(spec.device, std::string("cpu"));
  QCOMPARE(to_string(spec.batch), std::string("auto"));
  QCOMPARE(spec.accumulate, std::int64_t{1});
  QCOMPARE(spec.schedule, std::string("constant"));
  QCOMPARE(spec.optimizer, std::string("adamw"));
  QCOMPARE(spec.lr_rule, std::string("none"));
  QCOMPARE(spec.length.epochs.value(), std::int64_t{1});
  QCOMPARE(spec.seed, std::uint64_t{1});
  QVERIFY(spec.on_oom == OnOom::shrink);
}

void TestRunSpec::refused_data() {
  QTest::addColumn<Change>("change");
  QTest::addColumn<QString>("option");
  const auto row = [](const char* name, const char* option, Change change) {
    QTest::newRow(name) << change << QString(option);
  };
  row("model without name", "--model", [](RunSpec& s) { s.model = ":width=3"; });
  row("no data", "--data", [](RunSpec& s) { s.data = ""; });
  for (const char* device : {"", "gpu", "cuda", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda:99999999999"})
    row(device, "--device", [device](RunSpec& s) { s.device = device; });
  row("budget", "--memory-budget", [](RunSpec& s) { s.memory_budget = 999'999; });
  row("batch 0", "--batch", [](RunSpec& s) { s.batch = {BatchChoice::Kind::number, 0}; });
  row("batch -1", "--batch", [](RunSpec& s) { s.batch = {BatchChoice::Kind::number, -1}; });
  row("accumulate 0", "--accumulate", [](RunSpec& s) { s.accumulate = 0; });
  row("effective 0", "--effective-batch", [](RunSpec& s) { s.effective_batch = 0; });
  row("both", "--effective-batch", [](RunSpec& s) { s.effective_batch = 8, s.accumulate = 2; });
  row("max 0", "--max-batch", [](RunSpec& s) { s.max_batch = 0; });
  row("epochs 0", "--epochs", [](RunSpec& s) { s.length.epochs = 0; });
  row("examples 0", "--examples", [](RunSpec& s) { s.length = {{}, 0, {}}; });
  row("steps -1", "--steps", [](RunSpec& s) { s.length = {{}, {}, -1}; });
  row("two lengths", "--epochs", [](RunSpec& s) { s.length.steps = 5; });
  row("no length", "--epochs", [](RunSpec& s) { s.length = {}; });
  row("seed", "--seed", [](RunSpec& s) { s.seed = 9'223'372'036'854'775'808ULL; });
  row("optimizer", "--optimizer", [](RunSpec& s) { s.optimizer = "lion"; });
  for (const double rate : {0.0, -0.1, not_a_number, infinity})
    row(("lr " + std::to_string(rate)).c_str(), "--lr", [rate](RunSpec& s) { s.learning_rate = rate; });
  row("momentum of adamw", "--momentum", [](RunSpec& s) { s.momentum = 0.9; });
  row("momentum 1", "--momentum", [](RunSpec& s) { s.optimizer = "sgd", s.momentum = 1; });
  row("weight decay", "--weight-decay", [](RunSpec& s) { s.weight_decay = -1; });
  row("weight decay nan", "--weight-decay", [](RunSpec& s) { s.weight_decay = not_a_number; });
  row("lr rule", "--lr-rule", [](RunSpec& s) { s.lr_rule = "cubic"; });
  row("lr reference", "--lr-reference-batch", [](RunSpec& s) { s.lr_reference_batch = 0; });
  row("lr decay", "--lr-decay", [](RunSpec& s) { s.lr_decay = "sine"; });
  for (const char* warmup : {"", "-1", "1.5", "AUTO", "5 "})
    row((std::string("warmup ") + warmup).c_str(), "--warmup", [warmup](RunSpec& s) { s.warmup = warmup; });
  row("dropout 1", "--dropout", [](RunSpec& s) { s.dropout = 1; });
  row("dropout nan", "--dropout", [](RunSpec& s) { s.dropout = not_a_number; });
  row("averages", "--ema", [](RunSpec& s) { s.ema = 1; });
  row("averages of nothing", "--ema", [](RunSpec& s) { s.ema = 0; });
  row("precision", "--precision", [](RunSpec& s) { s.precision = "fp8"; });
  row("precision of a GPU", "--precision", [](RunSpec& s) { s.precision = "fp16"; });
  row("smoothing", "--label-smoothing", [](RunSpec& s) { s.label_smoothing = -0.1; });
  row("regularization", "--regularization-rule", [](RunSpec& s) { s.regularization_rule = "linear"; });
  row("task", "--task", [](RunSpec& s) { s.task = "finetuning"; });
  row("clip", "--clip", [](RunSpec& s) { s.clip = 0; });
  row("margin", "--margin", [](RunSpec& s) { s.margin = 1; });
  for (const char* text : {"", "nope", "plateau:factor=1,patience=50", "noise:multiplier=0", "step:interval=0"})
    row((std::string("schedule ") + text).c_str(), "schedule", [text](RunSpec& s) { s.schedule = text; });
}

void TestRunSpec::refused() {
  QFETCH(Change, change);
  QFETCH(QString, option);
  RunSpec spec;
  change(spec);
  const std::string message = message_of([&] { check(spec); });
  QVERIFY2(message.find(option.toStdString()) != std::string::npos, message.c_str());
  QVERIFY2(message.find('\n') == std::string::npos, message.c_str());
}

void TestRunSpec::accepted_data() {
  QTest::addColumn<Change>("change");
  const auto row = [](const char* name, Change change) { QTest::newRow(name) << change; };
  row("budget of 1 MB", [](RunSpec& s) { s.memory_budget = 1'000'000; });
  row("gpu", [](RunSpec& s) { s.device = "cuda:0"; });
  row("piecewise with a found batch", [](RunSpec& s) { s.schedule = "piecewise:0=16,100=32"; });
  row("piecewise with a found batch, another way", [](RunSpec& s) { s.schedule = "piecewise:00=16"; });
  row("ramp up to --max-batch", [](RunSpec& s) { s.schedule = "linear:max=64", s.max_batch = 64; });
  row("effective batch below the batch", [](RunSpec& s) {
    s.batch = {BatchChoice::Kind::number, 32}, s.effective_batch = 8;
  });
  row("warm-up", [](RunSpec& s) { s.warmup = "100"; });
}

void TestRunSpec::accepted() {
  QFETCH(Change, change);
  RunSpec spec;
  change(spec);
  check(spec);
}

void TestRunSpec::jsonKeepsEveryField() {
  for (const RunSpec& spec : {RunSpec{}, full_spec()}) {
    const std::string text = to_json(spec);
    QCOMPARE(to_json(run_spec_from_json(text)), text);
    // Read over the opposite, so that a field that is not read would show.
    QCOMPARE(to_json(run_spec_from_json(text, full_spec())), text);
  }
  QCOMPARE(run_spec_from_json(to_json(full_spec())).name, full_spec().name);
}

void TestRunSpec::jsonKeepsTheBase() {
  const RunSpec spec = run_spec_from_json(R"({"lr": 0.5, "memory_budget": "64MiB", "warmup": 7})", full_spec());
  QCOMPARE(spec.learning_rate.value(), 0.5);
  QCOMPARE(spec.memory_budget.value(), std::uint64_t{67'108'864});
  QCOMPARE(spec.warmup, std::string("7"));
  QCOMPARE(run_spec_from_json("{\"name\": \" a\\nb\\u001b[31m\"}").name, std::string("a b [31m"));
  QCOMPARE(spec.model, full_spec().model);
  QCOMPARE(spec.length.steps.value(), std::int64_t{77});
}

void TestRunSpec::lengthsReplaceEachOther() {
  const RunSpec steps = run_spec_from_json(R"({"steps": 5})");
  QVERIFY(!steps.length.epochs);
  check(steps);
  const RunSpec epochs = run_spec_from_json(R"({"epochs": 2})", steps);
  QVERIFY(!epochs.length.steps);
  check(epochs);
  QVERIFY(!message_of([] { check(run_spec_from_json(R"({"epochs": 2, "steps": 5})")); }).empty());
}

void TestRunSpec::accumulationAndEffectiveBatchReplaceEachOther() {
  const RunSpec effective =
      run_spec_from_json(R"({"effective_batch": 64})", run_spec_from_json(R"({"accumulate": 4})"));
  check(effective);
  QCOMPARE(effective.accumulate, std::int64_t{1});
  const RunSpec accumulated = run_spec_from_json(R"({"accumulate": 4})", effective);
  check(accumulated);
  QVERIFY(!accumulated.effective_batch);
}

void TestRunSpec::fieldsOfLaterVersionsAreKept() {
  Json json = parse_json(to_json(full_spec()));
  json["later"] = {{"a", 1}};
  json["sooner"] = 0.5;
  const std::string text = json_text(json);
  const RunSpec read = stored_spec_from_json(text);
  QVERIFY(parse_json(to_json(read)) == json);
  QCOMPARE(read.model, full_spec().model);
  QVERIFY(stored_spec(text).has_value());
  // Nothing is trained without all of its settings, and what a user writes has no unknown names.
  QVERIFY_EXCEPTION_THROWN(check(read), Error);
  QCOMPARE(check_fields(read).size(), std::size_t{1});
  QVERIFY_EXCEPTION_THROWN(run_spec_from_json(text), Error);
}

void TestRunSpec::fieldsThatEarlierVersionsDidNotHave() {
  const RunSpec read = stored_spec_from_json(R"({"version":1,"model":"cnn","data":"demo","batch":16})");
  RunSpec spec;
  spec.batch = {BatchChoice::Kind::number, 16};
  spec.model = "cnn";
  QCOMPARE(to_json(read), to_json(spec));
}

void TestRunSpec::badJson_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("named");
  const auto row = [](const char* text, const char* named) { QTest::newRow(text) << QString(text) << QString(named); };
  row("", "line 1, column 1");
  row("{", "line 1");
  row("{\n \"lr\": NaN}", "line 2, column 8");
  row("[]", "object");
  row("3", "object");
  row(R"({"precisions": "bf16"})", "precisions");
  row(R"({"version": 2})", "version");
  row(R"({"version": 0})", "version");
  row(R"({"version": "1"})", "version");
  row(R"({"lr": "NaN"})", "lr");
  row(R"({"lr": "0.1"})", "lr");
  row(R"({"lr": 1e999})", "1e999");
  row(R"({"batch": 0})", "batch");
  row(R"({"batch": 1.5})", "batch");
  row(R"({"batch": "many"})", "batch");
  row(R"({"batch": null})", "batch");
  row(R"({"steps": 1e3})", "steps");
  row(R"({"steps": 18446744073709551615})", "steps");
  row(R"({"seed": -1})", "seed");
  row(R"({"drop_last": 1})", "drop_last");
  row(R"({"model": null})", "model");
  row(R"({"memory_budget": -5})", "memory_budget");
  row(R"({"memory_budget": "-5MB"})", "memory_budget");
  row(R"({"on_oom": "grow"})", "on_oom");
}

void TestRunSpec::badJson() {
  QFETCH(QString, text);
  QFETCH(QString, named);
  const std::string message = message_of([&] { run_spec_from_json(text.toStdString()); });
  QVERIFY2(message.find(named.toStdString()) != std::string::npos, message.c_str());
  QVERIFY2(message.find('\n') == std::string::npos && message.find("exception") == std::string::npos, message.c_str());
}

void TestRunSpec::commandLine() {
  QCOMPARE(to_command_line(RunSpec{}), std::string("--model cnn --data demo"));
  RunSpec spec = full_spec();
  spec.name = "it's";
  QCOMPARE(
      to_command_line(spec),
      std::string("--name 'it'\\''s' --model resnet:width=8,norm=batch --data 'csv:a b.csv,target=y' "
                  "--augment flip,crop:24 --init weights.safetensors --save trained.safetensors "
                  "--task fine-tuning --seed 9223372036854775807 --evaluate-every 12.5% --checkpoint-every 500 "
                  "--checkpoint-minutes 2.5 --batch 16 --effective-batch 500 "
                  "--schedule 'formula:min(batch + 1, 64)' --max-batch 64 --drop-last --margin 0.1 --noise-every 5 "
                  "--steps 77 --max-seconds 90.5 --target-score 0.97 "
                  "--optimizer sgd --lr 0.1 --momentum 0.8 --lr-rule sqrt --lr-reference-batch 32 "
                  "--lr-decay cosine --warmup auto --clip 1.5 --weight-decay 0.0001 --dropout 0.1 "
                  "--label-smoothing 0.05 --regularization-rule sqrt --batch-norm-rule inverse --ema 0.999 --device "
                  "cuda:1 --memory-budget 400MB "
                  "--precision fp16 --checkpointing --on-oom fail --grow-back 30"));
}

BATCHSCOPE_TEST(TestRunSpec)
#include "tst_run_spec.moc"
