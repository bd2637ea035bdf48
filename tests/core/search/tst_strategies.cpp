#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include <QTest>

#include "core/base/error.h"
#include "core/search/finder.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::search;

namespace {

struct Search {
  std::string sequence; ///< sizes as semantics writes them: `128x` was refused
  std::vector<Probe> probes;
  std::optional<std::int64_t> largest;
  bool exact = false;
};

Search run(const std::string& strategy, std::int64_t capacity, const FinderOptions& options) {
  const auto finder = make_finder(strategy, options);
  SimulatedDevice trial(capacity);
  Search search;
  while (const auto proposal = finder->propose()) {
    const Probe probe = trial.run(*proposal);
    search.sequence += std::to_string(probe.batch) + (probe.outcome == Outcome::fits ? " " : "x ");
    search.probes.push_back(probe);
    finder->tell(probe);
    if (search.probes.size() > 10'000)
      break;
  }
  if (!search.sequence.empty())
    search.sequence.pop_back();
  search.largest = finder->largest();
  search.exact = finder->largest_is_exact();
  return search;
}

FinderOptions options(std::optional<std::int64_t> start, std::int64_t max_batch = 100'000) {
  FinderOptions result;
  result.start = start;
  result.max_batch = max_batch;
  return result;
}

const std::string classic[] = {"halving", "shrink", "doubling", "power", "binary"};

} // namespace

class StrategiesTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void followTheWorkedSequences_data() {
    QTest::addColumn<QString>("strategy");
    QTest::addColumn<int>("start");
    QTest::addColumn<int>("capacity");
    QTest::addColumn<QString>("sequence");
    QTest::addColumn<int>("largest");
    const auto row = [](const char* name, const char* strategy, int start, int capacity, const char* sequence,
                        int largest) { QTest::newRow(name) << strategy << start << capacity << sequence << largest; };
    row("shrink from 128", "shrink", 128, 8,
        "128x 115x 103x 92x 82x 73x 65x 58x 52x 46x 41x 36x 32x 28x 25x 22x 19x 17x 15x 13x 11x 9x 8", 8);
    row("binary from 2", "binary", 2, 100, "2 4 8 16 32 64 128x 96 112x 104x 100 102x 101x", 100);
    row("halving from 500", "halving", 500, 100, "500x 250x 125x 62", 62);
    row("halving from 64", "halving", 64, 1, "64x 32x 16x 8x 4x 2x 1", 1);
    row("doubling", "doubling", 8, 100, "8 16 32 64 128x 96", 96);
    row("doubling, half more refused", "doubling", 8, 90, "8 16 32 64 128x 96x", 64);
    row("power", "power", 2, 100, "2 4 8 16 32 64 128x", 64);
    // A start that does not fit goes down by halves, then on from there.
    row("doubling from above", "doubling", 64, 25, "64x 32x 16 24", 24);
    row("power from above", "power", 100, 30, "100x 50x 25", 25);
    row("binary from above", "binary", 100, 30, "100x 50x 25 37x 31x 28 29 30", 30);
    row("doubling down to 1", "doubling", 8, 1, "8x 4x 2x 1", 1);
    row("doubling down to 2", "doubling", 8, 2, "8x 4x 2 3x", 2);
    row("binary down to 1", "binary", 2, 1, "2x 1", 1);
    row("nothing fits, halving", "halving", 4, 0, "4x 2x 1x", 0);
    row("nothing fits, shrink", "shrink", 4, 0, "4x 3x 2x 1x", 0);
    row("nothing fits, doubling", "doubling", 8, 0, "8x 4x 2x 1x", 0);
    row("nothing fits, power", "power", 2, 0, "2x 1x", 0);
    row("nothing fits, binary", "binary", 2, 0, "2x 1x", 0);
  }
  void followTheWorkedSequences() {
    QFETCH(QString, strategy);
    QFETCH(int, start);
    QFETCH(int, capacity);
    QFETCH(QString, sequence);
    QFETCH(int, largest);
    const Search search = run(strategy.toStdString(), capacity, options(start));
    QCOMPARE(QString::fromStdString(search.sequence), sequence);
    QCOMPARE(search.largest.value_or(0), largest);
    QCOMPARE(search.largest.has_value(), largest > 0);
  }

