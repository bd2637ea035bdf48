#include "core/compare/answer.h"

#include <algorithm>
#include <random>

#include <QTest>

#include "core/base/error.h"
#include "core/compare/table.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::compare;

namespace {

struct Result {
  std::int64_t batch;
  int seed;
  double accuracy;
  double rate = 1000;
};

ComparedRun run_with(const Result& result, std::int64_t id) {
  ComparedRun run;
  run.row.id = id;
  run.row.outcome.status = telemetry::RunStatus::finished;
  run.row.outcome.batch = result.batch;
  run.row.outcome.examples_per_second = result.rate;
  run.row.outcome.seconds = 10'000 / result.rate;
  run.row.outcome.validation_accuracy = result.accuracy;
  run.spec = {{"name", "run " + std::to_string(id)}, {"batch", result.batch}, {"seed", result.seed}, {"lr", nullptr}};
  run.accuracies = {{run.row.outcome.seconds / 2, result.accuracy - 0.05}, {run.row.outcome.seconds, result.accuracy}};
  return run;
}

Comparison runs_with(const std::vector<Result>& results) {
  std::vector<ComparedRun> runs;
  for (const Result& result : results)
    runs.push_back(run_with(result, static_cast<std::int64_t>(runs.size()) + 1));
  return Comparison(std::move(runs));
}

QString text_of(const Comparison& runs, const std::string& goal = "accuracy") {
  return QString::fromStdString(answer(runs, parse_goal(goal, "--goal")).text);
}

} // namespace

class TestAnswer : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void repeatsTellSettingsApart();
  void oneSeedIsOneRepeat();
  void smallerWinsWhatCannotBeToldApart();
  void oneRunOfEachSaysSo();
  void aSingleRunMayBeLucky();
  void speedIsOfOtherBatchSizes();
  void throughputIsTheKnee();
  void disturbedRunsDoNotTellSpeeds();
  void timeToATarget();
  void someSeedsReachTheTarget();
  void withinATime();
  void whatIsMissingIsSaid();
  void goals();
  void rarelyWrong_data();
  void rarelyWrong();
  void fewSeedsTellLargeDifferencesApart();
  void tables();
};

/// The first run of batch size 32 was disturbed: it says 150 examples/s, where 1,400 is right.
void TestAnswer::disturbedRunsDoNotTellSpeeds() {
  const auto disturb = [](const Comparison& calm, const std::vector<std::size_t>& which) {
    std::vector<ComparedRun> runs = calm.runs;
    for (const std::size_t run : which)
      runs[run].row.outcome.disturbed = 0.6;
    return Comparison(std::move(runs));
  };
  const auto runs = runs_with({{32, 1, 0.95, 150},
                               {32, 2, 0.952, 1400},
                               {64, 1, 0.98, 2400},
                               {64, 2, 0.983, 2380},
                               {8, 1, 0.9, 900},
                               {8, 2, 0.9, 900}});
  QVERIFY(text_of(runs).contains("It trains 3.1 times as fast as batch size 32."));
  const QString one = text_of(disturb(runs, {0}));
  QVERIFY2(one.contains("It trains 2.7 times as fast as batch size 8."), qPrintable(one));
  QVERIFY2(one.contains("Other work on the machine disturbed 1 run; its speed does not count."), qPrintable(one));
  const Answer fast = compare::answer(disturb(runs, {0}), parse_goal("throughput", "--goal"));
  QCOMPARE(fast.batch, std::optional<std::int64_t>(64));
  const auto of_32 = std::find_if(fast.standings.begin(), fast.standings.end(),
                                  [](const Standing& standing) { return standing.group.batch == 32; });
  QCOMPARE(of_32->results, (std::vector<double>{1400}));

  const QString all = text_of(disturb(runs, {0, 1, 2, 3, 4, 5}));
  QVERIFY2(!all.contains("times as fast"), qPrintable(all));
  QVERIFY2(
      all.contains("Other work on the machine disturbed 6 runs, and speeds of one setting vary 9.3-fold, so speeds "
                   "are not compared."),
      qPrintable(all));
  const Answer unsure = compare::answer(disturb(runs, {0, 1, 2, 3, 4, 5}), parse_goal("throughput", "--goal"));
  QVERIFY(!unsure.certain());
  QVERIFY(unsure.text.find("train again when the machine is less busy") != std::string::npos);
  QCOMPARE(QString::fromStdString(unsure.basis), "Goal: throughput. From 6 runs.");
}

