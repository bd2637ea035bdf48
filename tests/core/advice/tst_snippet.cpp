#include "core/advice/snippet.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTest>

#include "core/base/error.h"
#include "test_python.h"

using namespace batchscope;
using namespace batchscope::advice;

/// Snippets are Python, and make what the settings say.
class TestSnippet : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void parse();
  void construct();
  void settings();
  void unequalMicroBatches();
  void scaledRate();
  void foreignRun();
  void settingsThatAProgramTold();
  void unknownKind();
};

namespace {

Settings plain() {
  Settings settings;
  settings.heading = "Run 1 (\"quoted\"\nname with a line) of BatchScope";
  settings.micro_batch = 8;
  settings.accumulate = 4;
  settings.learning_rate = 0.002;
  settings.weight_decay = 0.01;
  settings.steps = 3;
  return settings;
}

std::vector<Settings> all_settings() {
  std::vector<Settings> all{plain()};
  for (const char* decay : {"cosine", "linear", "step"}) {
    Settings settings = plain();
    settings.decay = decay;
    settings.warmup_steps = 2;
    settings.optimizer = "sgd";
    settings.momentum = 0.9;
    settings.weight_decay = 1e-5;
    settings.label_smoothing = 0.1;
    settings.clip = 1.0;
    settings.steps = 7;
    settings.epochs = 4; // of 64 examples, 2 steps each, but for the last
    settings.drop_last = true;
    settings.checkpointing = true;
    all.push_back(settings);
  }
  Settings adam = plain();
  adam.optimizer = "adam";
  adam.precision = "bf16";
  adam.remarks = {"A remark\nwith a line break"};
  all.push_back(adam);
  Settings products = plain();
  products.precision = "tf32";
  all.push_back(products);
  Settings numbers = plain();
  numbers.optimizer = "rmsprop";
  numbers.predicts_numbers = true;
  all.push_back(numbers);
  return all;
}

QByteArray all_snippets() {
  QJsonArray array;
  for (const Settings& settings : all_settings())
    for (const auto& snippet : snippets()) {
      const auto number = [](std::int64_t value) { return QJsonValue(static_cast<double>(value)); };
      QJsonObject expected{{"micro_batch", number(settings.micro_batch)},
                           {"accumulate", number(settings.accumulate)},
                           {"learning_rate", settings.learning_rate},
                           {"weight_decay", settings.weight_decay},
                           {"warmup_steps", number(settings.warmup_steps)},
                           {"steps", number(settings.steps)},
                           {"optimizer", QString::fromStdString(settings.optimizer)},
                           {"predicts_numbers", settings.predicts_numbers}};
      expected["epochs"] = settings.epochs ? number(*settings.epochs) : QJsonValue();
      array.append(QJsonObject{{"for", QString::fromStdString(snippet->name())},
                               {"text", QString::fromStdString(snippet->text(settings))},
                               {"settings", expected}});
    }
  return QJsonDocument(array).toJson();
}

/// What the Python program prints; empty where it fails, which is then reported.
QByteArray run_python(const QString& python, const QStringList& arguments) {
  QProcess process;
  process.setProcessChannelMode(QProcess::MergedChannels);
  process.start(python, QStringList{BATCHSCOPE_SOURCE_DIR "/tests/core/advice/run_snippets.py"} + arguments);
  process.write(all_snippets());
  process.closeWriteChannel();
  const bool ended = process.waitForFinished(300'000) && process.exitStatus() == QProcess::NormalExit;
  const QByteArray output = process.readAll();
  if (ended && process.exitCode() == 0)
    return output;
  qWarning("%s", output.constData());
  return {};
}

/// A run of this program with these settings that has ended.
RunFacts facts_of(const run::RunSpec& spec) {
  RunFacts facts;
  facts.row.id = 7;
  facts.own = spec;
  facts.settings = parse_json(run::to_json(spec));
  facts.batch = spec.batch.number;
  facts.accumulate = spec.accumulate;
  facts.effective_batch = spec.effective_batch.value_or(spec.batch.number * spec.accumulate);
  facts.reference_batch = spec.lr_reference_batch.value_or(*facts.effective_batch);
  facts.micro_batch = facts.batch;
  facts.first_rate = run::learning_rate_or_default(spec);
  facts.train_examples = 8000;
  return facts;
}

run::RunSpec spec_of(std::int64_t batch) {
  run::RunSpec spec;
  spec.batch = {.kind = run::BatchChoice::Kind::number, .number = batch};
  return spec;
}

} // namespace

void TestSnippet::parse() {
  const QByteArray output = run_python("python3", {});
  QCOMPARE(output.count("parsed"), static_cast<qsizetype>(all_settings().size() * snippets().size()));
}

void TestSnippet::construct() {
  BATCHSCOPE_NEEDS_PYTHON();
  const QByteArray output = run_python(test::test_python(), {"construct"});
  for (const auto& snippet : snippets()) {
    const QByteArray line = "constructed " + QByteArray::fromStdString(snippet->name());
    if (snippet->name() != "unsloth" || output.contains(line)) // trl, which it is for, is not among the tests' packages
      QCOMPARE(output.count(line), static_cast<qsizetype>(all_settings().size()));
  }
}

void TestSnippet::settings() {
  run::RunSpec spec = spec_of(32);
  spec.accumulate = 4;
  spec.optimizer = "sgd";
  spec.lr_decay = "cosine";
  spec.length = {.epochs = 3, .examples = std::nullopt, .steps = std::nullopt};
  const Settings settings = settings_of(facts_of(spec));
  QCOMPARE(settings.micro_batch, 32);
  QCOMPARE(settings.accumulate, 4);
  QCOMPARE(settings.learning_rate, 0.1);
  QCOMPARE(settings.momentum, 0.9);
  QCOMPARE(settings.steps, 3 * 63); // 8000 / 128, rounded up
  QCOMPARE(settings.decay, std::string("cosine"));
}

/// Memory allowed 32 at a time; another program cannot run 31 and 32 in turn.
void TestSnippet::unequalMicroBatches() {
  run::RunSpec spec = spec_of(500);
  RunFacts facts = facts_of(spec);
  facts.micro_batch = 32;
  const Settings settings = settings_of(facts);
  QCOMPARE(settings.accumulate, 16);
  QCOMPARE(settings.micro_batch, 32);
  QCOMPARE(settings.remarks.size(), std::size_t{1});
  QVERIFY(settings.remarks[0].find("512") != std::string::npos);
}

void TestSnippet::scaledRate() {
  run::RunSpec spec = spec_of(64);
  spec.regularization_rule = "sqrt";
  spec.lr_reference_batch = 16;
  RunFacts facts = facts_of(spec);
  facts.first_rate = 0.004;
  const Settings settings = settings_of(facts);
  QCOMPARE(settings.learning_rate, 0.004);
  QCOMPARE(settings.weight_decay, 0.02);
}

void TestSnippet::foreignRun() {
  RunFacts facts;
  facts.row.id = 3;
  QVERIFY_EXCEPTION_THROWN(settings_of(facts), Error);
  facts.batch = facts.effective_batch = 16;
  QVERIFY_EXCEPTION_THROWN(settings_of(facts), Error);
  facts.first_rate = 1e-5;
  facts.row.outcome.steps = 40;
  QVERIFY(settings_of(facts).remarks.empty());
  facts.rate_of_steps = true;
  QVERIFY(settings_of(facts).remarks.at(0).starts_with("The learning rate is the highest one"));
  QCOMPARE(settings_of(facts).micro_batch, 16);
  QCOMPARE(settings_of(facts).steps, 40);
}

void TestSnippet::settingsThatAProgramTold() {
  RunFacts facts;
  facts.batch = facts.effective_batch = 16;
  facts.first_rate = 5e-5;
  facts.row.outcome.steps = 40;
  facts.optimizer = "adamw";
  facts.declared = parse_json(R"({"learning_rate":5e-05,"lr_scheduler_type":"cosine","warmup_ratio":0.1,"seed":7,)"
                              R"("optimizer":"adamw_torch_fused","weight_decay":0.01,"max_grad_norm":1.0})");
  const Settings settings = settings_of(facts);
  QVERIFY(settings.remarks.empty());
  QCOMPARE(settings.decay, std::string("cosine"));
  QCOMPARE(settings.warmup_steps, 4);
  QCOMPARE(settings.weight_decay, 0.01);
  QCOMPARE(settings.clip, std::optional(1.0));
  QCOMPARE(settings.seed, 7);
  facts.optimizer = "adafactor";
  facts.declared["lr_scheduler_type"] = "OneCycleLR";
  QCOMPARE(settings_of(facts).remarks,
           (std::vector<std::string>{"The run's optimizer is adafactor; here it is AdamW.",
                                     "The learning rate follows OneCycleLR of the run's program; here it is constant "
                                     "after the warm-up."}));
}

void TestSnippet::unknownKind() {
  QVERIFY_EXCEPTION_THROWN(make_snippet("keras"), Error);
}

BATCHSCOPE_TEST(TestSnippet)
#include "tst_snippet.moc"
