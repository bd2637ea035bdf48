#include <QTest>

#include <functional>
#include <map>
#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/run/spec_fields.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::run;

using Kind = SpecField::Kind;

class TestSpecFields : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void describesEveryField();
  void saysWhatAFormNeeds();
  void everyFieldRoundTrips_data();
  void everyFieldRoundTrips();
  void emptyMeansTheDefault_data();
  void emptyMeansTheDefault();
  void choicesAreAccepted();
  void lengthsReplaceEachOther();
  void showsWhatAnUnsetFieldWillBe();
  void textsOfTheWrongKindAreRefused_data();
  void textsOfTheWrongKindAreRefused();
  void wrongValuesBelongToTheirField_data();
  void wrongValuesBelongToTheirField();
  void tellsAllThatIsWrongAtOnce();
  void refusesUnknownKeys();
};

namespace {

/// A text that differs from the default, and how it is shown again.
const std::map<std::string, std::string> other_texts = {
    {"name", "a run"},
    {"model", "mlp:hidden=32"},
    {"data", "synthetic:examples=500,shape=20,classes=3"},
    {"shares", "a=0.7,b=0.3"},
    {"clock", "b"},
    {"group_by_length", "true"},
    {"task", "fine-tuning"},
    {"seed", "77"},
    {"batch", "24"},
    {"accumulate", "3"},
    {"effective_batch", "96"},
    {"schedule", "step:interval=5,increment=1"},
    {"max_batch", "512"},
    {"drop_last", "true"},
    {"margin", "0.35"},
    {"epochs", "4"},
    {"examples", "12345"},
    {"steps", "678"},
    {"optimizer", "sgd"},
    {"lr", "0.0025"},
    {"momentum", "0.8"},
    {"lr_rule", "sqrt"},
    {"lr_reference_batch", "32"},
    {"lr_decay", "cosine"},
    {"warmup", "auto"},
    {"clip", "1.5"},
    {"weight_decay", "1e-05"},
    {"dropout", "0.25"},
    {"label_smoothing", "0.1"},
    {"regularization_rule", "sqrt"},
    {"batch_norm_rule", "inverse"},
    {"ema", "0.99"},
    {"precision", "bf16"},
    {"checkpointing", "true"},
    {"device", "cuda:1"},
    {"memory_budget", "400MB"},
    {"on_oom", "fail"},
    {"max_seconds", "90.5"},
    {"target_score", "0.97"},
    {"evaluate_every", "12.5%"},
    {"grow_back", "40"},
    {"augment", "flip,shift:2"},
    {"init", "folder/weights of mine.safetensors"},
    {"save", "trained.safetensors"},
    {"noise_every", "5"},
    {"checkpoint_every", "500"},
    {"checkpoint_minutes", "2.5"},
};

const SpecField& field_named(const std::string& key) {
  for (const SpecField& field : spec_fields())
    if (field.key == key)
      return field;
  throw std::runtime_error(key);
}

std::optional<Error> error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

} // namespace

/// Exactly the fields of the JSON, with the command line's names.
void TestSpecFields::describesEveryField() {
  std::set<std::string> keys;
  const Json json = Json::parse(to_json(RunSpec{}));
  for (const auto& [name, value] : json.items())
    if (name != "version")
      keys.insert(name);
  std::set<std::string> described;
  for (const SpecField& field : spec_fields()) {
    QVERIFY2(described.insert(field.key).second, field.key.c_str());
    std::string option = "--" + field.key;
    std::replace(option.begin(), option.end(), '_', '-');
    QCOMPARE(field.option, option);
  }
  QVERIFY(described == keys);
}

void TestSpecFields::saysWhatAFormNeeds() {
  std::vector<std::string> groups;
  for (const SpecField& field : spec_fields()) {
    const char* key = field.key.c_str();
    QVERIFY2(!field.label.empty() && field.label.size() < 36, key);
    QVERIFY2(field.help.size() > 10 && field.help.back() != '.', key);
    QVERIFY2(field.placeholder.empty() == (field.kind == Kind::flag), key);
    QVERIFY2((field.kind != Kind::choice) || field.choices.size() > 1, key);
    QVERIFY2((field.kind != Kind::integer && field.kind != Kind::real && field.kind != Kind::bytes) ||
                 !field.range.empty(),
             key);
    if (groups.empty() || groups.back() != field.group)
      groups.push_back(field.group);
  }
  QVERIFY(groups == spec_groups()); // one after the other
}

void TestSpecFields::everyFieldRoundTrips_data() {
  QTest::addColumn<QString>("key");
  for (const SpecField& field : spec_fields())
    QTest::newRow(field.key.c_str()) << QString::fromStdString(field.key);
}

