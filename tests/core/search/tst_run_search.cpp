#include "core/search/run_search.h"

#include <cmath>
#include <map>
#include <set>

#include <QTest>

#include "core/base/error.h"
#include "core/search/throughput.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::search;

namespace {

constexpr std::uint64_t budget = 1'000'000;

/// A pretended device of which 10,000 bytes go with each example; single sizes can be made to go wrong.
class Device final : public Trial {
public:
  Probe run(const Proposal& proposal) override {
    Probe probe;
    probe.batch = proposal.batch;
    const auto bytes = static_cast<std::uint64_t>(10'000 * proposal.batch);
    if (bytes > budget)
      probe.outcome = Outcome::out_of_memory;
    else
      probe.peak_bytes = bytes;
    if (const auto found = wrong.find(proposal.batch); found != wrong.end()) {
      probe.outcome = found->second;
      probe.message = probe.outcome == Outcome::error ? "no kernel" : "";
      probe.peak_bytes.reset();
    }
    if (unmeasured.contains(proposal.batch))
      probe.peak_bytes.reset();
    if (probe.peak_bytes && unused > 0)
      probe.reserved_bytes = static_cast<std::uint64_t>((1 + unused) * static_cast<double>(*probe.peak_bytes));
    return probe;
  }

  /// With an error, from a size downwards as far as others are tried in its place.
  void fails_from(std::int64_t batch) {
    for (const std::int64_t below : {0, 1, 2})
      wrong[batch - below] = Outcome::error;
  }

  std::map<std::int64_t, Outcome> wrong;
  std::set<std::int64_t> unmeasured;
  double unused = 0; ///< of the allocator's memory, in the place of each byte of tensors
};

/// Runs 16 and 900, of which 900 needs the whole budget; its predictions, if any, are a line from none at none to 98 %.
class TwoSizes final : public Finder {
public:
  explicit TwoSizes(bool predicts) : predicts_(predicts) {}
  std::string name() const override { return "two"; }
  std::optional<Proposal> propose() override {
    return told_ < 2 ? std::optional(Proposal{.batch = told_ == 0 ? 16 : 900}) : std::nullopt;
  }
  void tell(const Probe& probe) override {
    ++told_;
    largest_ = probe.batch;
  }
  std::optional<std::int64_t> largest() const override { return largest_; }
  bool largest_is_exact() const override { return true; }
  std::optional<std::uint64_t> predict(std::int64_t batch) const override {
    return predicts_ ? std::optional(static_cast<std::uint64_t>(0.98 * budget * static_cast<double>(batch) / 900))
                     : std::nullopt;
  }

private:
  bool predicts_;
  int told_ = 0;
  std::optional<std::int64_t> largest_;
};

/// A device whose peaks grow with a power of the batch size, up to the budget at 900.
class CurvedDevice final : public Trial {
public:
  explicit CurvedDevice(double power) : power_(power) {}
  Probe run(const Proposal& proposal) override {
    Probe probe;
    probe.batch = proposal.batch;
    probe.peak_bytes = static_cast<std::uint64_t>(budget * std::pow(static_cast<double>(proposal.batch) / 900, power_));
    return probe;
  }

private:
  double power_;
};

/// Is stopped after so many trials.
class Stopped final : public Trial {
public:
  explicit Stopped(std::size_t runs) : left_(runs) {}
  Probe run(const Proposal& proposal) override {
    if (stops())
      throw Error(Error::Kind::failed, "stopped");
    --left_;
    return device_.run(proposal);
  }
  bool stops() const { return left_ == 0; }

private:
  Device device_;
  std::size_t left_;
};

struct Told {
  SearchResult result;
  std::vector<std::int64_t> probes; ///< batches that on_probe heard of
};

Told search_on(Device& device, const std::string& strategy) {
  const FinderOptions options{.max_batch = 5000, .margin = 0.2, .budget_bytes = budget};
  const auto finder = make_finder(strategy, options);
  Told told;
  told.result = run_search(*finder, device, options, [&](const Probe& probe) { told.probes.push_back(probe.batch); });
  return told;
}

std::vector<std::int64_t> batches(const SearchResult& result) {
  std::vector<std::int64_t> all;
  for (const auto* runs : {&result.probes, &result.checks})
    for (const Probe& probe : *runs)
      all.push_back(probe.batch);
  return all;
}

} // namespace

class TestDrive : public QObject {
  Q_OBJECT

private Q_SLOTS:
  /// A margin is one of the device's memory, of which the allocator leaves some unused between tensors.
  void theSafeSizeCountsWhatIsReserved() {
    for (const char* strategy : {"predictive", "binary"}) {
      Device device;
      QCOMPARE(search_on(device, strategy).result.safe, std::optional<std::int64_t>(80));
      device.unused = 0.25;
      const auto safe = search_on(device, strategy).result.safe;
      QVERIFY2(safe && *safe <= 64 && *safe >= 60, qPrintable(QString::number(safe.value_or(0))));
    }
  }

