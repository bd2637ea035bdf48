#include <QTest>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/run/run_start.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::run;

namespace {

RunStart full_start() {
  RunStart start;
  start.batch = 96;
  start.batch_reason = "the largest that fits";
  start.accumulate = 4;
  start.train_examples = 8000;
  start.validation_examples = 2000;
  start.parameters = 123'456;
  start.budget_bytes = 400'000'000;
  start.baseline_bytes = 1'234'567;
  start.warmup_steps = 200;
  start.expected_steps = 1000;
  start.notes = {"one", "two \"quoted\""};
  start.memory = predict::PeakCurve::from_json(
      R"({"error":0.01,"points":[[1,100,110,1,2,3,4,5,85],[64,6400,7000,1,2,3,4,5,6385]]})");
  start.search = 7;
  start.predicts_numbers = true;
  start.program =
      ProgramStart{.level = 3, .first_batch = true, .framework = "transformers 5.23.0", .settings = R"({"seed":7})"};
  return start;
}

} // namespace

class TestRunStart : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void jsonKeepsEverything();
  void leavesOutWhatIsNotKnown();
  void readsWhatEarlierVersionsWrote();
  void keepsWhatLaterVersionsWrote();
  void refusesOtherTexts_data();
  void refusesOtherTexts();
};

void TestRunStart::jsonKeepsEverything() {
  const std::string text = to_json(full_start());
  const RunStart read = run_start_from_json(text);
  QCOMPARE(to_json(read), text);
  QCOMPARE(read.batch, std::int64_t{96});
  QCOMPARE(read.batch_reason, std::string("the largest that fits"));
  QCOMPARE(read.budget_bytes, std::uint64_t{400'000'000});
  QCOMPARE(read.expected_steps.value(), std::int64_t{1000});
  QCOMPARE(read.notes.back(), std::string("two \"quoted\""));
  QCOMPARE(read.search.value(), std::int64_t{7});
  QVERIFY(read.predicts_numbers);
  QCOMPARE(read.memory.value().at(64).bytes, std::uint64_t{6400});
  QCOMPARE(read.memory->error(), 0.01);
  QVERIFY(read.program == full_start().program);
}

void TestRunStart::leavesOutWhatIsNotKnown() {
  RunStart start;
  start.batch = 3;
  const Json json = Json::parse(to_json(start));
  QVERIFY(json["expected_steps"].is_null());
  QVERIFY(!json.contains("memory") && !json.contains("search"));
  const RunStart read = run_start_from_json(json.dump());
  QVERIFY(!read.memory && !read.search && !read.expected_steps);
}

void TestRunStart::readsWhatEarlierVersionsWrote() {
  const RunStart read =
      run_start_from_json(R"({"batch":8,"accumulate":1,"notes":[],"memory":"something else","more":{}})");
  QCOMPARE(read.batch, std::int64_t{8});
  QVERIFY(!read.memory);
  QCOMPARE(run_start_from_json("{}").accumulate, std::int64_t{1});
}

void TestRunStart::keepsWhatLaterVersionsWrote() {
  Json json = Json::parse(to_json(full_start()));
  json["later"] = {{"a", 1}};
  const RunStart read = run_start_from_json(json.dump());
  QCOMPARE(read.batch, std::int64_t{96});
  QVERIFY(read.memory.has_value());
  QVERIFY(Json::parse(to_json(read))["later"] == json["later"]);
  QCOMPARE(run_start_from_json(to_json(full_start())).later_json, std::string());
}

void TestRunStart::refusesOtherTexts_data() {
  QTest::addColumn<QByteArray>("text");
  for (const char* text :
       {"", "[]", "3", "{\"batch\":", "{\"batch\":\"8\"}", "{\"batch\":1.5}", "{\"batch\":18446744073709551615}"})
    QTest::newRow(text) << QByteArray(text);
}

void TestRunStart::refusesOtherTexts() {
  QFETCH(QByteArray, text);
  QVERIFY_EXCEPTION_THROWN(run_start_from_json(text.toStdString()), Error);
}

BATCHSCOPE_TEST(TestRunStart)
#include "tst_run_start.moc"