void TestSpecFields::everyFieldRoundTrips() {
  QFETCH(QString, key);
  const std::string name = key.toStdString();
  const std::string text = other_texts.at(name);
  RunSpec spec;
  QVERIFY(field_text(spec, name) != text);
  set_field(spec, name, "  " + text + " ");
  QCOMPARE(field_text(spec, name), text);
  QCOMPARE(field_shown(spec, name), text);
  // No other field has moved, but for the lengths, which replace each other.
  for (const SpecField& other : spec_fields())
    if (other.key != name && other.group != "Length")
      QCOMPARE(field_text(spec, other.key), field_text(RunSpec{}, other.key));
  // JSON knows it as the same.
  QCOMPARE(field_text(run_spec_from_json(to_json(spec)), name), text);
  const Json json = Json::parse(to_json(spec));
  if (json[name].is_string())
    QCOMPARE(json[name].get<std::string>(), text);
  else if (json[name].is_boolean())
    QVERIFY(json[name].get<bool>());
  else if (name == "memory_budget")
    QCOMPARE(json[name].get<int>(), 400'000'000);
  else
    QCOMPARE(json[name].get<double>(), std::stod(text));
}

void TestSpecFields::emptyMeansTheDefault_data() {
  everyFieldRoundTrips_data();
}

void TestSpecFields::emptyMeansTheDefault() {
  QFETCH(QString, key);
  const std::string name = key.toStdString();
  RunSpec spec;
  set_field(spec, name, other_texts.at(name));
  set_field(spec, name, "  ");
  QCOMPARE(to_json(spec), to_json(RunSpec{}));
}

/// What is offered is accepted, each by itself.
void TestSpecFields::choicesAreAccepted() {
  for (const SpecField& field : spec_fields()) {
    for (const std::string& choice : field.choices) {
      RunSpec spec;
      if (choice == "fp16" || choice == "tf32")
        spec.device = "cuda:0"; // not accepted on cpu
      set_field(spec, field.key, choice);
      for (const auto& [key, message] : check_fields(spec))
        QFAIL(message.c_str());
    }
  }
}

void TestSpecFields::lengthsReplaceEachOther() {
  RunSpec spec;
  set_field(spec, "steps", "50");
  QCOMPARE(field_text(spec, "epochs"), std::string());
  QVERIFY(check_fields(spec).empty());
  set_field(spec, "epochs", ""); // it was not set: nothing happens
  QCOMPARE(field_text(spec, "steps"), std::string("50"));
  set_field(spec, "examples", "700");
  QCOMPARE(field_text(spec, "steps"), std::string());
  set_field(spec, "examples", "");
  QCOMPARE(field_text(spec, "epochs"), std::string("1"));
  QVERIFY(check_fields(spec).empty());
}

void TestSpecFields::showsWhatAnUnsetFieldWillBe() {
  RunSpec spec;
  QCOMPARE(field_shown(spec, "lr"), std::string("0.001"));
  QCOMPARE(field_shown(spec, "weight_decay"), std::string("0.01"));
  QCOMPARE(field_shown(spec, "memory_budget"), std::string("80 % of the free memory"));
  QCOMPARE(field_shown(spec, "lr_reference_batch"), std::string("the first effective batch"));
  set_field(spec, "optimizer", "sgd");
  set_field(spec, "batch", "16");
  set_field(spec, "accumulate", "4");
  QCOMPARE(field_shown(spec, "lr"), std::string("0.1"));
  QCOMPARE(field_shown(spec, "momentum"), std::string("0.9"));
  QCOMPARE(field_shown(spec, "weight_decay"), std::string("0"));
  QCOMPARE(field_shown(spec, "lr_reference_batch"), std::string("64"));
  spec.memory_budget = 64 << 20;
  QCOMPARE(field_text(spec, "memory_budget"), std::string("64MiB"));
  spec.memory_budget = 123'456'789;
  QCOMPARE(field_text(spec, "memory_budget"), std::string("123456789"));
  spec.accumulate = INT64_MAX;
  QCOMPARE(field_shown(spec, "lr_reference_batch"), std::string("the first effective batch"));
}

void TestSpecFields::textsOfTheWrongKindAreRefused_data() {
  QTest::addColumn<QString>("key");
  QTest::addColumn<QString>("text");
  for (const SpecField& field : spec_fields()) {
    QStringList wrong;
    if (field.kind == Kind::integer)
      wrong = {"x", "1.5", "-1", "1e3", "99999999999999999999"};
    else if (field.kind == Kind::real)
      wrong = {"x", "nan", "inf", "0,1"};
    else if (field.kind == Kind::bytes)
      wrong = {"x", "-1MB", "0", "10 apples"};
    else if (field.kind == Kind::flag)
      wrong = {"x", "1"};
    else if (field.key == "batch")
      wrong = {"0", "-3", "auto:best"};
    else if (field.key == "on_oom")
      wrong = {"grow"};
    for (const QString& text : wrong)
      QTest::addRow("%s %s", field.key.c_str(), qPrintable(text)) << QString::fromStdString(field.key) << text;
  }
}

void TestSpecFields::textsOfTheWrongKindAreRefused() {
  QFETCH(QString, key);
  QFETCH(QString, text);
  const std::string name = key.toStdString();
  RunSpec refused;
  const auto error = error_of([&] { set_field(refused, name, text.toStdString()); });
  QVERIFY(error);
  const std::string message = error->what();
  QVERIFY2(message.starts_with(field_named(name).option + ": "), message.c_str());
  QVERIFY2(message.find("accepted: ") != std::string::npos, message.c_str());
  QCOMPARE(std::string(error->field()), name);
  // Nothing was changed.
  RunSpec spec;
  set_field(spec, name, other_texts.at(name));
  const std::string before = to_json(spec);
  QVERIFY_EXCEPTION_THROWN(set_field(spec, name, text.toStdString()), Error);
  QCOMPARE(to_json(spec), before);
}

