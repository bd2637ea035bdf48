#include "core/advice/lint.h"

#include <algorithm>

#include <QTest>

#include "core/run/spec_fields.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::advice;

/// Each rule at its limit: it is silent on one side of it and speaks on the other.
class TestLint : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void soundRun();
  void rateNotScaled();
  void rateThatIsSearched();
  void growingBatchAtConstantRate();
  void noWarmup();
  void manyMicroBatches();
  void accumulationThatIsNotNeeded();
  void severalRanks();
  void averagedWeights();
  void batchNorm();
  void dataTooFew();
  void fineTuning();
  void largestNotValidated();
  void lessAccurate();
  void growingInShortTraining();
  void mendsAreValid();
};

namespace {

/// A run that follows all advice: 8000 examples, batch 64, half of the memory.
RunFacts sound(std::int64_t batch = 64, const std::vector<std::pair<std::string, std::string>>& fields = {}) {
  run::RunSpec spec;
  run::set_field(spec, "batch", std::to_string(batch));
  for (const auto& [key, value] : fields)
    run::set_field(spec, key, value);
  RunFacts facts;
  facts.own = spec;
  facts.settings = parse_json(run::to_json(spec));
  facts.rest = rest_of(facts.settings);
  static std::int64_t runs = 0;
  facts.row.id = ++runs;
  facts.row.outcome.status = telemetry::RunStatus::finished;
  facts.row.outcome.validation_accuracy = 0.9;
  facts.row.outcome.peak_bytes = 50'000'000;
  facts.start.budget_bytes = 100'000'000;
  facts.batch = facts.micro_batch = batch;
  facts.accumulate = spec.accumulate;
  facts.effective_batch = facts.last_effective = spec.effective_batch.value_or(batch * spec.accumulate);
  facts.reference_batch = spec.lr_reference_batch.value_or(*facts.effective_batch);
  facts.learning_rate = facts.first_rate = run::learning_rate_or_default(spec);
  facts.warmup_steps = 0;
  facts.train_examples = 8000;
  facts.epochs = 1;
  facts.optimizer = spec.optimizer;
  facts.fine_tuning = spec.task == "fine-tuning";
  return facts;
}

std::optional<Finding> find(const std::string& rule, const RunFacts& run, const std::vector<RunFacts>& siblings = {}) {
  for (const Finding& finding : judge(run, siblings))
    if (finding.rule == rule)
      return finding;
  return std::nullopt;
}

} // namespace

void TestLint::soundRun() {
  QVERIFY(judge(sound(), {}).empty());
  QVERIFY(judge(RunFacts{}, {}).empty()); // nothing is known of it
}

void TestLint::rateNotScaled() {
  const auto finding = find("rate-not-scaled", sound(128), {sound(64)});
  QVERIFY(finding.has_value());
  QCOMPARE(finding->value, 2.0);
  QCOMPARE(finding->mend, std::string("--lr-rule sqrt --lr-reference-batch 64"));
  QVERIFY(!find("rate-not-scaled", sound(64), {sound(128)}));                     // the smallest is the reference
  QVERIFY(!find("rate-not-scaled", sound(127), {sound(64)}));                     // too small a change
  QVERIFY(!find("rate-not-scaled", sound(128, {{"model", "mlp"}}), {sound(64)})); // another model
  RunFacts scaled = sound(128);
  scaled.first_rate = 0.002;
  QVERIFY(!find("rate-not-scaled", scaled, {sound(64)}));
}

void TestLint::rateThatIsSearched() {
  RunFacts other = sound(128, {{"lr", "0.003"}});
  QVERIFY(!find("rate-not-scaled", sound(128), {sound(64), other}));
}

void TestLint::growingBatchAtConstantRate() {
  RunFacts run = sound(64, {{"schedule", "linear:max=256"}});
  run.last_effective = 256;
  const auto finding = find("rate-not-scaled", run);
  QVERIFY(finding && finding->severity == Severity::information);
  QCOMPARE(finding->value, 4.0);
  RunFacts following = sound(64, {{"schedule", "linear:max=256"}, {"lr_rule", "linear"}});
  following.last_effective = 256;
  QVERIFY(!find("rate-not-scaled", following));
}

