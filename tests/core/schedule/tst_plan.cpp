#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "core/base/error.h"
#include "core/schedule/plan.h"
#include "schedule_test.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::schedule;
using namespace batchscope::schedule::test;

namespace {

constexpr int random_plans = batchscope::test::sanitized ? 50 : 1000;

constexpr unsigned seed = 2718;

using Sizes = std::vector<std::int64_t>;

PlanRequest request(const ProgressionOptions& options, std::vector<PlanEdit> edits = {}) {
  PlanRequest result;
  result.options = options;
  result.edits = std::move(edits);
  return result;
}

std::vector<double> values(const Plan& plan, const std::string& name) {
  std::vector<double> result;
  const series::Series* series = plan.history->find(name);
  for (std::size_t i = 0; series && i < series->values.size(); ++i)
    result.push_back(series->values[i]);
  return result;
}

Sizes batches(const Plan& plan) {
  Sizes result;
  for (const double value : values(plan, "batch"))
    result.push_back(static_cast<std::int64_t>(value));
  return result;
}

/// The batch of every step that the segments cover; empty where they leave a gap or overlap.
Sizes batches(const std::vector<PlanSegment>& segments) {
  Sizes result;
  for (const PlanSegment& segment : segments) {
    if (segment.steps < 1 ||
        segment.first_step != segments.front().first_step + static_cast<std::int64_t>(result.size()))
      return {};
    result.insert(result.end(), static_cast<std::size_t>(segment.steps), segment.batch);
  }
  return result;
}

std::vector<PlanSegment> outline_of(const Sizes& sizes, std::size_t most) {
  Outline outline(most);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    outline.add(static_cast<std::int64_t>(i) + 1, sizes[i]);
  return outline.segments();
}

/// How far a staircase is from the sizes: the least sum of squares that its stretches allow.
double distance(const Sizes& sizes, const std::vector<std::size_t>& begins) {
  double sum = 0;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const auto first = sizes.begin() + static_cast<std::ptrdiff_t>(begins[i]);
    const auto end = i + 1 < begins.size() ? sizes.begin() + static_cast<std::ptrdiff_t>(begins[i + 1]) : sizes.end();
    double mean = 0;
    std::for_each(first, end, [&](std::int64_t size) { mean += static_cast<double>(size); });
    mean /= static_cast<double>(end - first);
    std::for_each(first, end, [&](std::int64_t size) { sum += std::pow(static_cast<double>(size) - mean, 2); });
  }
  return sum;
}

/// Of all staircases with at most so many stretches.
double min_distance(const Sizes& sizes, std::size_t most) {
  double least = std::numeric_limits<double>::infinity();
  for (unsigned borders = 0; borders < 1u << (sizes.size() - 1); ++borders) {
    std::vector<std::size_t> begins = {0};
    for (std::size_t i = 1; i < sizes.size(); ++i)
      if (borders >> (i - 1) & 1)
        begins.push_back(i);
    if (begins.size() <= most)
      least = std::min(least, distance(sizes, begins));
  }
  return least;
}

/// Whether a plan takes the steps of another. Where tails are dropped, a size that was decided on after the last step
/// may have ended the other one; the segments say nothing of that size, so that more steps may follow.
bool agrees(const Plan& plan, const Plan& other, bool drop_last) {
  if (plan.steps < other.steps || (plan.steps > other.steps && !drop_last))
    return false;
  for (const char* name : {"batch", "effective_batch", "examples_seen", "epoch_index"}) {
    std::vector<double> taken = values(plan, name);
    taken.resize(static_cast<std::size_t>(other.steps));
    if (taken != values(other, name))
      return false;
  }
  return true;
}

class RandomPlans {
public:
  explicit RandomPlans(std::mt19937_64& random) : random_(random) {}