void TestAnswer::repeatsTellSettingsApart() {
  const auto runs = runs_with({{16, 1, 0.951},
                               {16, 2, 0.952},
                               {16, 3, 0.950},
                               {64, 1, 0.981},
                               {64, 2, 0.983},
                               {64, 3, 0.981},
                               {256, 1, 0.970},
                               {256, 2, 0.971},
                               {256, 3, 0.969}});
  const Answer answer = compare::answer(runs, {});
  QCOMPARE(answer.headline, std::string("Batch size 64"));
  QVERIFY(answer.certain());
  QCOMPARE(answer.runs, (std::vector<std::int64_t>{4, 5, 6}));
  QCOMPARE(QString::fromStdString(answer.text),
           QString("Batch size 64: the best validation accuracy, 98.17 % ± 0.29 over 3 seeds."));
  QCOMPARE(answer.standings.size(), std::size_t{3});
  QCOMPARE(answer.standings[1].group.label(), std::string("batch size 256"));
}

/// The same training twice shows nothing about other seeds; its times do differ.
void TestAnswer::oneSeedIsOneRepeat() {
  const auto runs = runs_with({{16, 1, 0.95, 900}, {16, 1, 0.95, 910}, {64, 1, 0.97, 990}, {64, 1, 0.97, 1010}});
  const Answer answer = compare::answer(runs, {});
  QCOMPARE(QString::fromStdString(answer.text).section(". ", 0, 0), QString("Batch size 64: the best validation "
                                                                            "accuracy, 97.00 %"));
  QVERIFY2(answer.text.find("Only one seed each, so the spread between seeds is unknown") != std::string::npos,
           answer.text.c_str());
  QVERIFY(!answer.certain());
  QVERIFY2(text_of(runs, "throughput").contains("1,000 examples/s ± 127 over 2 runs"),
           qPrintable(text_of(runs, "throughput")));
  QVERIFY2(text_of(runs, "throughput").contains("With two runs of each, only large differences are significant"),
           qPrintable(text_of(runs, "throughput")));
}

void TestAnswer::smallerWinsWhatCannotBeToldApart() {
  const auto runs = runs_with({{16, 1, 0.90},
                               {16, 2, 0.91},
                               {16, 3, 0.90},
                               {32, 1, 0.980, 500},
                               {32, 2, 0.984, 500},
                               {32, 3, 0.981, 500},
                               {64, 1, 0.982},
                               {64, 2, 0.981},
                               {64, 3, 0.984}});
  const Answer answer = compare::answer(runs, {});
  QCOMPARE(answer.headline, std::string("Batch size 32"));
  QVERIFY(!answer.certain());
  QVERIFY2(QString::fromStdString(answer.text)
               .startsWith("Batch size 32: validation accuracy 98.2 % ± 0.5 over 3 seeds, the smallest batch size that "
                           "shows no clear difference from the best, batch size 64 (98.2 % ± 0.4 over 3 seeds)."),
           answer.text.c_str());
}

void TestAnswer::oneRunOfEachSaysSo() {
  const auto runs = runs_with({{16, 1, 0.95}, {32, 1, 0.97}, {64, 1, 0.96}});
  QCOMPARE(text_of(runs), QString("Batch size 32: the best validation accuracy, 97.00 %. Only one run each, so "
                                  "the spread between seeds is unknown."));
  QVERIFY(!answer(runs, {}).certain());
}

void TestAnswer::aSingleRunMayBeLucky() {
  std::vector<Result> results = {{16, 1, 0.950}, {32, 1, 0.960}, {32, 2, 0.970}, {64, 1, 0.972}};
  const Answer answer = compare::answer(runs_with(results), {});
  QCOMPARE(answer.headline, std::string("Batch size 32"));
  QVERIFY2(QString::fromStdString(answer.text)
               .startsWith("Batch size 32: the best validation accuracy, 96.5 % ± 6.4 over 2 seeds. "
                           "Batch size 64 has 97.20 %, but in one run only."),
           answer.text.c_str());
  QVERIFY(answer.certainty == Certainty::unknown);
  QCOMPARE(answer.standings[1].group.label(), std::string("batch size 64"));
  // A value that no further run of the others is likely to have is no luck.
  results = {{32, 1, 0.600}, {32, 2, 0.605}, {32, 3, 0.603}, {64, 1, 0.990}};
  QCOMPARE(compare::answer(runs_with(results), {}).headline, std::string("Batch size 64"));
}

/// Of two learning rates at one batch size neither trains faster: the slower run was disturbed.
void TestAnswer::speedIsOfOtherBatchSizes() {
  std::vector<ComparedRun> runs{run_with({64, 1, 0.97, 1000}, 1), run_with({64, 1, 0.95, 300}, 2)};
  runs[1].spec["lr"] = 0.01;
  QVERIFY(!text_of(Comparison(runs)).contains("times as fast"));
  runs.push_back(run_with({16, 1, 0.96, 500}, 3));
  QVERIFY2(text_of(Comparison(runs)).contains("It trains 2.0 times as fast as batch size 16"),
           qPrintable(text_of(Comparison(runs))));
}

