#include <QTest>

#include <cmath>
#include <map>

#include "core/telemetry/series_info.h"
#include "run_helpers.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::run;

namespace {

std::map<std::string, double> more_of(const telemetry::StepRecord& record) {
  return {record.more.begin(), record.more.end()};
}

/// Two streams of made-up images, 500 and 63 to train.
RunSpec mixed_spec(std::int64_t batch, std::int64_t steps) {
  RunSpec spec = small_spec(batch, steps);
  spec.data = "news=synthetic:examples=625,shape=1x16x16,classes=4,"
              "replay=synthetic:examples=125,shape=1x16x16,classes=4,validation=0.5";
  spec.shares = "news=0.7,replay=0.3";
  return spec;
}

} // namespace

/// Runs on several data streams.
class TestStreams : public QObject {
  Q_OBJECT

private Q_SLOTS:
  /// The step's loss is the mean over all examples, so that of the streams' losses weighted by their examples.
  void lossesAndExamplesOfTheStreamsAddUp() {
    const FinishedRun run = run_to_end(mixed_spec(24, 20));
    QCOMPARE(run.recorded.records.size(), std::size_t{20});
    for (const telemetry::StepRecord& record : run.recorded.records) {
      const auto more = more_of(record);
      const double news = more.at("examples/news"), replay = more.at("examples/replay");
      QCOMPARE(news + replay, static_cast<double>(record.effective_batch));
      QVERIFY(std::abs(news - 0.7 * static_cast<double>(record.effective_batch)) < 1);
      const double sum = more.at("loss/news") * news + more.at("loss/replay") * replay;
      QVERIFY2(relative(sum / (news + replay), record.loss) < 1e-6, qPrintable(QString::number(record.step)));
      QCOMPARE(more.at("epoch/news"), record.epoch); // the first stream is the clock
      QCOMPARE(more.at("train_coverage/news"), record.train_coverage);
    }
    const auto last = more_of(run.recorded.records.back());
    QVERIFY(last.at("epoch/replay") > 1 && last.at("train_coverage/replay") < 1);
    QVERIFY(run.outcome.validation_accuracy);
  }

  void aStepWithoutExamplesOfAStreamHasNoLossOfIt() {
    RunSpec spec = mixed_spec(1, 10);
    spec.clock = "replay";
    const FinishedRun run = run_to_end(spec);
    int without = 0;
    for (const telemetry::StepRecord& record : run.recorded.records) {
      const auto more = more_of(record);
      QCOMPARE(more.contains("loss/replay"), more.at("examples/replay") > 0);
      without += more.contains("loss/replay") ? 0 : 1;
    }
    QCOMPARE(without, 7);
  }

  /// The same examples in smaller micro batches: same takes and, to rounding, the same losses of the streams.
  void runningOutOfMemoryChangesNoStream() {
    RunSpec spec = mixed_spec(200, 3);
    const FinishedRun whole = run_to_end(spec);
    spec.memory_budget = 1'500'000;
    const FinishedRun split = run_to_end(spec);
    QCOMPARE(whole.outcome.oom_events, std::int64_t{0});
    QVERIFY(split.outcome.oom_events > 0);
    QCOMPARE(split.recorded.records.size(), whole.recorded.records.size());
    for (std::size_t i = 0; i < whole.recorded.records.size(); ++i) {
      const auto a = more_of(whole.recorded.records[i]);
      const auto b = more_of(split.recorded.records[i]);
      for (const char* exact : {"examples/news", "examples/replay", "epoch/news", "epoch/replay"})
        QCOMPARE(b.at(exact), a.at(exact));
      for (const char* rounded : {"loss/news", "loss/replay"})
        QVERIFY2(relative(b.at(rounded), a.at(rounded)) < 1e-3, qPrintable(QString::number(i)));
    }
  }

  void tokensOfLinesAreCounted() {
    RunSpec spec = small_spec(8, 12);
    const std::string license = BATCHSCOPE_SOURCE_DIR "/LICENSE";
    spec.model = "gpt:layers=1,heads=2,width=16,context=64";
    spec.data = "a=lines:" + license + ",b=lines:" + license;
    spec.group_by_length = true;
    std::map<bool, double> tokens;
    for (const bool grouped : {false, true}) {
      spec.group_by_length = grouped;
      const FinishedRun run = run_to_end(spec);
      for (const telemetry::StepRecord& record : run.recorded.records) {
        const auto more = more_of(record);
        QVERIFY(more.at(telemetry::tokens) >= 8);
        QVERIFY(more.at(telemetry::tokens_per_second) > 0);
        tokens[grouped] += more.at(telemetry::tokens);
        // Of tokens, the loss is the mean over all of them: between those of the streams.
        const double a = more.at("loss/a"), b = more.at("loss/b");
        QVERIFY(record.loss >= std::min(a, b) - 1e-6 && record.loss <= std::max(a, b) + 1e-6);
      }
    }
    QVERIFY(tokens[true] != tokens[false]); // another order
    QVERIFY(!more_of(run_to_end(small_spec(8, 1)).recorded.records.front()).contains(telemetry::tokens));
  }

  /// A tenth of each share is fixed; the rest is in proportion to share times smoothed loss.
  void sharesFollowTheLosses() {
    RunSpec spec = mixed_spec(50, 15);
    spec.model = "gpt:layers=1,heads=2,width=16,context=12";
    spec.data = "a=synthetic:examples=625,vocabulary=20,b=synthetic:examples=625,vocabulary=20";
    spec.shares = "loss:a=0.5,b=0.5";
    const FinishedRun run = run_to_end(spec);
    double smoothed[2] = {NAN, NAN};
    for (const telemetry::StepRecord& record : run.recorded.records) {
      const auto more = more_of(record);
      const double count = more.at("examples/a");
      if (!std::isnan(smoothed[0])) {
        const double share = 0.05 + 0.9 * smoothed[0] / (smoothed[0] + smoothed[1]);
        QVERIFY2(std::abs(count - share * static_cast<double>(record.effective_batch)) < 1.001,
                 qPrintable(QString::number(record.step)));
      }
      const double losses[2] = {more.at("loss/a"), more.at("loss/b")};
      for (int i = 0; i < 2; ++i)
        smoothed[i] = std::isnan(smoothed[i]) ? losses[i] : 0.98 * smoothed[i] + 0.02 * losses[i];
    }
  }

  void findsASizeForMixedData() {
    RunSpec spec = mixed_spec(10, 10);
    spec.clock = "replay";
    spec.shares = "news=0.2,replay=0.8";
    const auto session = open_session(spec);
    QCOMPARE(session->examples(), std::int64_t{563});
    QCOMPARE(session->largest_batch(), std::int64_t{79}); // 63 / 0.8, and what rounding leaves
    Session::SearchOptions options;
    options.timings = false;
    QCOMPARE(*session->find(options).largest, std::int64_t{79});
  }
};

BATCHSCOPE_TEST(TestStreams)
#include "tst_streams.moc"