  void tellsEveryRun() {
    Device device;
    const Told told = search_on(device, "binary");
    QCOMPARE(told.result.largest, std::optional<std::int64_t>(100));
    QCOMPARE(told.result.safe, std::optional<std::int64_t>(80));
    QVERIFY(!told.result.checks.empty());
    QCOMPARE(told.probes, batches(told.result));
    QCOMPARE(told.result.reason, std::string());
  }

  /// Sizes above the largest cannot be run, whatever is known of it.
  void theSafeSizeIsAtMostTheLargest() {
    Device device;
    device.unmeasured = {100, 101};
    const Told told = search_on(device, "binary");
    QCOMPARE(told.result.largest, std::optional<std::int64_t>(100));
    QVERIFY(!told.result.checks.empty());
    for (const Probe& check : told.result.checks)
      QVERIFY2(check.batch <= 100, qPrintable(QString::number(check.batch)));
    QVERIFY(told.result.safe && *told.result.safe > 64 && *told.result.safe <= 80);
    QCOMPARE(told.result.reason, std::string());
  }

  void anErrorEndsTheChecks() {
    Device device;
    const std::int64_t first = search_on(device, "binary").result.checks.front().batch;
    device.fails_from(first);
    const Told told = search_on(device, "binary");
    QCOMPARE(told.result.checks.size(), std::size_t{1});
    QCOMPARE(told.probes.back(), first);
    // The largest size that was run within the margin.
    QCOMPARE(told.result.safe, std::optional<std::int64_t>(64));
    QVERIFY(told.result.reason.find("no kernel") != std::string::npos);
  }

  void aCheckOutOfMemoryIsTriedSmaller() {
    Device device;
    const std::int64_t first = search_on(device, "binary").result.checks.front().batch;
    device.wrong[first] = Outcome::out_of_memory;
    const Told told = search_on(device, "binary");
    QCOMPARE(told.result.checks.front().batch, first);
    QVERIFY(told.result.checks.size() > 1);
    QVERIFY(told.result.safe && *told.result.safe > 64 && *told.result.safe < first);
  }