  PlanRequest next() {
    ProgressionOptions o;
    o.sampler.ranks = below(4) + 1;
    o.sampler.examples = o.sampler.ranks + below(400);
    o.sampler.accumulate = below(3) + 1;
    if (below(4) == 0)
      o.sampler.effective_batch = 1 + below(o.sampler.examples);
    o.sampler.drop_last = below(3) == 0;
    const std::int64_t bound = data::largest_batch(o.sampler.examples, o.sampler.ranks);
    o.batch = 1 + below(std::min<std::int64_t>(bound, 20));
    if (below(3) == 0)
      o.max_batch = o.batch + below(30);
    const std::int64_t length = below(3);
    o.length.epochs = length == 0 ? std::optional(1 + below(4)) : std::nullopt;
    o.length.examples = length == 1 ? std::optional(1 + below(4 * o.sampler.examples)) : std::nullopt;
    o.length.steps = length == 2 ? std::optional(1 + below(300)) : std::nullopt;
    o.schedule = schedule(bound);
    PlanRequest result = request(o);
    for (std::int64_t after = below(40); below(3) != 0 && result.edits.size() < 4; after += below(40)) {
      PlanEdit edit{after, schedule(bound), std::nullopt};
      if (below(2) == 0)
        edit.batch = 1 + below(std::min(bound, o.max_batch.value_or(bound)));
      result.edits.push_back(edit);
    }
    return result;
  }

  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(bound));
  }

private:
  std::string number(std::int64_t lowest, std::int64_t count) { return std::to_string(lowest + below(count)); }

  std::string schedule(std::int64_t bound) {
    switch (below(8)) {
    case 0:
      return "constant";
    case 1:
      return "step:interval=" + number(1, 10) + ",increment=" + number(1, 4);
    case 2:
      return "linear:max=" + number(bound, 20) + ",steps=" + number(1, 100);
    case 3:
      return "exponential:max=" + number(bound, 20);
    case 4:
      return "piecewise:" + number(1, 20) + "=" + number(1, 30) + "," + number(21, 20) + "=" + number(1, 30);
    case 5:
      return "adabatch:factor=2,every=0." + number(2, 8);
    case 6:
      return "formula:1 + " + number(1, 30) + " * abs(sin(step * " + number(1, 97) + "))";
    default:
      return "formula:max(batch - 1, 1)";
    }
  }

  std::mt19937_64& random_;
};

} // namespace

class TestPlan : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void draws_the_known_trace();
  void is_what_the_loop_will_walk();
  void puts_edits_in_at_their_boundary();
  void lets_edits_beyond_the_end_be();
  void outlines_the_rest_only();
  void writes_a_piecewise_schedule();
  void changes_nothing_but_what_is_to_change();
  void knows_which_schedules_keep_their_place();
  void a_piecewise_schedule_does_what_its_outline_says();
  void finds_the_closest_staircase();
  void makes_even_steps_of_an_even_ramp();
  void leaves_a_jump_where_it_is();
  void bounds_the_outline_of_restless_plans();
  void stops_where_it_would_have_to_measure();
  void cuts_what_is_too_long();
  void says_how_many_steps_a_cut_plan_has();
  void cuts_steps_of_too_many_micro_batches();
  void ends_when_cancelled();
  void keeps_the_first_events();
  void refuses_what_a_run_would_refuse();
};

void TestPlan::draws_the_known_trace() {
  const Plan plan = *make_plan(request(options(10, 2, 1, "step:interval=5,increment=1", steps(14))));
  QCOMPARE(plan.steps, 14);
  QCOMPARE(plan.examples, 46);
  QCOMPARE(plan.epochs, 4.6);
  QVERIFY(!plan.cut && !plan.needs_feedback);
  QCOMPARE(batches(plan), (Sizes{1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3}));
  using Values = std::vector<double>;
  QCOMPARE(values(plan, "effective_batch"), (Values{2, 2, 2, 2, 2, 4, 4, 2, 4, 4, 2, 6, 4, 6}));
  QCOMPARE(values(plan, "train_coverage"), (Values{.2, .4, .6, .8, 1, .4, .8, 1, .4, .8, 1, .6, 1, .6}));
  QCOMPARE(values(plan, "epoch"), (Values{.2, .4, .6, .8, 1.0, 1.4, 1.8, 2.0, 2.4, 2.8, 3.0, 3.6, 4.0, 4.6}));
  QCOMPARE(values(plan, "epoch_index"), (Values{0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4}));
  QCOMPARE(values(plan, "learning_rate"), Values(14, 0.001));
  QVERIFY(std::isnan(values(plan, "loss").front()));
  QCOMPARE(plan.history->position(9, series::Axis::examples), std::optional(24.0));
  QCOMPARE(plan.outline.size(), std::size_t{3});
  QCOMPARE(plan.outline[1].first_step, 6);
  QCOMPARE(plan.outline[1].steps, 5);
  QCOMPARE(plan.outline[1].batch, 2);
  QVERIFY(plan.outline[1].exact);
  QCOMPARE(batches(plan.outline), batches(plan));
  const Plan alone = *make_plan(request(options(10, 1, 1, "step:interval=5,increment=1", epochs(4))));
  QCOMPARE(values(alone, "effective_batch"), (Values{1, 1, 1, 1, 1, 2, 2, 1, 2, 2, 3, 3, 3, 3, 3, 1, 4, 4, 2}));
}

