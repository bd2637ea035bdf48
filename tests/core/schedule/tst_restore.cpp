#include <QTest>

#include <random>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/schedule/edited.h"
#include "core/schedule/schedule_kind.h"
#include "core/telemetry/english.h"
#include "schedule_test.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::schedule;

namespace {

struct Edit {
  std::int64_t after = 0; ///< steps done
  std::string schedule;
  std::optional<std::int64_t> batch = {};
};

struct Walk {
  ProgressionOptions options;
  std::vector<Edit> edits;
};

/// What can be seen of a run from a step on.
struct Seen {
  std::vector<std::string> steps;
  std::vector<std::string> events;
  bool operator==(const Seen&) const = default;
};

std::string text_of(const ScheduleEvent& event) {
  return telemetry::english(telemetry::Event{.step = event.step, .body = body_of(event)});
}

Feedback feedback_of(const PlannedStep& step) {
  const auto number = static_cast<double>(step.step);
  return {.loss = 1 / number + (step.step % 7 == 0 ? std::nan("") : 0.1),
          .vram_fraction = 0.3 + 0.01 * static_cast<double>(step.batch % 50),
          .tokens = step.takes.examples * 3};
}

/// Goes on to the end; appends what it sees after `from` steps, and its state then.
void resume(Progression& progression, const Walk& walk, std::int64_t from, Seen& seen, std::string* state) {
  while (true) {
    if (state && progression.steps_done() == from)
      *state = progression.state_json();
    if (!progression.next())
      return;
    for (const Edit& edit : walk.edits)
      if (edit.after == progression.steps_done())
        progression.edit(edit.schedule, edit.batch);
    const auto step = progression.next();
    if (step->step > from) {
      std::string text = json_text(Json{step->step, step->batch, step->takes.takes, step->takes.epoch_index,
                                        step->takes.first, step->epoch, step->progress, step->learning_rate});
      seen.steps.push_back(text + progression.schedule_text());
    }
    const auto number = static_cast<double>(step->step);
    progression.add_gradient_norms({.part = 4, .whole = 8, .part_squared = 2 + 1 / number, .whole_squared = 1.2});
    progression.done(feedback_of(*step));
  }
}

} // namespace

/// A progression that is restored continues as the one whose state it has.
class TestRestore : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void goesOnFromAnyStep_data() {
    QTest::addColumn<QString>("schedule");
    QTest::addColumn<bool>("edited");
    for (const ScheduleKind* kind : schedule_kinds()) {
      const QString text = QString::fromStdString(kind->example(8, 60, 3));
      QTest::addRow("%s", kind->name) << text << false;
      if (!is_edited(text.toStdString())) // which cannot be the base of another
        QTest::addRow("%s, edited", kind->name) << text << true;
    }
    QTest::newRow("a formula of feedback") << "formula:8 + 20 * loss_ema * vram_fraction" << true;
    QTest::newRow("tokens") << "linear:max=64,tokens=900" << true;
    QTest::newRow("plateau, two ways") << "plateau:factor=1.5,patience=4,threshold=0.05,shrink=1.2" << true;
    QTest::newRow("below 1") << "formula:12 - step" << false;
  }
  void goesOnFromAnyStep() {
    QFETCH(QString, schedule);
    QFETCH(bool, edited);
    Walk walk{schedule::test::options(500, 1, 8, schedule.toStdString(), schedule::test::epochs(3)), {}};
    walk.options.max_batch = 100;
    walk.options.learning_rate = {.base = 0.1,
                                  .rule = LearningRateRule::linear,
                                  .reference_batch = 8,
                                  .decay = LearningRateDecay::cosine,
                                  .warmup_steps = 10};
    if (edited)
      walk.edits = {{5, "edited:8-12=40,base=" + schedule.toStdString(), {}},
                    {10, "linear:max=80", 20},
                    {14, "edited:16-20=33,base=" + schedule.toStdString(), {}},
                    {18, "edited:base=linear:max=80", {}},
                    {22, "step:interval=3,increment=2", {}},
                    {25, "edited:30-=50,batch=9,base=constant", {}}};
    std::int64_t total = 0;
    // At every step as long as edits come, then now and then.
    for (std::int64_t at = 0; at == 0 || at < total; at += at < 32 ? 1 : 17) {
      Seen whole;
      std::string state;
      Progression first(walk.options, [&](const ScheduleEvent& event) {
        if (event.step > at)
          whole.events.push_back(text_of(event));
      });
      resume(first, walk, at, whole, &state);
      total = first.steps_done();
      Seen rest;
      Progression second(walk.options, [&](const ScheduleEvent& event) { rest.events.push_back(text_of(event)); });
      second.restore(state);
      QCOMPARE(second.state_json(), state);
      resume(second, walk, at, rest, nullptr);
      QCOMPARE(rest.steps.size(), whole.steps.size());
      for (std::size_t i = 0; i < rest.steps.size(); ++i)
        QCOMPARE(rest.steps[i], whole.steps[i]);
      QCOMPARE(rest.events, whole.events);
    }
    QVERIFY(total > 20);
  }

  void gainsGoOnToo() {
    Walk walk{schedule::test::options(500, 1, 8, "noise:every=5", schedule::test::steps(40)), {}};
    walk.options.learning_rate = {.base = 0.1, .rule = LearningRateRule::adascale, .reference_batch = 8};
    Seen whole, rest;
    std::string state;
    Progression first(walk.options);
    resume(first, walk, 17, whole, &state);
    QVERIFY(first.steps_done() < 40); // by its gains
    Progression second(walk.options);
    second.restore(state);
    resume(second, walk, 17, rest, nullptr);
    QCOMPARE(rest.steps, whole.steps);
  }

  void otherTextsAreRefusedAndChangeNothing() {
    Progression progression(
        schedule::test::options(500, 1, 8, "step:interval=5,increment=1", schedule::test::steps(50)));
    for (int i = 0; i < 12; ++i) {
      progression.next();
      progression.done();
    }
    const std::string state = progression.state_json();
    const auto refuses = [&](const std::function<void(Json&)>& change) {
      Json json = parse_json(state);
      change(json);
      bool refused = false;
      try {
        progression.restore(json_text(json));
      } catch (const Error& error) {
        refused = error.kind() == Error::Kind::input;
      }
      return refused && progression.state_json() == state;
    };
    QVERIFY(refuses([](Json& json) { json = Json::array(); }));
    QVERIFY(refuses([](Json& json) { json.erase("course"); }));
    QVERIFY(refuses([](Json& json) { json["sampler"]["position"] = 501; }));
    QVERIFY(refuses([](Json& json) { json["sampler"]["epoch_index"] = -1; }));
    QVERIFY(refuses([](Json& json) { json["course"]["batch"] = 501; }));
    QVERIFY(refuses([](Json& json) { json["course"]["text"] = "nonsense"; }));
    QVERIFY(refuses([](Json& json) { json["state"]["step"] = "12"; }));
    QVERIFY_THROWS_EXCEPTION(Error, progression.restore("no JSON"));
  }
};

BATCHSCOPE_TEST(TestRestore)
#include "tst_restore.moc"