void TestAnswer::throughputIsTheKnee() {
  const auto runs = runs_with({{16, 1, 0.9, 500}, {32, 1, 0.9, 970}, {64, 1, 0.9, 1000}, {128, 1, 0.9, 990}});
  const QString text = text_of(runs, "throughput");
  QVERIFY2(
      text.startsWith("Batch size 32: throughput 970 examples/s, the smallest batch size that is within 5 % of the "
                      "best, batch size 64 (1,000 examples/s)."),
      qPrintable(text));
}

void TestAnswer::timeToATarget() {
  const auto runs = runs_with({{16, 1, 0.97, 100}, {32, 1, 0.96, 500}, {64, 1, 0.90, 1000}});
  const QString text = text_of(runs, "target:95%");
  QVERIFY2(text.startsWith("Batch size 32: the best time to a validation accuracy of 95.00 %, 0:20."),
           qPrintable(text));
  QVERIFY(text.contains("1 combination has no result for this goal"));
  QVERIFY(!text.contains("not tried")); // 64 was, in vain
  QVERIFY(text_of(runs, "target:99%").startsWith("No run reaches a validation accuracy of 99.00 %"));
}

/// 16 is the fastest, with one lucky seed of three; 32 always arrives.
void TestAnswer::someSeedsReachTheTarget() {
  const auto runs = runs_with({{16, 1, 0.96, 1000},
                               {16, 2, 0.90, 1000},
                               {16, 3, 0.90, 1000},
                               {32, 1, 0.96, 500},
                               {32, 2, 0.96, 510},
                               {32, 3, 0.96, 520}});
  const Answer answer = compare::answer(runs, parse_goal("target:95%", "--goal"));
  QVERIFY2(QString::fromStdString(answer.text).startsWith("Batch size 32: the best time to a validation accuracy of"),
           answer.text.c_str());
  QVERIFY(!answer.certain());
  QCOMPARE(answer.standings[1].text, std::string("10.0 s in 1 of 3 runs"));
}

void TestAnswer::withinATime() {
  const auto runs = runs_with({{16, 1, 0.99, 100}, {32, 1, 0.97, 500}, {64, 1, 0.90, 1000}});
  // After 50 s, half of its time, 16 is at 94 %; 32 has ended with 97 %.
  const QString text = text_of(runs, "time:60s");
  QVERIFY2(text.startsWith("Batch size 32: the best validation accuracy within 1:00, 97.00 %."), qPrintable(text));
}

void TestAnswer::whatIsMissingIsSaid() {
  auto runs = runs_with({{16, 1, 0.95}, {32, 1, 0.97}, {64, 1, 0.96}});
  runs.runs[2].row.outcome.status = telemetry::RunStatus::running;
  runs.runs[0].row.workers = 2;
  QVERIFY2(text_of(runs).contains("Larger batch sizes than 32 were not tried. Still open: 1 run."),
           qPrintable(text_of(runs)));
  QVERIFY(text_of(runs, "throughput")
              .contains("1 run trained at the same time as others, so their times are not comparable."));
  auto others = runs.runs;
  others[0].spec["data"] = "csv:other.csv,target=y";
  others[1].spec["data"] = others[2].spec["data"] = "demo";
  QVERIFY(text_of(Comparison(others)).endsWith("different data, so their scores may not be comparable."));
  QVERIFY(!text_of(Comparison(others), "throughput").contains("different data"));
  for (ComparedRun& run : runs.runs)
    run.row.outcome.status = telemetry::RunStatus::failed;
  QCOMPARE(text_of(runs), QString("No answer yet: none of the runs has finished."));
  runs = runs_with({{16, 1, 0.95}, {16, 2, 0.97}});
  QVERIFY2(text_of(runs).startsWith(
               "No answer: all of the runs have the same settings. Validation accuracy: 96.0 % ± 12.7 over 2 seeds"),
           qPrintable(text_of(runs)));
}

void TestAnswer::goals() {
  QVERIFY(parse_goal("target:0.97", "--goal").value == 0.97);
  QVERIFY(parse_goal("time:2min", "--goal").value == 120);
  for (const char* text :
       {"", "speed", "target", "target:", "target:x", "target:120%", "time:0", "time:-1", "accuracy:1", "time:NaN"})
    QVERIFY_EXCEPTION_THROWN(parse_goal(text, "--goal"), Error);
}