void TestPlan::is_what_the_loop_will_walk() {
  std::mt19937_64 random(seed);
  RandomPlans plans(random);
  for (int number = 0; number < random_plans; ++number) {
    const PlanRequest asked = plans.next();
    const Plan plan = *make_plan(asked);
    const series::History& history = *plan.history;
    Progression progression(asked.options);
    std::size_t index = 0;
    bool same = true;
    while (true) {
      for (const PlanEdit& edit : asked.edits)
        if (edit.after_step == progression.steps_done())
          progression.edit(edit.schedule, edit.batch);
      const auto step = progression.next();
      if (!step)
        break;
      same = same && index < history.steps() && history.find("batch")->values[index] == double(step->batch) &&
             history.find("effective_batch")->values[index] == double(step->takes.examples) &&
             history.find("learning_rate")->values[index] == step->learning_rate &&
             history.find("accumulate")->values[index] == double(step->takes.accumulate) &&
             history.find("epoch")->values[index] == step->epoch &&
             history.find("train_coverage")->values[index] == step->train_coverage &&
             history.find("batch")->frame->x(series::Axis::examples)[index] == double(step->takes.seen_in_total);
      progression.done();
      ++index;
    }
    QVERIFY2(same && index == history.steps() && plan.steps == static_cast<std::int64_t>(index),
             qPrintable(QStringLiteral("case %1 of seed %2").arg(number).arg(seed)));
  }
}

void TestPlan::puts_edits_in_at_their_boundary() {
  const Plan plan =
      *make_plan(request(options(1000, 1, 4, "constant", steps(10)),
                         {{3, "step:interval=2,increment=1", 8}, {7, "constant", 1}, {7, "constant", 2}}));
  QCOMPARE(batches(plan), (Sizes{4, 4, 4, 8, 8, 9, 9, 2, 2, 2}));
  QCOMPARE(batches(*make_plan(request(options(1000, 1, 4, "constant", steps(3)), {{0, "piecewise:2=7", 5}}))),
           (Sizes{5, 5, 7}));
}

void TestPlan::lets_edits_beyond_the_end_be() {
  const Plan plan = *make_plan(request(options(100, 1, 10, "constant", epochs(1)), {{11, "nonsense", 8}}));
  QCOMPARE(batches(plan), Sizes(10, 10));
}

void TestPlan::outlines_the_rest_only() {
  PlanRequest asked = request(options(1000, 1, 1, "step:interval=5,increment=1", steps(14)));
  asked.outline_from = 8;
  const Plan plan = *make_plan(asked);
  QCOMPARE(plan.steps, 14);
  QCOMPARE(plan.outline.size(), std::size_t{2});
  QCOMPARE(plan.outline[0].first_step, 8);
  QCOMPARE(plan.outline[0].steps, 3);
  QCOMPARE(plan.outline[0].batch, 2);
  QCOMPARE(plan.outline[1].steps, 4);
  asked.outline_from = 15;
  QVERIFY(make_plan(asked)->outline.empty());
}

void TestPlan::writes_a_piecewise_schedule() {
  const std::vector<PlanSegment> segments = {
      {1, 100, 16, true}, {101, 50, 32, true}, {151, 9, 32, false}, {160, 1, 8, true}};
  QCOMPARE(piecewise_text(segments, 0), std::string("piecewise:0=16,100=32,159=8"));
  QCOMPARE(piecewise_text({{41, 7, 16, true}}, 40), std::string("piecewise:40=16"));
  QCOMPARE(piecewise_text({}, 40), std::string("constant"));
}

