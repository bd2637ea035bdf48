#include "core/search/run_search.h"

#include <map>

#include <QTest>

#include "core/base/error.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::search;

Q_DECLARE_METATYPE(Outcome)

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
    return probe;
  }

  std::map<std::int64_t, Outcome> wrong;
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
  void tellsEveryRun() {
    Device device;
    const Told told = search_on(device, "binary");
    QCOMPARE(told.result.largest, std::optional<std::int64_t>(100));
    QCOMPARE(told.result.safe, std::optional<std::int64_t>(80));
    QVERIFY(!told.result.checks.empty());
    QCOMPARE(told.probes, batches(told.result));
    QCOMPARE(told.result.reason, std::string());
  }

  void doesNotRepeatACheckThatDidNotComeThrough_data() {
    QTest::addColumn<Outcome>("outcome");
    QTest::newRow("error") << Outcome::error;
    QTest::newRow("out of memory") << Outcome::out_of_memory;
  }
  void doesNotRepeatACheckThatDidNotComeThrough() {
    QFETCH(Outcome, outcome);
    Device device;
    const std::int64_t first = search_on(device, "binary").result.checks.front().batch;
    device.wrong[first] = outcome;
    const Told told = search_on(device, "binary");
    QCOMPARE(told.result.checks.size(), std::size_t{1});
    QCOMPARE(told.probes.back(), first);
    // The largest size that was run within the margin.
    QCOMPARE(told.result.safe, std::optional<std::int64_t>(64));
    QCOMPARE(told.result.reason.find("no kernel") != std::string::npos, outcome == Outcome::error);
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
    device.wrong[64] = Outcome::error;
    const SearchResult result = search_on(device, strategy.toStdString()).result;
    QVERIFY(result.found);
    QCOMPARE(result.largest, std::optional<std::int64_t>(32));
    QCOMPARE(result.probes.back().batch, std::int64_t{64});
    QVERIFY2(result.reason.find("64") != std::string::npos, result.reason.c_str());
    QVERIFY2(result.reason.find("no kernel") != std::string::npos, result.reason.c_str());
  }

  void tellsWhetherTheLargestIsKnown() {
    Device device;
    QVERIFY(search_on(device, "binary").result.largest_is_exact);
    const SearchResult halved = search_on(device, "halving").result;
    QCOMPARE(halved.largest, std::optional<std::int64_t>(64));
    QVERIFY(!halved.largest_is_exact);
    QVERIFY(to_json(halved).find("\"largest_is\":\"tried\"") != std::string::npos);
    device.wrong[65] = Outcome::error;
    device.wrong[96] = Outcome::error;
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
    const std::string text = to_json(result);
    QCOMPARE(to_json(search_result_from_json(text)), text);
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

  void saysWhatFailedWhereNothingWasFound() {
    Device device;
    device.wrong[2] = Outcome::error;
    const SearchResult result = search_on(device, "power").result;
    QVERIFY(!result.found);
    QCOMPARE(result.reason, std::string("batch size 2 failed: no kernel"));
  }
};

BATCHSCOPE_TEST(TestDrive)
#include "tst_run_search.moc"
