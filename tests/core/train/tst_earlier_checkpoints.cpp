#include <QTest>

#include <functional>

#include "core/checkpoint/checkpoint.h"
#include "run_helpers.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::run;

namespace {

using Change = std::function<void(Json& loop, Json& plan, Json& progress)>;

/// A file that version 0.1.0 has written, with its texts as another version would have written them.
checkpoint::Checkpoint changed_file(const Change& change) {
  auto kept = checkpoint::read(BATCHSCOPE_SOURCE_DIR "/tests/core/train/files/checkpoint-1.safetensors");
  Json loop = parse_json(kept.texts.at("loop"));
  Json plan = parse_json(kept.texts.at("plan"));
  Json progress = parse_json(kept.texts.at("progress"));
  change(loop, plan, progress);
  kept.texts["loop"] = json_text(loop);
  kept.texts["plan"] = json_text(plan);
  kept.texts["progress"] = json_text(progress);
  return kept;
}

/// The steps that the run still makes.
std::vector<telemetry::StepRecord> rest_of(const checkpoint::Checkpoint& kept) {
  RunSpec spec = stored_spec_from_json(kept.label.spec_json);
  spec.memory_budget = 100'000'000;
  const auto session = open_session(spec);
  session->restore(kept, {});
  Recorded recorded;
  RunControl control;
  session->run(recorded, control);
  return recorded.records;
}

} // namespace

Q_DECLARE_METATYPE(Change)

/// Runs go on from the checkpoints of earlier and later versions.
class TestEarlierCheckpoints : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void goOn_data() {
    QTest::addColumn<Change>("change");
    const auto row = [](const char* name, const Change& change) { QTest::newRow(name) << change; };
    row("as it was written", [](Json&, Json&, Json&) {});
    row("before --grow-back", [](Json& loop, Json&, Json&) { loop.erase("grow_back"); });
    row("before runs ended at a share of the examples",
        [](Json& loop, Json&, Json&) { loop.erase("evaluated_examples"); });
    row("before budgets were changed", [](Json& loop, Json&, Json&) { loop.erase("changed_budget"); });
    row("before schedules had a state", [](Json&, Json& plan, Json&) { plan["course"].erase("state"); });
    row("the first ones", [](Json& loop, Json& plan, Json&) {
      for (const char* name : {"grow_back", "evaluated_examples", "changed_budget"})
        loop.erase(name);
      plan["course"].erase("state");
    });
    row("without a field of the outcome and of the clock", [](Json&, Json&, Json& progress) {
      progress["outcome"].erase("train_coverage");
      progress["clock"].erase("evaluated_since");
    });
    row("of a later version", [](Json& loop, Json& plan, Json& progress) {
      // What is inside comes first: its place changes when something is added around it.
      for (Json* each :
           {&loop["known_sizes"], &loop["shortage"], &loop["before"], &loop, &plan["state"], &plan["course"]["origin"],
            &plan["course"], &plan, &progress["outcome"], &progress["clock"], &progress})
        (*each)["new"] = {{"in", "a later version"}};
    });
  }

  void goOn() {
    QFETCH(Change, change);
    const auto steps = rest_of(changed_file(change));
    const auto right = rest_of(changed_file([](Json&, Json&, Json&) {}));
    QCOMPARE(steps.size(), std::size_t{6});
    for (std::size_t i = 0; i < steps.size(); ++i) {
      QCOMPARE(steps[i].step, static_cast<std::int64_t>(7 + i));
      QCOMPARE(steps[i].batch, right[i].batch);
      QCOMPARE(steps[i].loss, right[i].loss);
    }
    QCOMPARE(steps.back().batch, std::int64_t{15}); // the schedule goes on, too
  }

  void itsLabelIsRead() {
    const auto label = checkpoint::read_label(BATCHSCOPE_SOURCE_DIR "/tests/core/train/files/checkpoint-1.safetensors");
    QCOMPARE(label.step, std::int64_t{6});
    QCOMPARE(label.events, std::int64_t{1});
    QCOMPARE(*label.validation_accuracy, 0.75);
    QVERIFY(stored_spec(label.spec_json).has_value());
  }
};

BATCHSCOPE_TEST(TestEarlierCheckpoints)
#include "tst_earlier_checkpoints.moc"
