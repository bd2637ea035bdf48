#include "core/advice/run_facts.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"

#include <QTest>

#include "core/advice/lint.h"
#include "core/advice/snippet.h"
#include "core/base/error.h"
#include "core/run/spec_fields.h"
#include "test_program.h"
#include "tests/core/store/store_test.h"

using namespace batchscope;
using namespace batchscope::advice;

namespace {

/// A step as a program reports it.
telemetry::StepRecord step_of(std::int64_t step, std::int64_t batch, double rate) {
  telemetry::StepRecord record;
  record.step = step;
  record.examples_seen = step * batch;
  record.batch = record.micro_batch = record.effective_batch = batch;
  record.learning_rate = rate;
  record.seconds = static_cast<double>(step);
  return record;
}

/// A database with runs of programs.
class Programs {
public:
  RunFacts add(const run::RunSpec& spec, const run::RunStart& start, const std::vector<telemetry::StepRecord>& steps) {
    store::NewRun run;
    run.spec_json = run::to_json(spec);
    run.start_json = run::to_json(start);
    auto sink = store_.begin(run);
    for (const telemetry::StepRecord& step : steps)
      sink->sink().record(step);
    telemetry::RunOutcome outcome;
    outcome.status = telemetry::RunStatus::finished;
    sink->finish(outcome);
    last_ = sink->id();
    return read_facts(store::RunReader(folder_.file()), last_);
  }
  std::optional<double> listed_rate() const {
    return store::RunReader(folder_.file()).run(last_).settings.learning_rate;
  }

private:
  store::test::Folder folder_;
  store::RunStore store_{folder_.file()};
  std::int64_t last_ = 0;
};

run::RunSpec program_spec(const std::vector<std::pair<std::string, std::string>>& fields = {}) {
  run::RunSpec spec;
  spec.program = run::ProgramSpec{.command = {"train"}, .attach = true};
  for (const auto& [key, value] : fields)
    run::set_field(spec, key, value);
  return spec;
}

run::RunStart declared(const std::string& settings, std::int64_t batch, std::int64_t ranks = 1,
                       std::int64_t accumulate = 1) {
  run::RunStart start;
  start.batch = batch;
  start.accumulate = accumulate;
  start.program = run::ProgramStart{.level = 2, .ranks = ranks, .settings = settings};
  return start;
}

} // namespace