void TestLint::noWarmup() {
  const auto run = [](std::int64_t batch, std::int64_t warmup) {
    RunFacts facts = sound(batch, {{"lr_rule", "linear"}, {"lr_reference_batch", "16"}});
    facts.warmup_steps = warmup;
    return facts;
  };
  QVERIFY(!find("no-warmup", run(127, 0)));
  QVERIFY(find("no-warmup", run(128, 0))->severity == Severity::warning);
  QVERIFY(find("no-warmup", run(256, 0))->severity == Severity::critical);
  QCOMPARE(find("no-warmup", run(256, 0))->value, 16.0);
  QVERIFY(!find("no-warmup", run(256, 1)));
  RunFacts by_hand = sound(512, {{"lr", "0.008"}}); // against the sweep's smallest
  QVERIFY(find("no-warmup", by_hand, {sound(64)}).has_value());
}

void TestLint::manyMicroBatches() {
  RunFacts run = sound(4, {{"accumulate", "16"}});
  QVERIFY(!find("accumulation-above-16", run));
  run = sound(4, {{"accumulate", "17"}});
  run.row.outcome.peak_bytes = 40'000'000; // 5 at a time are 50 MB at most
  const auto finding = find("accumulation-above-16", run);
  QVERIFY(finding && finding->severity == Severity::warning);
  QCOMPARE(finding->value, 17.0);
  run.row.outcome.peak_bytes = 70'000'000;
  QVERIFY(find("accumulation-above-16", run)->severity == Severity::information);
}

void TestLint::accumulationThatIsNotNeeded() {
  RunFacts run = sound(16, {{"accumulate", "4"}});
  run.row.outcome.peak_bytes = 20'000'000; // 4 times that are all that the margin leaves
  QVERIFY(find("accumulation-not-needed", run).has_value());
  run.row.outcome.peak_bytes = 20'100'000;
  QVERIFY(!find("accumulation-not-needed", run));
  run.row.outcome.peak_bytes = 20'000'000;
  run.start.budget_bytes = 0; // not known
  QVERIFY(!find("accumulation-not-needed", run));
}

/// Each of them takes its part of a step; what is advised for a batch is for one of them.
void TestLint::severalRanks() {
  const auto on_ranks = [](RunFacts run, std::int64_t ranks) {
    run.ranks = ranks;
    run.effective_batch = run.last_effective = *run.effective_batch * ranks;
    return run;
  };
  RunFacts run = on_ranks(sound(64), 4);
  run.row.outcome.peak_bytes = 1'000'000;
  QVERIFY(!find("accumulation-not-needed", run)); // there is none
  run = on_ranks(sound(16, {{"accumulate", "4"}}), 2);
  run.row.outcome.peak_bytes = 20'000'000;
  const auto finding = find("accumulation-not-needed", run);
  QVERIFY(finding.has_value());
  QCOMPARE(finding->mend, std::string("--batch 64 --accumulate 1"));
  QVERIFY(!find("accumulation-above-16", on_ranks(sound(4, {{"accumulate", "16"}}), 2)));
  QCOMPARE(find("accumulation-above-16", on_ranks(sound(4, {{"accumulate", "17"}}), 2))->value, 17.0);
  QVERIFY(!find("batch-too-large-for-data", on_ranks(sound(210), 2)));
  QCOMPARE(find("batch-too-large-for-data", on_ranks(sound(211), 2))->mend, std::string("--batch 200 --accumulate 1"));
}

void TestLint::averagedWeights() {
  RunFacts run = sound();
  run.ema_updates_per_step = 1;
  QVERIFY(!find("ema-per-micro-batch", run));
  run.ema_updates_per_step = 4;
  QCOMPARE(find("ema-per-micro-batch", run)->value, 4.0);
}

void TestLint::batchNorm() {
  RunFacts run = sound(16, {{"model", "cnn:width=8,norm=batch"}});
  run.batch_norm = true;
  QVERIFY(!find("batch-norm-small-micro-batch", run));
  run.micro_batch = 15; // memory split it
  const auto finding = find("batch-norm-small-micro-batch", run);
  QVERIFY(finding.has_value());
  QCOMPARE(finding->changes.front().second, std::string("cnn:width=8,norm=group"));
  run.batch_norm = false;
  QVERIFY(!find("batch-norm-small-micro-batch", run));
}

void TestLint::dataTooFew() {
  QVERIFY(!find("batch-too-large-for-data", sound(421))); // 8000 / 421 = 19.002: 20 steps
  const auto finding = find("batch-too-large-for-data", sound(422));
  QVERIFY(finding.has_value());
  QCOMPARE(finding->value, 19.0);
  QCOMPARE(finding->mend, std::string("--batch 400 --accumulate 1"));
}

