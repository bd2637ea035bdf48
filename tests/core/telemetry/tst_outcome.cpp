#include "core/telemetry/outcome.h"

#include <QTest>

#include "core/base/error.h"
#include "core/telemetry/outcome_fields.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::telemetry;

namespace {

constexpr const char* of_examples[] = {"examples_seen", "epoch", "train_coverage", "examples_per_second"};

} // namespace

/// What a run has come to, from what it reports.
class TestOutcome : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void nothing_is_known_before_the_first_step();
  void what_a_program_does_not_say_is_not_known();
  void what_is_not_known_stays_so_in_a_file();
  void files_of_other_versions();
};

void TestOutcome::nothing_is_known_before_the_first_step() {
  const Json json = to_json(RunProgress().outcome());
  for (const char* name : of_examples)
    QVERIFY2(json[name].is_null(), name);
  QVERIFY(json["peak_bytes"].is_null());
  QCOMPARE(json["oom_events"].get<int>(), 0);
}

void TestOutcome::what_a_program_does_not_say_is_not_known() {
  RunProgress progress;
  StepRecord record = unknown_record(3);
  record.seconds = 2;
  record.loss = 0.5;
  progress.take(record);
  Json json = to_json(progress.outcome());
  QCOMPARE(json["steps"].get<int>(), 3);
  QCOMPARE(json["loss"].get<double>(), 0.5);
  for (const char* name : of_examples)
    QVERIFY2(json[name].is_null(), name);
  QVERIFY(json["peak_bytes"].is_null() && json["batch"].is_null());

  record.step = 4;
  record.examples_seen = 64;
  record.epoch = 0.25;
  record.train_coverage = 0.25;
  record.peak_bytes = 1000;
  progress.take(record);
  json = to_json(progress.outcome());
  QCOMPARE(json["examples_seen"].get<int>(), 64);
  QCOMPARE(json["epoch"].get<double>(), 0.25);
  QCOMPARE(json["examples_per_second"].get<double>(), 32.0);
  QCOMPARE(json["peak_bytes"].get<int>(), 1000);
}

void TestOutcome::what_is_not_known_stays_so_in_a_file() {
  RunProgress progress;
  progress.take(unknown_record(1));
  const Json json = to_json(progress);
  QVERIFY(to_json(run_progress_from_json(json)) == json);
  Json earlier = json; // versions before wrote 0
  for (const char* name : of_examples)
    earlier["outcome"][name] = 0;
  QVERIFY(to_json(run_progress_from_json(earlier)) == json);
}

void TestOutcome::files_of_other_versions() {
  RunProgress progress;
  StepRecord record = unknown_record(3);
  record.loss = 0.5;
  record.seconds = 2;
  progress.take(record);
  const Json json = to_json(progress);
  Json later = json;
  later["new"] = later["outcome"]["new"] = later["clock"]["new"] = "of a later version";
  QVERIFY(to_json(run_progress_from_json(later)) == json);
  for (const auto& [name, value] : json["outcome"].items()) { // each one was new once
    Json earlier = json;
    earlier["outcome"].erase(name);
    const Json read = to_json(run_progress_from_json(earlier));
    QVERIFY2(read["clock"] == json["clock"], name.c_str());
    QCOMPARE(read["outcome"].size(), json["outcome"].size());
  }
  QVERIFY_EXCEPTION_THROWN(run_progress_from_json(Json::object()), Error);
}

BATCHSCOPE_TEST(TestOutcome)
#include "tst_outcome.moc"