void TestPlan::changes_nothing_but_what_is_to_change() {
  const std::vector<PlanSegment> stretches = {{1, 4, 10, true}, {5, 4, 20, false}, {9, 2, 30, true}};
  QCOMPARE(batches(with_changes(stretches, {})), batches(stretches));
  QCOMPARE(batches(with_changes(stretches, {{3, 4, 7, true}})), (Sizes{10, 10, 7, 7, 7, 7, 20, 20, 30, 30}));
  QCOMPARE(batches(with_changes(stretches, {{1, 1, 7, true}, {6, 1, 8, true}, {9, 2, 9, true}})),
           (Sizes{7, 10, 10, 10, 20, 8, 20, 20, 9, 9}));
  QCOMPARE(batches(with_changes(stretches, {{1, 10, 7, true}})), Sizes(10, 7));
}

void TestPlan::knows_which_schedules_keep_their_place() {
  ProgressionOptions whole = options(1000, 1, 8, "", steps(60));
  for (const std::string schedule :
       {"constant", "piecewise:0=8,30=12", "formula:8 + step / 4", "formula:batch + 1", "step:interval=7,increment=3",
        "linear:max=40", "exponential:max=40,steps=50", "adabatch:factor=2,every=0.2"}) {
    whole.schedule = schedule;
    const Sizes sizes = batches(*make_plan(request(whole)));
    const Sizes again = batches(*make_plan(request(whole, {{20, schedule, sizes[20]}})));
    QVERIFY2((again == sizes) == depends_on_step_only(schedule), schedule.c_str());
  }
}

void TestPlan::a_piecewise_schedule_does_what_its_outline_says() {
  std::mt19937_64 random(seed);
  RandomPlans plans(random);
  for (int number = 0; number < random_plans; ++number) {
    PlanRequest asked = plans.next();
    asked.max_segments = 1'000'000;
    const bool drop_last = asked.options.sampler.drop_last;
    const std::int64_t length = make_plan(asked)->steps;
    const std::int64_t after = plans.below(length);
    asked.outline_from = after + 1;
    const Plan plan = *make_plan(asked);
    const std::string text = piecewise_text(plan.outline, after);
    const std::string which = "case " + std::to_string(number) + ", after " + std::to_string(after) + ": " + text;
    QVERIFY2(std::all_of(plan.outline.begin(), plan.outline.end(), [](const PlanSegment& s) { return s.exact; }),
             which.c_str());

    PlanRequest again = asked;
    std::erase_if(again.edits, [&](const PlanEdit& edit) { return edit.after_step > after; });
    again.edits.push_back({after, text, plan.outline.front().batch});
    const Plan same = *make_plan(again);
    QVERIFY2(agrees(same, plan, drop_last), which.c_str());

    if (after == 0) {
      PlanRequest from_start = request(asked.options);
      from_start.options.schedule = text;
      from_start.options.batch = plan.outline.front().batch;
      QVERIFY2(agrees(*make_plan(from_start), plan, drop_last), which.c_str());
    }
  }
}

void TestPlan::finds_the_closest_staircase() {
  std::mt19937_64 random(seed);
  for (int number = 0; number < random_plans; ++number) {
    Sizes sizes;
    for (std::size_t i = 0, count = 2 + random() % 9; i < count; ++i)
      sizes.push_back(1 + static_cast<std::int64_t>(random() % 12));
    const std::size_t most = 1 + random() % 5;
    const auto segments = outline_of(sizes, most);
    QVERIFY(segments.size() <= most);
    QCOMPARE(batches(segments).size(), sizes.size());
    std::vector<std::size_t> begins;
    for (const PlanSegment& segment : segments) {
      const auto first = sizes.begin() + (segment.first_step - 1);
      begins.push_back(static_cast<std::size_t>(segment.first_step - 1));
      const double sum = std::accumulate(first, first + segment.steps, 0.0);
      QCOMPARE(segment.batch, std::llround(sum / static_cast<double>(segment.steps)));
      QCOMPARE(segment.exact, std::count(first, first + segment.steps, *first) == segment.steps);
    }
    const double reached = distance(sizes, begins), least = min_distance(sizes, most);
    QVERIFY2(reached <= least + 1e-9,
             qPrintable(QStringLiteral("%1 > %2, case %3").arg(reached).arg(least).arg(number)));
  }
}