void TestSpecFields::wrongValuesBelongToTheirField_data() {
  QTest::addColumn<QString>("key");
  QTest::addColumn<QString>("json");
  const auto row = [](const char* key, const char* json) {
    QTest::addRow("%s: %s", key, json) << QString(key) << QString(json);
  };
  row("model", R"({"model":"nope"})");
  row("model", R"({"model":"cnn:depth=3"})");
  row("model", R"({"model":""})");
  row("data", R"({"data":""})");
  row("data", R"({"data":"nope"})");
  row("data", R"({"data":"csv:file.csv,validation=2"})");
  row("data", R"({"data":"a=demo","shares":"a=1","clock":"a","group_by_length":true})");
  row("shares", R"({"shares":"a=1"})");
  row("shares", R"({"data":"a=demo,b=demo","shares":"a=0.7,b=0.4"})");
  row("shares", R"({"data":"a=demo,b=demo","shares":"a=1,b=0","clock":"b"})");
  row("clock", R"({"data":"a=demo,b=demo","clock":"c"})");
  row("group_by_length", R"({"group_by_length":true})");
  row("task", R"({"task":"finetuning"})");
  row("accumulate", R"({"accumulate":0})");
  row("effective_batch", R"({"effective_batch":0})");
  row("effective_batch", R"({"effective_batch":64,"accumulate":2})");
  row("schedule", R"({"schedule":"nope"})");
  row("schedule", R"({"schedule":"step:interval=0"})");
  row("schedule", R"({"schedule":"formula:1 +"})");
  row("schedule", R"({"batch":4,"schedule":"piecewise:0=5,3=6"})");
  row("max_batch", R"({"max_batch":0})");
  row("max_batch", R"({"batch":64,"max_batch":32})");
  row("margin", R"({"margin":1})");
  row("epochs", R"({"epochs":0})");
  row("epochs", R"({"epochs":1,"steps":5})");
  row("examples", R"({"examples":-5})");
  row("steps", R"({"steps":0})");
  row("optimizer", R"({"optimizer":"lion"})");
  row("lr", R"({"lr":0})");
  row("momentum", R"({"momentum":0.9})");
  row("momentum", R"({"momentum":1,"optimizer":"sgd"})");
  row("lr_rule", R"({"lr_rule":"cubic"})");
  row("lr_reference_batch", R"({"lr_reference_batch":0})");
  row("lr_decay", R"({"lr_decay":"sine"})");
  row("warmup", R"({"warmup":"soon"})");
  row("clip", R"({"clip":0})");
  row("weight_decay", R"({"weight_decay":-1})");
  row("dropout", R"({"dropout":1})");
  row("label_smoothing", R"({"label_smoothing":-0.1})");
  row("regularization_rule", R"({"regularization_rule":"linear"})");
  row("device", R"({"device":"tpu:0"})");
  row("device", R"({"device":"cuda:64"})");
  row("memory_budget", R"({"memory_budget":999999})");
}

void TestSpecFields::wrongValuesBelongToTheirField() {
  QFETCH(QString, key);
  QFETCH(QString, json);
  const RunSpec spec = run_spec_from_json(json.toStdString());
  const auto wrong = check_fields(spec);
  QCOMPARE(wrong.size(), std::size_t{1});
  QCOMPARE(QString::fromStdString(wrong.front().first), key);
  QVERIFY(wrong.front().second.find("accepted") != std::string::npos ||
          wrong.front().second.find("below") != std::string::npos ||
          wrong.front().second.find("schedule") != std::string::npos);
  const auto error = error_of([&] { check(spec); });
  QVERIFY2(error, "check() accepts it");
  QCOMPARE(std::string(error->what()), wrong.front().second);
  QCOMPARE(QString(error->field()), key);
}

void TestSpecFields::tellsAllThatIsWrongAtOnce() {
  RunSpec spec;
  spec.model = "nope";
  spec.dropout = 2;
  spec.device = "tpu";
  spec.seed = UINT64_MAX;
  spec.batch = {BatchChoice::Kind::number, 0};
  const auto wrong = check_fields(spec);
  std::vector<std::string> keys;
  for (const auto& [key, message] : wrong)
    keys.push_back(key);
  QVERIFY((keys == std::vector<std::string>{"model", "seed", "batch", "dropout", "device"}));
}

void TestSpecFields::refusesUnknownKeys() {
  RunSpec spec;
  QVERIFY_EXCEPTION_THROWN(field_text(spec, "version"), Error);
  QVERIFY_EXCEPTION_THROWN(field_shown(spec, "learning_rate"), Error);
  QVERIFY_EXCEPTION_THROWN(set_field(spec, "", "1"), Error);
}

BATCHSCOPE_TEST(TestSpecFields)
#include "tst_spec_fields.moc"