void TestAnswer::rarelyWrong_data() {
  QTest::addColumn<double>("range"); // of the true accuracies
  QTest::addColumn<double>("odd");   // spread of one of the sizes, relative to the others
  QTest::newRow("sizes that differ") << 0.01 << 1.0;
  QTest::newRow("one size that spreads more") << 0.01 << 5.0;
  QTest::newRow("hardly any difference") << 1e-6 << 1.0;
  QTest::newRow("hardly any difference, one size that spreads less") << 1e-6 << 0.1;
}

/// Sweeps of five sizes whose true accuracies are known, with repeats that differ by chance: the true best is neither
/// chosen nor named as one that cannot be told apart in at most 5 % of them.
void TestAnswer::rarelyWrong() {
  QFETCH(double, range);
  QFETCH(double, odd);
  std::mt19937_64 random(11);
  std::normal_distribution<double> noise(0, 1);
  std::uniform_real_distribution<double> uniform(0, 1);
  int wrong = 0;
  int certain = 0;
  constexpr int sweeps = 1000;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    const int seeds = 3 + sweep % 4;
    const double spread = sweep % 3 == 0 ? 0.02 : 0.002;
    std::vector<double> truth;
    for (int size = 0; size < 5; ++size)
      truth.push_back(0.95 + range * uniform(random));
    std::vector<Result> results;
    for (int seed = 0; seed < seeds; ++seed) {
      const double shared = noise(random) * spread; // a seed is good or bad for all sizes
      for (int size = 0; size < 5; ++size)
        results.push_back({8 << size, seed,
                           truth[static_cast<std::size_t>(size)] + shared +
                               noise(random) * spread / 2 * (size == sweep % 5 ? odd : 1)});
    }
    const Answer answer = compare::answer(runs_with(results), {});
    const auto best = std::max_element(truth.begin(), truth.end()) - truth.begin();
    const bool named = std::any_of(answer.standings.begin(), answer.standings.end(), [&](const Standing& standing) {
      return standing.same_as_best && *standing.group.batch == 8 << best;
    });
    wrong += named ? 0 : 1;
    certain += answer.certain() ? 1 : 0;
  }
  qInfo("%d of %d wrong, %d certain", wrong, sweeps, certain);
  QVERIFY(wrong <= sweeps / 20);
  if (range > 1e-3)
    QVERIFY(certain > 0); // it does not merely say that nothing can be told
}

/// Accuracies of a real sweep: eight settings with three seeds each. Compared pair by pair, with two degrees of freedom
/// and corrected for seven comparisons, none of them would be told apart from the best.
void TestAnswer::fewSeedsTellLargeDifferencesApart() {
  const double measured[][3] = {{0.9630, 0.9375, 0.9715}, {0.9585, 0.9615, 0.9555}, {0.9690, 0.9460, 0.9755},
                                {0.9585, 0.9380, 0.9605}, {0.9365, 0.9680, 0.9595}, {0.9200, 0.9450, 0.9400},
                                {0.9330, 0.9530, 0.9600}, {0.8795, 0.8995, 0.8955}};
  std::vector<Result> results;
  for (int setting = 0; setting < 8; ++setting)
    for (int seed = 0; seed < 3; ++seed)
      results.push_back({8 << setting, seed, measured[setting][seed]});
  const Answer answer = compare::answer(runs_with(results), {});
  QCOMPARE(answer.standings.back().group.batch, std::optional<std::int64_t>(8 << 7));
  QVERIFY(!answer.standings.back().same_as_best);
  QVERIFY(answer.standings[1].same_as_best);
}

void TestAnswer::tables() {
  auto runs = runs_with({{16, 1, 0.95}, {32, 1, 0.97, 1200}});
  runs.runs[0].row.outcome.peak_bytes = 50'000'000;
  runs.runs[1].row.outcome.peak_bytes = 75'000'000;
  const auto differing = setting_columns(runs.runs, runs.settings.differing);
  QCOMPARE(differing.size(), std::size_t{1});
  QCOMPARE(title(differing[0]), std::string("batch size"));
  const auto same = setting_columns(runs.runs, runs.settings.same);
  QCOMPARE(same.size(), std::size_t{2}); // seed and lr; the name is no setting
  for (const Column& column : metric_columns(runs)) {
    if (column.key == "peak_bytes") {
      QCOMPARE(compare::text(column, 1), std::string("75.0 MB"));
      QCOMPARE(difference_text(column, 1, 0), std::string("+50.0 %"));
    }
    if (column.key == "validation_accuracy") {
      QCOMPARE(compare::text(column, 0), std::string("95.00 %"));
      QCOMPARE(difference_text(column, 1, 0), std::string("+2.00 points"));
    }
    QVERIFY(column.key != "reason"); // nobody has one
  }
}

BATCHSCOPE_TEST(TestAnswer)
#include "tst_answer.moc"