  void sayWhetherTheyKnowTheLargest_data() {
    QTest::addColumn<QString>("strategy");
    QTest::addColumn<int>("start");
    QTest::addColumn<int>("capacity");
    QTest::addColumn<bool>("exact");
    const auto row = [](const char* strategy, int start, int capacity, bool exact) {
      QTest::addRow("%s from %d, capacity %d", strategy, start, capacity) << strategy << start << capacity << exact;
    };
    row("binary", 2, 100, true);
    row("predictive", 8, 100, true);
    // 129 to 205 were never run.
    row("halving", 128, 206, false);
    row("halving", 512, 206, false);
    row("shrink", 128, 100, false);
    row("doubling", 8, 100, false);
    row("power", 2, 100, false);
    // The size above it was refused.
    row("halving", 2, 1, true);
    row("shrink", 128, 8, true);
    row("doubling", 8, 2, true);
    row("power", 2, 1, true);
    // No larger one is allowed.
    for (const char* strategy : {"halving", "shrink", "doubling", "power", "binary", "predictive"})
      row(strategy, 256, 1000, true);
    // Nothing fits, so there is no largest.
    row("halving", 4, 0, false);
    row("binary", 4, 0, false);
    row("predictive", 4, 0, false);
  }
  void sayWhetherTheyKnowTheLargest() {
    QFETCH(QString, strategy);
    QFETCH(int, start);
    QFETCH(int, capacity);
    QFETCH(bool, exact);
    QCOMPARE(run(strategy.toStdString(), capacity, options(start, 256)).exact, exact);
  }

  void haveTheirOwnStarts() {
    const std::pair<const char*, std::int64_t> starts[] = {
        {"halving", 128}, {"shrink", 128}, {"doubling", 8}, {"power", 2}, {"binary", 2}};
    for (const auto& [strategy, start] : starts) {
      QCOMPARE(run(strategy, 1000, options({})).probes.front().batch, start);
      QCOMPARE(run(strategy, 1000, options({}, 1)).sequence, std::string("1"));
    }
  }

  void tryTheBoundWhereTheNextSizeWouldPassIt() {
    QCOMPARE(run("binary", 1000, options(2, 100)).sequence, std::string("2 4 8 16 32 64 100"));
    QCOMPARE(run("power", 1000, options(2, 100)).sequence, std::string("2 4 8 16 32 64 100"));
    QCOMPARE(run("doubling", 97, options(8, 100)).sequence, std::string("8 16 32 64 100x 96"));
    QCOMPARE(run("halving", 1000, options(500, 100)).sequence, std::string("100"));
    const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
    QCOMPARE(run("binary", huge, options(2, huge)).largest, std::optional(huge));
  }

  void keepTheirPromisesAtRandomCapacities() {
    const unsigned seed = 4711;
    std::mt19937_64 random(seed);
    for (int number = 0; number < 3000; ++number) {
      FinderOptions o;
      const auto capacity = static_cast<std::int64_t>(random() % (number % 3 == 0 ? 20 : 3000));
      o.max_batch = 1 + static_cast<std::int64_t>(random() % (number % 2 == 0 ? 30 : 5000));
      o.factor = 0.05 + static_cast<double>(random() % 900) / 1000;
      if (random() % 3 != 0)
        o.start = 1 + static_cast<std::int64_t>(random() % 6000);
      for (const std::string& strategy : classic) {
        const QByteArray problem = broken_promise(run(strategy, capacity, o), strategy, capacity, o.max_batch);
        QVERIFY2(problem.isEmpty(), qPrintable(QStringLiteral("%1, case %2 of seed %3: %4")
                                                   .arg(strategy.c_str())
                                                   .arg(number)
                                                   .arg(seed)
                                                   .arg(problem.constData())));
      }
    }
  }

