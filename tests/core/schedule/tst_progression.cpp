#include <cmath>
#include <functional>
#include <random>

#include <QTest>

#include "core/base/error.h"
#include "core/schedule/progression.h"
#include "core/telemetry/english.h"
#include "schedule_test.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::schedule;
using namespace batchscope::schedule::test;

namespace {

struct WholeCourse {
  std::vector<PlannedStep> steps;
  std::vector<ScheduleEvent> events;
};

const telemetry::Clamp& clamp_of(const ScheduleEvent& event) {
  return std::get<telemetry::Clamp>(event.what);
}

WholeCourse walk(const ProgressionOptions& options) {
  WholeCourse course;
  Progression progression(options, [&](const ScheduleEvent& event) { course.events.push_back(event); });
  while (const auto step = progression.next()) {
    course.steps.push_back(*step);
    progression.done();
  }
  return course;
}

/// The takes of rank 0 with `|` where an epoch begins, as semantics writes its traces.
std::string trace(const WholeCourse& course) {
  std::string text;
  std::int64_t epoch = 0;
  for (const PlannedStep& step : course.steps) {
    if (step.takes.epoch_index != epoch)
      text += "| ";
    epoch = step.takes.epoch_index;
    text += std::to_string(step.takes.takes.front()) + " ";
  }
  if (!text.empty())
    text.pop_back();
  return text;
}

template <typename Get> std::vector<double> column(const WholeCourse& course, Get get) {
  std::vector<double> values;
  for (const PlannedStep& step : course.steps)
    values.push_back(std::round(get(step) * 1e5) / 1e5);
  return values;
}

const char* message_of(const std::function<void()>& action) {
  static std::string message;
  try {
    action();
    return nullptr;
  } catch (const Error& e) {
    message = e.what();
    return e.kind() == Error::Kind::input ? message.c_str() : "not an input error";
  }
}

} // namespace

class ProgressionTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void followsTheKnownTraceOnTwoRanks() {
    const WholeCourse course = walk(options(10, 2, 1, "step:interval=5,increment=1", steps(14)));
    QCOMPARE(trace(course), std::string("1 1 1 1 1 | 2 2 1 | 2 2 1 | 3 2 | 3"));
    for (const PlannedStep& step : course.steps)
      QCOMPARE(step.takes.takes[1], step.takes.takes[0]);
    QCOMPARE(column(course, [](const PlannedStep& s) { return s.train_coverage; }),
             (std::vector<double>{.2, .4, .6, .8, 1, .4, .8, 1, .4, .8, 1, .6, 1, .6}));
    QCOMPARE(column(course, [](const PlannedStep& s) { return s.epoch; }),
             (std::vector<double>{.2, .4, .6, .8, 1.0, 1.4, 1.8, 2.0, 2.4, 2.8, 3.0, 3.6, 4.0, 4.6}));
    QCOMPARE(course.steps.back().takes.seen_in_total, 46);
    QCOMPARE(trace(walk(options(10, 2, 1, "step:interval=5,increment=1", steps(15)))),
             std::string("1 1 1 1 1 | 2 2 1 | 2 2 1 | 3 2 | 3 2"));
  }

  void followsTheKnownTraceOnOneRank() {
    const WholeCourse course = walk(options(10, 1, 1, "step:interval=5,increment=1", epochs(4)));
    QCOMPARE(trace(course), std::string("1 1 1 1 1 2 2 1 | 2 2 3 3 | 3 3 3 1 | 4 4 2"));
  }

  void followsTheTraceOnFourRanks() {
    const WholeCourse course = walk(options(10, 4, 1, "step:interval=5,increment=1", epochs(3)));
    QCOMPARE(trace(course), std::string("1 1 1 | 1 1 1 | 2 1"));
    QCOMPARE(course.steps.back().takes.takes, (std::vector<std::int64_t>{1, 1, 0, 0}));
    // Four ranks take at most two examples each: the third size asked for is clamped.
    const WholeCourse longer = walk(options(10, 4, 1, "step:interval=5,increment=1", epochs(5)));
    QCOMPARE(longer.events.size(), std::size_t{1});
    QCOMPARE(clamp_of(longer.events[0]).asked, 3);
    QCOMPARE(clamp_of(longer.events[0]).taken, 2);
    QCOMPARE(longer.events[0].step, 10);
  }

  void dropsTails() {
    ProgressionOptions o = options(10, 2, 1, "step:interval=5,increment=1", epochs(5));
    o.sampler.drop_last = true;
    QCOMPARE(trace(walk(o)), std::string("1 1 1 1 1 | 2 2 | 2 2 | 2 3 | 3"));
    o.length = epochs(4);
    QCOMPARE(walk(o).steps.back().progress, 3.4 / 4);
  }

  void letsSizesShrink() {
    const WholeCourse course = walk(options(10, 1, 4, "formula:max(batch - 1, 1)", epochs(2)));
    QCOMPARE(trace(course), std::string("4 3 2 1 | 1 1 1 1 1 1 1 1 1 1"));
    ProgressionOptions dropping = options(10, 1, 6, "piecewise:1=4", epochs(2));
    dropping.sampler.drop_last = true;
    QCOMPARE(trace(walk(dropping)), std::string("6 4 | 4 4"));
  }

  void carriesTheSizeOverFromEpochToEpoch() {
    QCOMPARE(trace(walk(options(7, 1, 3, "constant", epochs(3)))), std::string("3 3 1 | 3 3 1 | 3 3 1"));
  }

  void reportsAClampOnceUntilSomethingElseIsAsked() {
    // Asks for 9 at every step: one event. In between for 2: another one.
    const WholeCourse flood = walk(options(8, 1, 2, "formula:9 + 0 * step", epochs(10)));
    QCOMPARE(flood.events.size(), std::size_t{1});
    QVERIFY(std::holds_alternative<telemetry::Clamp>(flood.events[0].what));
    QCOMPARE(clamp_of(flood.events[0]).asked, 9);
    QCOMPARE(clamp_of(flood.events[0]).taken, 8);
    const WholeCourse again = walk(options(8, 1, 2, "piecewise:0=2,2=9,4=2,6=9", steps(20)));
    QCOMPARE(again.events.size(), std::size_t{2});
    QCOMPARE(again.events[0].step, 2);
    QCOMPARE(again.events[1].step, 6);
    const WholeCourse growing = walk(options(8, 1, 2, "formula:8 + step", steps(5)));
    QCOMPARE(growing.events.size(), std::size_t{5});
  }

  void clampsToMaxBatch() {
    ProgressionOptions o = options(100, 1, 2, "formula:batch * 2", steps(4));
    o.max_batch = 6;
    const WholeCourse course = walk(o);
    QCOMPARE(trace(course), std::string("2 4 6 6"));
    QCOMPARE(clamp_of(course.events.at(0)).asked, 8);
    QCOMPARE(clamp_of(course.events.at(0)).taken, 6);
    QCOMPARE(clamp_of(course.events.at(1)).asked, 12);
    QCOMPARE(course.events.size(), std::size_t{2});
  }

  void keepsTheSizeWhereAFormulaTurnsBad() {
    std::vector<ScheduleEvent> events;
    Progression progression(options(100, 1, 8, "formula:16 / loss", steps(9)),
                            [&](const ScheduleEvent& event) { events.push_back(event); });
    QVERIFY(progression.needs_feedback());
    const auto make = [&](double loss) {
      QVERIFY(progression.next());
      progression.done({.loss = loss});
    };
    make(2);
    QCOMPARE(progression.batch(), 8);
    make(0.5);
    QCOMPARE(progression.batch(), 32);
    make(0);
    make(std::nan(""));
    QCOMPARE(progression.batch(), 32);
    QCOMPARE(events.size(), std::size_t{1});
    QCOMPARE(events[0].step, 3);
    const auto* problem = std::get_if<telemetry::ScheduleProblem>(&events[0].what);
    QVERIFY(problem);
    QCOMPARE(telemetry::english(problem->reason),
             std::string("the formula gives inf at step 3; accepted: a batch size of at least 1"));
    make(1);
    QCOMPARE(progression.batch(), 16);
    make(0);
    QCOMPARE(events.size(), std::size_t{2});
  }

  void smoothsTheLossAndSkipsNaN() {
    Progression progression(options(1'000'000, 1, 1, "formula:1 + 1000 * loss_ema", steps(9)));
    const double nan = std::nan("");
    const double losses[] = {2, nan, 3, nan};
    const std::int64_t sizes[] = {2001, 2001, 2021, 2021};
    for (int i = 0; i < 4; ++i) {
      progression.next();
      progression.done({.loss = losses[i]});
      QCOMPARE(progression.batch(), sizes[i]);
    }
  }

  void endsExactlyAtTheExamplesAsked() {
    for (bool drop_last : {false, true}) {
      ProgressionOptions o = options(10, 2, 2, "constant", examples(27));
      o.sampler.drop_last = drop_last;
      const WholeCourse course = walk(o);
      QCOMPARE(course.steps.back().takes.seen_in_total, 27);
      QCOMPARE(course.steps[1].progress, 4.0 / 27);
    }
  }

  void runsLearningRatesOverProgressThatEndsWithTheRun() {
    ProgressionOptions o = options(10, 1, 3, "constant", epochs(2));
    o.learning_rate.base = 1;
    o.learning_rate.decay = LearningRateDecay::linear;
    // Positions 0 3 6 9 of each epoch, whatever the sizes.
    QCOMPARE(column(walk(o), [](const PlannedStep& s) { return s.learning_rate; }),
             (std::vector<double>{1, .85, .7, .55, .5, .35, .2, .05}));
    o.sampler.drop_last = true;
    QCOMPARE(column(walk(o), [](const PlannedStep& s) { return s.learning_rate; }),
             (std::vector<double>{1, .85, .7, .5, .35, .2}));
    o.length = steps(4);
    QCOMPARE(column(walk(o), [](const PlannedStep& s) { return s.learning_rate; }),
             (std::vector<double>{1, .75, .5, .25}));
    o.learning_rate.warmup_steps = 2;
    QCOMPARE(column(walk(o), [](const PlannedStep& s) { return s.learning_rate; }),
             (std::vector<double>{0, .5, 1, .5}));
  }

  void usesTheNominalEffectiveBatchForTheRate() {
    ProgressionOptions o = options(100, 2, 8, "constant", epochs(1));
    o.learning_rate.base = 1;
    o.sampler.accumulate = 2;
    o.learning_rate.rule = LearningRateRule::linear;
    o.learning_rate.reference_batch = 8;
    const WholeCourse course = walk(o);
    QCOMPARE(course.steps.back().takes.examples, 4);
    for (const PlannedStep& step : course.steps) {
      QCOMPARE(step.nominal_effective, 32);
      QCOMPARE(step.learning_rate, 4.0);
    }
    o.sampler.effective_batch = 40;
    QCOMPARE(walk(o).steps.back().learning_rate, 5.0);
  }

  void lowersTheRateWithAdaBatchsStages() {
    ProgressionOptions o = options(8, 1, 2, "adabatch:factor=2,every=1,lr-decay=0.375", epochs(3));
    o.learning_rate.base = 1;
    o.learning_rate.rule = LearningRateRule::linear;
    o.learning_rate.reference_batch = 2;
    const WholeCourse course = walk(o);
    QCOMPARE(trace(course), std::string("2 2 2 2 | 4 4 | 8"));
    QCOMPARE(column(course, [](const PlannedStep& s) { return s.learning_rate; }),
             (std::vector<double>{1, 1, 1, 1, .75, .75, .5625}));
  }

  void growsByEpochsAlsoWhereTailsAreDropped() {
    ProgressionOptions o = options(10, 1, 4, "adabatch:factor=2,every=1", epochs(2));
    o.sampler.drop_last = true;
    QCOMPARE(trace(walk(o)), std::string("4 4 | 8"));
    o.schedule = "linear:max=6,epochs=1";
    QCOMPARE(trace(walk(o)), std::string("4 4 | 6"));
  }

  void givesTheSameStepUntilItIsDone() {
    Progression progression(options(10, 1, 3, "constant", epochs(1)));
    QCOMPARE(progression.next()->takes.first, 0);
    QCOMPARE(progression.next()->takes.first, 0);
    progression.done();
    QCOMPARE(progression.next()->takes.first, 3);
    QCOMPARE(progression.steps_done(), 1);
    QCOMPARE(progression.next()->progress, 0.3);
    progression.done();
    QVERIFY_THROWS_EXCEPTION(Error, progression.done());
  }

  void saysWhenAnEpochEnds() {
    ProgressionOptions o = options(10, 1, 4, "piecewise:2=2", epochs(1));
    o.sampler.drop_last = true;
    Progression progression(o);
    std::vector<bool> ends;
    while (progression.next()) {
      progression.done();
      ends.push_back(progression.epoch_ended());
    }
    // The size shrinks to 2 after the second step, so that the tail of 2 is taken after all.
    QCOMPARE(ends, (std::vector<bool>{false, false, true}));
  }

  void takesEditsAtTheVeryNextStep() {
    Progression progression(options(100, 1, 4, "constant", epochs(1)));
    progression.next();
    progression.done();
    progression.next();
    progression.edit("step:interval=2,increment=1", 8);
    QCOMPARE(progression.next()->batch, 8);
    QCOMPARE(progression.next()->takes.first, 4);
    QCOMPARE(progression.schedule_text(), std::string("step:interval=2,increment=1"));
    std::vector<std::int64_t> sizes;
    for (int i = 0; i < 5; ++i) {
      sizes.push_back(progression.next()->batch);
      progression.done();
    }
    QCOMPARE(sizes, (std::vector<std::int64_t>{8, 8, 9, 9, 10}));
    for (const auto& [text, batch] :
         {std::pair<const char*, std::int64_t>{"nonsense", 4}, {"constant", 0}, {"constant", 101}})
      QVERIFY_THROWS_EXCEPTION(Error, progression.edit(text, batch));
    QCOMPARE(progression.batch(), 10);
    QCOMPARE(progression.schedule_text(), std::string("step:interval=2,increment=1"));
  }

  void rampsFromWhereTheyAreEditedIn() {
    Progression progression(options(100, 1, 10, "constant", epochs(2)));
    for (int i = 0; i < 10; ++i) {
      progression.next();
      progression.done();
    }
    progression.edit("linear:max=30,epochs=0.5");
    std::vector<std::int64_t> sizes;
    while (const auto step = progression.next()) {
      sizes.push_back(step->batch);
      progression.done();
    }
    // Positions 0 10 24 43 of the second epoch's first half, then its end.
    QCOMPARE(sizes, (std::vector<std::int64_t>{10, 14, 19, 27, 30}));
  }

  void refusesBadStarts_data() {
    QTest::addColumn<int>("what");
    QTest::addColumn<QString>("words");
    const char* const rows[] = {"batch 51",  "exactly one of", "exactly one of", "epochs is 0",     "effective batch",
                                "max-batch", "batch size 0",   "batch 1",        "accumulate is 0", "unknown schedule"};
    for (int i = 0; i < 10; ++i)
      QTest::addRow("%d %s", i, rows[i]) << i << rows[i];
  }
  void refusesBadStarts() {
    QFETCH(int, what);
    QFETCH(QString, words);
    ProgressionOptions o = options(100, 2, 8, "constant", epochs(1));
    o.learning_rate.base = 1;
    const std::function<void()> spoil[] = {[&] { o.batch = 51; },
                                           [&] { o.length = {}; },
                                           [&] { o.length.steps = 5; },
                                           [&] { o.length = epochs(0); },
                                           [&] { o.sampler.effective_batch = 101; },
                                           [&] { o.max_batch = 7; },
                                           [&] { o.batch = 0; },
                                           [&] {
                                             o.sampler.examples = 1;
                                             o.batch = 1;
                                           },
                                           [&] { o.sampler.accumulate = 0; },
                                           [&] { o.schedule = "triangle:factor=2,patience=50"; }};
    spoil[what]();
    const char* message = message_of([&] { Progression{o}; });
    QVERIFY(message);
    QVERIFY2(QString(message).contains(words), message);
  }

  void seesEveryExampleOnceAnEpochUnderRandomSchedules() {
    const unsigned seed = 77;
    std::mt19937_64 random(seed);
    for (int number = 0; number < 500; ++number) {
      const std::int64_t ranks = 1 + static_cast<std::int64_t>(random() % 4);
      const std::int64_t n = ranks + static_cast<std::int64_t>(random() % 300);
      const std::int64_t factor = 1 + static_cast<std::int64_t>(random() % 97);
      // A sine makes sizes that go up and down.
      const std::string schedule = "formula:1 + 20 * abs(sin(step * " + std::to_string(factor) + "))";
      ProgressionOptions o = options(n, ranks, 1, schedule, epochs(3));
      o.sampler.accumulate = 1 + static_cast<std::int64_t>(random() % 3);
      std::vector<int> seen(static_cast<std::size_t>(n), 0);
      for (const PlannedStep& step : walk(o).steps) {
        const data::EpochOrder order(n, 5, step.takes.epoch_index);
        for (std::int64_t i = 0; i < step.takes.examples; ++i)
          ++seen[static_cast<std::size_t>(order.at(step.takes.first + i))];
      }
      for (int count : seen)
        QVERIFY2(count == 3, qPrintable(QStringLiteral("case %1 of seed %2").arg(number).arg(seed)));
    }
  }

  void plansBillionsOfExamples() {
    const std::int64_t n = 3'000'000'000;
    const WholeCourse course = walk(options(n, 4, 1000, "formula:batch * 10", epochs(2)));
    QCOMPARE(course.steps.back().takes.seen_in_total, 2 * n);
    QCOMPARE(clamp_of(course.events.front()).asked, 1'000'000'000);
    QCOMPARE(clamp_of(course.events.front()).taken, 750'000'000);
  }
};

BATCHSCOPE_TEST(ProgressionTest)
#include "tst_progression.moc"