/// What stored runs of programs were trained with.
class TestRunFacts : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void theRateThatWasTrainedWithGoesBeforeTheOneThatWasSaid_data() {
    QTest::addColumn<QString>("settings");
    QTest::addColumn<QList<double>>("rates");
    QTest::addColumn<double>("highest");
    QTest::newRow("warm-up by hand") << R"({"learning_rate": 0})" << QList<double>{0, 0.0005, 0.001, 0.001} << 0.001;
    QTest::newRow("one cycle") << R"({"learning_rate": 0.004})" << QList<double>{0.004, 0.1, 0.01} << 0.1;
    QTest::newRow("scaled") << R"({"learning_rate": 0.1})" << QList<double>{0.8, 0.8} << 0.8;
    QTest::newRow("scaled down") << R"({"learning_rate": 0.1})" << QList<double>{0.05, 0.05} << 0.05;
    QTest::newRow("not said") << "{}" << QList<double>{0.2, 0.1} << 0.2;
    QTest::newRow("not reported") << R"({"learning_rate": 0.1})"
                                  << QList<double>{store::test::not_a_number, store::test::not_a_number} << 0.1;
  }
  void theRateThatWasTrainedWithGoesBeforeTheOneThatWasSaid() {
    QFETCH(QString, settings);
    QFETCH(QList<double>, rates);
    QFETCH(double, highest);
    std::vector<telemetry::StepRecord> steps;
    for (const double rate : rates)
      steps.push_back(step_of(static_cast<std::int64_t>(steps.size()) + 1, 8, rate));
    Programs programs;
    const RunFacts facts = programs.add(program_spec(), declared(settings.toStdString(), 8), steps);
    QCOMPARE(facts.first_rate, std::optional(highest));
    QCOMPARE(settings_of(facts).learning_rate, highest);
    QCOMPARE(programs.listed_rate(), std::optional(highest));
  }

  /// A snippet keeps the first batch, so a rate that grew with the batch is not its own.
  void aRateThatGrewWithTheBatchIsThatOfTheFirst() {
    Programs programs;
    const run::RunSpec spec = program_spec({{"schedule", "piecewise:0=8,2=32"}, {"lr_rule", "linear"}});
    const RunFacts facts =
        programs.add(spec, declared(R"({"learning_rate":0.1})", 8),
                     {step_of(1, 8, 0.05), step_of(2, 8, 0.1), step_of(3, 32, 0.4), step_of(4, 32, 0.2)});
    QCOMPARE(facts.first_rate, std::optional(0.1));
    QVERIFY(!facts.rate_of_steps);
    QCOMPARE(programs.listed_rate(), std::optional(0.4));
    const RunFacts unscaled = programs.add(program_spec({{"schedule", "piecewise:0=8,2=32"}}), declared("{}", 8),
                                           {step_of(1, 8, 0.05), step_of(2, 32, 0.1)});
    QCOMPARE(unscaled.first_rate, std::optional(0.1));
  }

  void aStepHasTheExamplesOfAllRanks() {
    Programs programs;
    const RunFacts facts =
        programs.add(program_spec(), declared("{}", 16, 2, 2), {step_of(1, 16, 0.1), step_of(2, 16, 0.1)});
    QCOMPARE(facts.effective_batch, std::optional<std::int64_t>(64));
    QCOMPARE(facts.last_effective, std::optional<std::int64_t>(64));
    const Settings settings = settings_of(facts);
    QCOMPARE(settings.micro_batch, 16);
    QCOMPARE(settings.accumulate, 4);
  }

  /// What a stranger's file says is divided by nowhere.
  void sizesOfZeroAreNotKnown_data() {
    QTest::addColumn<QString>("settings");
    for (const char* settings :
         {R"({"train_batch_size": 0})", R"({"batch": 0, "gradient_accumulation_steps": 0})",
          R"({"batch_size": -4, "effective_batch": 0, "train_examples": 0})",
          R"({"batch": 9e14, "accumulate": 9e14, "train_examples": 9e14})", R"({"batch": "0", "accumulate": "0"})",
          R"({"batch": 1e300, "total_train_batch_size": 1e-300})", R"({"batch": null, "accumulate": []})"})
      QTest::newRow(settings) << settings;
  }
  void sizesOfZeroAreNotKnown() {
    QFETCH(QString, settings);
    for (const double reported : {0.0, 0.25, 1e300, store::test::not_a_number}) {
      const store::test::Folder folder;
      store::RunStore store(folder.file());
      store::NewRun run;
      run.spec_json = settings.toStdString();
      auto sink = store.begin(run);
      telemetry::StepRecord step = step_of(1, 8, 0.1);
      step.more = {{"batch", reported}, {"micro_batch", reported}};
      sink->sink().record(step);
      sink->finish({});
      const RunFacts facts = read_facts(store::RunReader(folder.file()), sink->id());
      for (const auto& size : {facts.batch, facts.effective_batch, facts.last_effective, facts.micro_batch})
        QVERIFY(size.value_or(1) >= 1);
      QVERIFY(facts.accumulate >= 1 && facts.ranks >= 1);
      judge(facts, {facts});
      try {
        settings_of(facts);
      } catch (const Error&) { // says what is not known
      }
    }
  }

  void ranksAndAccumulationThatAreStoredAsZeroAreOne() {
    Programs programs;
    const RunFacts facts = programs.add(program_spec(), declared("{}", 16, 0, 0), {step_of(1, 16, 0.1)});
    QCOMPARE(facts.effective_batch, std::optional<std::int64_t>(16));
    judge(facts, {});
  }

  /// Runs with other optimizers are no evidence about the batch.
  void whatAProgramSaysTellsRunsApart() {
    Programs programs;
    const auto rest = [&](const std::string& settings) {
      return programs.add(program_spec(), declared(settings, 8), {}).rest;
    };
    const std::string adam = rest(R"({"optimizer":"AdamW","learning_rate":0.1,"seed":1})");
    QCOMPARE(rest(R"({"optimizer":"AdamW","learning_rate":0.2,"seed":2,"warmup_steps":5})"), adam);
    QVERIFY(rest(R"({"optimizer":"SGD","learning_rate":0.1,"seed":1})") != adam);
  }
};

BATCHSCOPE_TEST(TestRunFacts)
#include "tst_run_facts.moc"