  void endAtAnError() {
    for (const std::string& strategy : classic) {
      const auto finder = make_finder(strategy, options(64));
      Probe probe;
      probe.batch = finder->propose()->batch;
      probe.outcome = Outcome::error;
      finder->tell(probe);
      QVERIFY(!finder->propose());
      QVERIFY(!finder->largest());
    }
    const auto finder = make_finder("power", options(2));
    Probe probe;
    probe.batch = 2;
    finder->tell(probe);
    probe.batch = 4;
    probe.outcome = Outcome::error;
    finder->tell(probe);
    QVERIFY(!finder->propose());
    QCOMPARE(finder->largest(), std::optional<std::int64_t>(2));
  }

  void proposeTheSameUntilTold() {
    const auto finder = make_finder("binary", options(2));
    QCOMPARE(finder->propose()->batch, 2);
    QCOMPARE(finder->propose()->batch, 2);
    QCOMPARE(finder->name(), std::string("binary"));
  }

  void refuseBadOptions() {
    const double nan = std::nan("");
    const auto refused = [](const std::string& strategy, const FinderOptions& o, const char* word) {
      try {
        make_finder(strategy, o);
      } catch (const Error& e) {
        return e.kind() == Error::Kind::input && QString(e.what()).contains(word);
      }
      return false;
    };
    QVERIFY(refused("guess", options(2), "predictive, binary, power, doubling, halving, shrink"));
    QVERIFY(refused("binary", options(0), "start"));
    QVERIFY(refused("binary", options(2, 0), "max-batch"));
    for (double factor : {0.0, 1.0, -0.5, nan})
      QVERIFY(refused("shrink", {.start = {}, .factor = factor, .max_batch = 9, .budget_bytes = {}}, "factor"));
    for (double margin : {-0.1, 1.0, nan})
      QVERIFY(refused("shrink", {.start = {}, .max_batch = 9, .margin = margin, .budget_bytes = {}}, "margin"));
  }

  void findTheKnee() {
    QCOMPARE(knee({}), std::nullopt);
    QCOMPARE(knee({{1, 1, 10}, {2, 1, 50}, {4, 1, 96}, {8, 1, 100}, {16, 1, 99}}), std::optional<std::int64_t>(4));
    QCOMPARE(knee({{16, 1, 99}, {8, 1, 100}, {4, 1, 94}}), std::optional<std::int64_t>(8));
    QCOMPARE(knee({{4, 1, 50}, {8, 1, 100}}, 0.5), std::optional<std::int64_t>(4));
    QCOMPARE(knee({{4, 1, std::nan("")}, {8, 1, INFINITY}, {2, 1, 0}}), std::nullopt);
  }

  void leaveAMarginOfTheSize() {
    QCOMPARE(safe_without_memory(100, 0.2), 80);
    QCOMPARE(safe_without_memory(100, 0.9), 10);
    QCOMPARE(safe_without_memory(100, 0), 100);
    QCOMPARE(safe_without_memory(9, 0.2), 7);
    QCOMPARE(safe_without_memory(1, 0.5), 1);
    for (std::int64_t largest = 1; largest < 2000; ++largest)
      QCOMPARE(safe_without_memory(largest, 0.2), std::max<std::int64_t>(1, largest * 4 / 5));
  }

private:
  static QByteArray broken_promise(const Search& search, const std::string& strategy, std::int64_t capacity,
                                   std::int64_t max_batch) {
    std::set<std::int64_t> sizes;
    std::int64_t best = 0;
    for (const Probe& probe : search.probes) {
      if (probe.batch < 1 || probe.batch > max_batch)
        return "a size out of bounds";
      if (!sizes.insert(probe.batch).second)
        return "a size run twice";
      if (probe.outcome == Outcome::fits)
        best = std::max(best, probe.batch);
    }
    if (search.largest.value_or(0) != best)
      return "an answer that was not run";
    if (capacity == 0 && (search.largest || !sizes.contains(1)))
      return "no failure although nothing fits, or 1 not tried";
    if (capacity > 0 && !search.largest)
      return "no answer although 1 fits";
    if (strategy == "binary" && best != std::min(capacity, max_batch))
      return "not the exact largest";
    if (search.probes.size() > 200)
      return "too many probes";
    return {};
  }
};

BATCHSCOPE_TEST(StrategiesTest)
#include "tst_strategies.moc"
