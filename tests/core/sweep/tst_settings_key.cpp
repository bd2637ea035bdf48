#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "core/sweep/settings_key.h"

#include <QTest>

#include "core/base/json.h"
#include "core/sweep/sweep.h"
#include "test_program.h"
#include "tests/core/store/earlier_database.h"

using namespace batchscope;
using namespace batchscope::sweep;

namespace {

run::RunSpec small_run() {
  run::RunSpec spec;
  spec.model = "mlp:hidden=16";
  spec.optimizer = "sgd";
  spec.batch = {.kind = run::BatchChoice::Kind::number, .number = 16};
  return spec;
}

} // namespace

class TestSettingsKey : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void itsFormStays();
  void namesDoNotMatter();
  void aDefaultThatIsNamedIsTheSame();
  void everySettingCounts();
  void fieldsOfOtherVersions();
  void anEarlierSweepGoesOn();
};

/// It is stored: another form would make all runs of a sweep again.
void TestSettingsKey::itsFormStays() {
  run::RunSpec spec = small_run();
  spec.learning_rate = 0.05;
  spec.seed = 7;
  QCOMPARE(settings_key(spec),
           std::string(R"({"batch":"16","lr":"0.05","model":"mlp:hidden=16","optimizer":"sgd","seed":"7"})"));
  run::RunSpec program;
  program.program = run::ProgramSpec{.command = {"train", "{width}"}, .set = {{"width", "3"}}};
  QCOMPARE(settings_key(program), std::string(R"({"program":{"command":["train","{width}"],"set":{"width":"3"}}})"));
}

void TestSettingsKey::namesDoNotMatter() {
  run::RunSpec spec = small_run();
  spec.name = "another";
  QCOMPARE(settings_key(spec), settings_key(small_run()));
}

void TestSettingsKey::aDefaultThatIsNamedIsTheSame() {
  run::RunSpec spec = small_run();
  spec.learning_rate = run::learning_rate_or_default(spec);
  QCOMPARE(settings_key(spec), settings_key(small_run()));
  spec.optimizer = "adam"; // has another default
  QVERIFY(settings_key(spec).find("\"lr\"") != std::string::npos);
}

void TestSettingsKey::everySettingCounts() {
  const run::RunSpec spec = small_run();
  for (const auto& [field, value] : {std::pair("seed", "9"),
                                     {"steps", "7"},
                                     {"dropout", "0.1"},
                                     {"drop_last", "true"},
                                     {"data", "demo:x"},
                                     {"evaluate_every", "3"},
                                     {"memory_budget", "5MB"},
                                     {"on_oom", "fail"},
                                     {"schedule", "linear:max=64"}}) {
    run::RunSpec other = spec;
    run::set_field(other, field, value);
    QVERIFY2(settings_key(other) != settings_key(spec), field);
  }
}

void TestSettingsKey::fieldsOfOtherVersions() {
  Json json = parse_json(run::to_json(small_run()));
  json.erase("grow_back"); // of a version that did not know it
  QCOMPARE(*settings_key_of(json_text(json)), settings_key(small_run()));
  json["later"] = 3;
  QVERIFY(*settings_key_of(json_text(json)) != settings_key(small_run()));
  QVERIFY(!settings_key_of("{}"));
  QVERIFY(!settings_key_of("of another program"));
}

void TestSettingsKey::anEarlierSweepGoesOn() {
  const store::test::Folder folder;
  store::test::make_of_format_6(folder.file());
  store::RunStore store(folder.file());
  const store::RunReader reader(folder.file());
  SweepPlan plan = plan_rest(reader, 1);
  QCOMPARE(plan.runs.size(), std::size_t{4});
  for (const PlannedRun& planned : plan.runs)
    QVERIFY(planned.run);
  plan.runs.push_back({plan.runs.front().spec, std::nullopt}); // as if it were missing
  enqueue(plan, 1, store);
  QCOMPARE(reader.runs_of_sweep(1).size(), std::size_t{4});
  for (const std::int64_t id : reader.runs_of_sweep(1))
    QCOMPARE(reader.settings_key(id), *settings_key_of(reader.spec_json(id)));
}

BATCHSCOPE_TEST(TestSettingsKey)
#include "tst_settings_key.moc"