void TestPlan::makes_even_steps_of_an_even_ramp() {
  for (const std::int64_t max : {240, 4000}) {
    PlanRequest asked = request(options(100'000'000, 1, 1, "linear:max=" + std::to_string(max), steps(24'000)));
    const Plan plan = *make_plan(asked);
    QCOMPARE(plan.outline.size(), std::size_t{24});
    const Sizes sizes = batches(plan), drawn = batches(plan.outline);
    QCOMPARE(drawn.size(), sizes.size());
    for (const PlanSegment& segment : plan.outline) {
      QVERIFY(!segment.exact);
      QVERIFY2(std::abs(segment.steps - 1000) <= 150, std::to_string(segment.steps).c_str());
    }
    std::int64_t farthest = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      farthest = std::max(farthest, std::abs(sizes[i] - drawn[i]));
    QVERIFY2(farthest <= max / 24 * 6 / 10 + 1, std::to_string(farthest).c_str()); // half a step, and a little
  }
}

void TestPlan::leaves_a_jump_where_it_is() {
  // A wild middle between two long stretches: each jump stays exact, and so do the stretches.
  Sizes sizes(5000, 16);
  for (std::int64_t i = 0; i < 3000; ++i)
    sizes.push_back(200 + i % 7);
  sizes.insert(sizes.end(), 5000, 64);
  const auto segments = outline_of(sizes, 8);
  QVERIFY(segments.size() <= 8);
  QCOMPARE(segments.front().steps, 5000);
  QVERIFY(segments.front().exact);
  QCOMPARE(segments.front().batch, 16);
  QCOMPARE(segments.back().steps, 5000);
  QCOMPARE(segments.back().batch, 64);
  QCOMPARE(batches(segments).size(), sizes.size());
  const auto one = outline_of(sizes, 1);
  QCOMPARE(one.size(), std::size_t{1});
  QCOMPARE(one.front().steps, 13'000);
}

void TestPlan::bounds_the_outline_of_restless_plans() {
  for (const std::size_t most : {0, 1, 24, 100, 900}) {
    PlanRequest asked = request(
        options(100'000'000, 1, 1, "formula:1 + 500 * abs(sin(step / 3000)) + 20 * abs(sin(step * 7))", steps(30'000)));
    asked.max_segments = most;
    const Plan plan = *make_plan(asked);
    QCOMPARE(plan.outline.size(), std::max<std::size_t>(most, 1));
    const Sizes sizes = batches(plan), drawn = batches(plan.outline);
    QCOMPARE(drawn.size(), sizes.size());
    double error = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      error += std::pow(static_cast<double>(sizes[i] - drawn[i]), 2) / static_cast<double>(sizes.size());
    if (most >= 100)
      QVERIFY2(std::sqrt(error) < 14, std::to_string(std::sqrt(error)).c_str()); // the noise alone is 6
    // What is drawn can be put in as it is.
    PlanRequest again = asked;
    again.edits = {{0, piecewise_text(plan.outline, 0), plan.outline.front().batch}};
    QCOMPARE(batches(*make_plan(again)), drawn);
  }
}

void TestPlan::stops_where_it_would_have_to_measure() {
  const ProgressionOptions measuring = options(1000, 1, 8, "formula:16 / loss", steps(20));
  const Plan nothing = *make_plan(request(measuring));
  QVERIFY(nothing.needs_feedback);
  QCOMPARE(nothing.steps, 0);
  QVERIFY(nothing.outline.empty());
  QCOMPARE(nothing.history->steps(), std::size_t{0});

  const Plan some = *make_plan(request(options(1000, 1, 8, "constant", steps(20)), {{5, "formula:16 / loss", 4}}));
  QVERIFY(some.needs_feedback);
  QCOMPARE(some.steps, 5);
  QCOMPARE(batches(some.outline), Sizes(5, 8));

  const Plan replaced = *make_plan(request(measuring, {{0, "constant", std::nullopt}}));
  QVERIFY(!replaced.needs_feedback);
  QCOMPARE(replaced.steps, 20);
  // At the very end nothing is left to be measured.
  QVERIFY(
      !make_plan(request(options(1000, 1, 8, "constant", steps(20)), {{20, "formula:16 / loss", 4}}))->needs_feedback);
}

void TestPlan::cuts_what_is_too_long() {
  PlanRequest asked = request(options(1000, 1, 1, "constant", steps(100)));
  asked.max_steps = 99;
  const Plan cut = *make_plan(asked);
  QVERIFY(cut.cut);
  QCOMPARE(cut.steps, 99);
  QCOMPARE(cut.history->steps(), std::size_t{99});
  asked.max_steps = 100;
  QVERIFY(!make_plan(asked)->cut);
  QCOMPARE(make_plan(asked)->estimated_steps, 0.0);
}

void TestPlan::says_how_many_steps_a_cut_plan_has() {
  for (const bool drop_last : {false, true}) {
    PlanRequest asked = request(options(1003, 1, 8, "constant", epochs(3)));
    asked.options.sampler.drop_last = drop_last;
    const std::int64_t all = make_plan(asked)->steps;
    for (const std::int64_t cut : {1, 7, 130, 300}) {
      asked.max_steps = cut;
      QCOMPARE(make_plan(asked)->estimated_steps, static_cast<double>(all));
    }
    asked.options.length = {.epochs = {}, .examples = 2000, .steps = {}};
    asked.max_steps = 20;
    QCOMPARE(make_plan(asked)->estimated_steps, 250.0);
  }
  PlanRequest asked = request(options(std::numeric_limits<std::int64_t>::max(), 1, 1, "constant", epochs(1)));
  asked.max_steps = 10;
  QCOMPARE(make_plan(asked)->estimated_steps, 9223372036854775807.0);
}

void TestPlan::cuts_steps_of_too_many_micro_batches() {
  PlanRequest asked = request(options(1'000'000'000'000, 1, 1, "constant", steps(1'000'000)));
  asked.options.sampler.accumulate = 8'000'000;
  const Plan cut = *make_plan(asked);
  QVERIFY(cut.cut && cut.steps > 0 && cut.steps < 100);
  int questions = 0;
  QVERIFY(!make_plan(asked, [&] { return ++questions == 3; })); // and does not have to be waited for
}

void TestPlan::ends_when_cancelled() {
  const PlanRequest asked = request(options(1000, 1, 1, "constant", steps(1'000'000)));
  int questions = 0;
  QVERIFY(!make_plan(asked, [&] { return ++questions == 3; }));
  QCOMPARE(questions, 3);
  questions = 0;
  PlanRequest shorter = asked;
  shorter.options.length = steps(50'000);
  QCOMPARE(make_plan(shorter, [&] { return ++questions < 0; })->steps, 50'000);
  QVERIFY2(questions > 10, std::to_string(questions).c_str());
}

void TestPlan::keeps_the_first_events() {
  PlanRequest asked = request(options(8, 1, 2, "formula:8 + step", steps(5)));
  QCOMPARE(make_plan(asked)->events.size(), std::size_t{5});
  QCOMPARE(std::get<telemetry::Clamp>(make_plan(asked)->events[1].what).asked, 10);
  QCOMPARE(std::get<telemetry::Clamp>(make_plan(asked)->events[1].what).taken, 8);
  QCOMPARE(make_plan(asked)->events[1].step, 2);
  asked.options.length = steps(3000);
  QCOMPARE(make_plan(asked)->events.size(), std::size_t{1000});
}

void TestPlan::refuses_what_a_run_would_refuse() {
  const ProgressionOptions good = options(100, 2, 8, "constant", epochs(1));
  ProgressionOptions bad = good;
  bad.batch = 51;
  QVERIFY_THROWS_EXCEPTION(Error, make_plan(request(bad)));
  QVERIFY_THROWS_EXCEPTION(Error, make_plan(request(good, {{2, "nonsense", 8}})));
  QVERIFY_THROWS_EXCEPTION(Error, make_plan(request(good, {{2, "constant", 51}})));
}

BATCHSCOPE_TEST(TestPlan)
#include "tst_plan.moc"