  /// Where steps of one size take different memory, a size that failed is above every safe one, and said to have
  /// failed.
  void aSmallerSizeThatFailsIsSaid() {
    Device device;
    const std::int64_t check = search_on(device, "binary").result.checks.front().batch;
    device.wrong[check] = Outcome::out_of_memory;
    const SearchResult result = search_on(device, "binary").result;
    QCOMPARE(result.largest, std::optional<std::int64_t>(100));
    QVERIFY(!result.largest_is_exact);
    QVERIFY2(result.reason.find("although 100 fitted") != std::string::npos, result.reason.c_str());

    SearchResult varied{.largest = 100, .budget_bytes = budget};
    varied.probes = {{.batch = 40, .peak_bytes = 500'000},
                     {.batch = 60, .peak_bytes = 850'000},
                     {.batch = 80, .peak_bytes = 700'000},
                     {.batch = 100, .peak_bytes = 990'000}};
    QCOMPARE(safe_size(varied, 0.2), std::optional<std::int64_t>(40));
    varied.probes[1].outcome = Outcome::out_of_memory;
    QCOMPARE(safe_size(varied, 0.2), std::optional<std::int64_t>(40));
    varied.probes[1] = {.batch = 60, .peak_bytes = 600'000};
    QCOMPARE(safe_size(varied, 0.2), std::optional<std::int64_t>(80));
  }

  /// Three guesses that are a little too large must not leave a size far below the largest.
  void peaksThatAreNotLinearHaveASafeSize_data() {
    QTest::addColumn<double>("power");
    QTest::addColumn<bool>("predicts");
    for (const bool predicts : {false, true})
      for (const double power : {0.3, 0.5, 0.8, 1.0, 1.5})
        QTest::addRow("%g %s", power, predicts ? "predicted linear" : "not predicted") << power << predicts;
  }
  void peaksThatAreNotLinearHaveASafeSize() {
    QFETCH(double, power);
    QFETCH(bool, predicts);
    const FinderOptions options{.max_batch = 900, .margin = 0.2, .budget_bytes = budget};
    TwoSizes finder(predicts);
    CurvedDevice device(power);
    const SearchResult result = run_search(finder, device, options);
    const auto best = static_cast<std::int64_t>(900 * std::pow(0.8, 1 / power));
    QVERIFY(result.safe);
    QVERIFY2(*result.safe <= best && *result.safe > best / 2, qPrintable(QString::number(*result.safe)));
  }

  void saysWhereAnErrorEndedTheSearch_data() {
    QTest::addColumn<QString>("strategy");
    QTest::newRow("binary") << "binary";
    QTest::newRow("power") << "power";
    QTest::newRow("doubling") << "doubling";
  }
  void saysWhereAnErrorEndedTheSearch() {
    QFETCH(QString, strategy);
    Device device;
    device.fails_from(64);
    const SearchResult result = search_on(device, strategy.toStdString()).result;
    QVERIFY(result.found);
    QCOMPARE(result.largest, std::optional<std::int64_t>(32));
    QCOMPARE(result.probes.back().batch, std::int64_t{64});
    QVERIFY2(result.reason.find("64") != std::string::npos, result.reason.c_str());
    QVERIFY2(result.reason.find("no kernel") != std::string::npos, result.reason.c_str());
  }

  void aSizeThatFailsForAnotherReasonIsLeftOut() {
    Device device;
    device.wrong[96] = Outcome::error;
    const SearchResult result = search_on(device, "binary").result;
    QCOMPARE(result.largest, std::optional<std::int64_t>(100));
    QVERIFY(result.largest_is_exact);
    QCOMPARE(result.left_out.size(), std::size_t{1});
    QCOMPARE(result.left_out.front().batch, std::int64_t{96});
    QCOMPARE(result.reason, std::string("batch size 96 is left out: no kernel"));
    device.wrong[64] = Outcome::error; // that is tried again and again
    QCOMPARE(search_on(device, "power").result.largest, std::optional<std::int64_t>(63));
  }

  void tellsWhetherTheLargestIsKnown() {
    Device device;
    QVERIFY(search_on(device, "binary").result.largest_is_exact);
    const SearchResult halved = search_on(device, "halving").result;
    QCOMPARE(halved.largest, std::optional<std::int64_t>(64));
    QVERIFY(!halved.largest_is_exact);
    QVERIFY(to_json(halved).find("\"largest_is\":\"tried\"") != std::string::npos);
    device.fails_from(96);
    const SearchResult ended_early = search_on(device, "binary").result;
    QVERIFY(ended_early.largest && !ended_early.largest_is_exact);
  }

  void jsonKeepsEverything() {
    Device device;
    device.wrong[96] = Outcome::error;
    SearchResult result = search_on(device, "binary").result;
    result.recommended = 32;
    result.automatic = 21;
    result.baseline_bytes = 12'345;
    result.seconds = 1.5;
    result.timings = {{.batch = 32,
                       .seconds = 0.01,
                       .examples_per_second = 3200,
                       .slowest = 3000,
                       .fastest = 3300,
                       .stretches = 5,
                       .uncertainty = 0.02}};
    result.memory = predict::PeakCurve::from_json(
        R"({"error":0.01,"points":[[1,100,110,1,2,3,4,5,85],[64,6400,7000,1,2,3,4,5,6385]]})");
    Device evaluated;
    result.evaluation = std::make_shared<const SearchResult>(search_on(evaluated, "binary").result);
    const std::string text = to_json(result);
    QCOMPARE(to_json(search_result_from_json(text)), text);
    QCOMPARE(search_result_from_json(text).evaluation->largest, result.evaluation->largest);
  }

  void readsWhatEarlierVersionsStored() {
    const SearchResult result = search_result_from_json(
        R"({"strategy":"halving","status":"found","largest":128,"safe":128,"recommended":null,"reason":"","probes":
           [{"batch":128,"outcome":"fits","peak_bytes":1000}],"timings":[{"batch":8,"examples_per_second":100}]})");
    QVERIFY(result.found && !result.largest_is_exact && !result.automatic && !result.recommended);
    QCOMPARE(result.probes.front().peak_bytes, std::optional<std::uint64_t>(1000));
    QCOMPARE(result.timings.front().fastest, 100.0);
    QCOMPARE(result.timings.front().stretches, 1);
    for (const char* wrong : {"", "[]", "3", "{"})
      QVERIFY_EXCEPTION_THROWN(search_result_from_json(wrong), Error);
    const SearchResult odd =
        search_result_from_json(R"({"status":7,"probes":3,"timings":[1],"memory":"x","largest":1e30})");
    QVERIFY(!odd.found && !odd.largest && !odd.memory && odd.timings.empty());
  }

  /// Whenever it is stopped: what was settled by then stays, and the rest is not said.
  void aStoppedSearchKeepsWhatItHasSettled() {
    Device device;
    const SearchResult whole = search_on(device, "binary").result;
    const std::size_t probes = whole.probes.size(), all = probes + whole.checks.size();
    QVERIFY(probes > 2 && all > probes);
    for (std::size_t runs = 0; runs < all; ++runs) {
      const FinderOptions options{.max_batch = 5000, .margin = 0.2, .budget_bytes = budget};
      const auto finder = make_finder("binary", options);
      Stopped stopped(runs);
      const SearchResult result = run_search(*finder, stopped, options, {}, [&] { return stopped.stops(); });
      QVERIFY(result.interrupted);
      QCOMPARE(result.probes.size() + result.checks.size(), runs);
      QCOMPARE(result.found, runs >= probes);
      QCOMPARE(result.largest_is_exact, runs >= probes);
      QCOMPARE(result.largest.has_value(), runs > 0);
      QVERIFY(result.found ? result.largest == whole.largest : !result.safe);
      QVERIFY(result.reason.starts_with("the search was stopped"));
      const std::string text = to_json(result);
      QCOMPARE(search_result_from_json(text).interrupted, !result.found);
      QCOMPARE(to_json(search_result_from_json(text)), text);
    }
    const auto finder = make_finder("binary", {.max_batch = 5000});
    Stopped failing(1);
    QVERIFY_EXCEPTION_THROWN(run_search(*finder, failing, {.max_batch = 5000}), Error);
  }

  void aSearchThatIsStoppedWhileItTimesKeepsItsSizes() {
    Device device;
    const SearchResult whole = search_on(device, "binary").result;
    SearchResult result = whole;
    int stretches = 0;
    const auto time = [&](std::int64_t batch) -> std::optional<TimedSteps> {
      if (++stretches > 3)
        throw Error(Error::Kind::failed, "stopped");
      return TimedSteps{.step_seconds = 1, .examples_per_second = static_cast<double>(batch), .spent_seconds = 1};
    };
    time_sizes(result, time, {}, [&] { return stretches > 3; });
    QVERIFY(result.interrupted && result.found && result.largest_is_exact);
    QCOMPARE(result.largest, whole.largest);
    QCOMPARE(result.safe, whole.safe);
    QVERIFY(!result.recommended);
    QCOMPARE(result.timings.size(), std::size_t{3});
    QVERIFY(result.reason.find("no size is recommended") != std::string::npos);
    QVERIFY(search_result_from_json(to_json(result)).found);
    QVERIFY_EXCEPTION_THROWN(time_sizes(result, time, {}, {}), Error);
  }

  void saysWhatFailedWhereNothingWasFound() {
    Device device;
    device.fails_from(2);
    const SearchResult result = search_on(device, "power").result;
    QVERIFY(!result.found);
    QCOMPARE(result.reason, std::string("batch size 2 failed: no kernel"));
  }
};

BATCHSCOPE_TEST(TestDrive)
#include "tst_run_search.moc"