void TestLint::fineTuning() {
  const auto run = [](std::int64_t batch, const char* rate, const char* optimizer) {
    return sound(batch, {{"task", "fine-tuning"}, {"lr", rate}, {"optimizer", optimizer}});
  };
  QVERIFY(judge(run(32, "1e-5", "adamw"), {}).empty());
  QVERIFY(judge(run(256, "0.0001", "adamw"), {}).empty());
  QCOMPARE(find("fine-tuning-batch", run(257, "1e-5", "adamw"))->value, 257.0);
  QCOMPARE(find("fine-tuning-rate", run(32, "0.00011", "adamw"))->value, 0.00011);
  QVERIFY(!find("fine-tuning-rate", run(32, "0.01", "sgd")));
  QVERIFY(find("fine-tuning-rate", run(32, "0.02", "sgd")).has_value());
  QVERIFY(!find("fine-tuning-rate", sound(32, {{"lr", "0.01"}}))); // from scratch
}

void TestLint::largestNotValidated() {
  RunFacts run = sound(64, {{"batch", "auto:largest"}});
  QVERIFY(!find("largest-not-validated", run));
  run.row.outcome.validation_accuracy.reset();
  QCOMPARE(find("largest-not-validated", run)->value, 64.0);
  run.row.outcome.status = telemetry::RunStatus::running; // it may still be validated
  QVERIFY(!find("largest-not-validated", run));
  RunFacts found = sound(64);
  found.row.outcome.validation_accuracy.reset();
  found.largest_batch = 65;
  QVERIFY(!find("largest-not-validated", found));
  found.largest_batch = 64;
  QVERIFY(find("largest-not-validated", found).has_value());
}

void TestLint::lessAccurate() {
  const auto run = [](std::int64_t batch, double accuracy, const char* seed) {
    RunFacts facts = sound(batch, {{"seed", seed}});
    facts.row.outcome.validation_accuracy = accuracy;
    facts.first_rate = 0.001 * static_cast<double>(batch); // scaled
    return facts;
  };
  // Means: 0.95 at 64, 0.925 at 256.
  const std::vector<RunFacts> siblings{run(64, 0.96, "1"), run(64, 0.94, "2"), run(256, 0.93, "2")};
  const auto finding = find("accuracy-below-smaller-batch", run(256, 0.92, "1"), siblings);
  QVERIFY(finding.has_value());
  QVERIFY(std::abs(finding->value - 0.025) < 1e-9);
  QVERIFY(!find("accuracy-below-smaller-batch", run(256, 0.932, "1"), siblings)); // 1.9 points
  QVERIFY(!find("accuracy-below-smaller-batch", run(32, 0.5, "1"), siblings));    // no smaller one
}

void TestLint::growingInShortTraining() {
  RunFacts run = sound(64, {{"schedule", "linear:max=80"}, {"lr_rule", "linear"}});
  run.last_effective = 80;
  run.epochs = 19;
  QCOMPARE(find("growing-short-training", run)->value, 19.0);
  run.epochs = 20;
  QVERIFY(!find("growing-short-training", run));
}

/// The changes of each finding are accepted as fields of a run, and make a valid one.
void TestLint::mendsAreValid() {
  RunFacts wrong = sound(1, {{"task", "fine-tuning"},
                             {"lr_rule", "linear"},
                             {"lr_reference_batch", "1"},
                             {"model", "cnn:width=8,norm=batch"},
                             {"accumulate", "1024"}});
  wrong.batch_norm = true;
  wrong.last_effective = 8192;
  wrong.own->batch.kind = run::BatchChoice::Kind::largest;
  wrong.row.outcome.validation_accuracy.reset();
  const std::vector<Finding> findings = judge(wrong, {});
  QVERIFY(findings.size() >= 7);
  QVERIFY(std::is_sorted(findings.begin(), findings.end(),
                         [](const Finding& a, const Finding& b) { return a.severity > b.severity; }));
  for (const Finding& finding : findings) {
    run::RunSpec spec = *wrong.own;
    for (const auto& [key, value] : finding.changes)
      run::set_field(spec, key, value);
    run::check(spec);
    QVERIFY2(!finding.mend.empty() && !finding.source.empty() && !finding.message.empty(), finding.rule.c_str());
  }
}

BATCHSCOPE_TEST(TestLint)
#include "tst_lint.moc"
