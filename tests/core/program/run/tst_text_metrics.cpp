#include <QTest>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/program/run/text_metrics.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::program;
using telemetry::StepRecord;

namespace {

const run::Metric counted_loss{"loss", "loss[ =:]+(\\S+)"};
const run::Metric stepped_loss{"loss", "step (?<step>\\d+).*loss (\\S+)"};
const run::Metric score{"score", "score (\\S+)"};

std::vector<StepRecord> read(TextMetrics& metrics, const std::vector<std::string>& lines) {
  std::vector<StepRecord> records;
  for (const std::string& line : lines)
    if (auto record = metrics.take(line))
      records.push_back(std::move(*record));
  if (auto record = metrics.finish())
    records.push_back(std::move(*record));
  return records;
}

std::string problem(const std::vector<run::Metric>& metrics) {
  try {
    TextMetrics{metrics};
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::optional<double> more(const StepRecord& record, const std::string& name) {
  for (const auto& [series, value] : record.more)
    if (series == name)
      return value;
  return std::nullopt;
}

} // namespace

class TestTextMetrics : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void linesAreCounted() {
    TextMetrics metrics({counted_loss});
    QCOMPARE(metrics.take("loading").has_value(), false);
    for (int step = 1; step <= 3; ++step) {
      const auto record = metrics.take("epoch 0 loss=" + std::to_string(step) + ".5 rest");
      QVERIFY(record); // at once, as nothing else belongs to the step
      QCOMPARE(record->step, step);
      QCOMPARE(record->loss, step + 0.5);
      QVERIFY(std::isnan(record->learning_rate));
    }
    QVERIFY(!metrics.finish());
  }

  void stepIsNamed() {
    TextMetrics metrics({stepped_loss, score});
    const auto records = read(metrics, {"step 10 loss 1", "step 20 loss 0.5", "score 0.9", "step 20 loss 9",
                                        "step 10 loss 9", "step 30 loss 0.25"});
    QCOMPARE(records.size(), 3U);
    QCOMPARE(records[0].step, 10);
    QCOMPARE(records[0].loss, 1.0);
    QVERIFY(records[0].more.empty());
    QCOMPARE(records[1].step, 20);
    QCOMPARE(records[1].loss, 0.5); // said again once the step was complete, and for an earlier step
    QCOMPARE(more(records[1], "score").value(), 0.9);
    QCOMPARE(records[2].step, 30);
  }

  /// Whatever stands before it.
  void aValueMayBeNamed() {
    TextMetrics metrics({run::Metric{"loss", "(step) (?<step>\\d+) loss (?<value>\\S+)"}});
    const auto records = read(metrics, {"step 4 loss 0.5"});
    QCOMPARE(records.size(), std::size_t{1});
    QCOMPARE(records.front().step, std::int64_t{4});
    QCOMPARE(records.front().loss, 0.5);
  }

  /// The group of the step comes first or last; the value's is the first without a name.
  void orderOfGroups() {
    TextMetrics metrics({run::Metric{"lr", "(?<unused>x)?rate (\\S+) \\((\\d+)\\) at (?<step>\\d+)"}});
    const auto record = metrics.take("rate 1e-3 (7) at 12");
    QVERIFY(record);
    QCOMPARE(record->step, 12);
    QCOMPARE(record->learning_rate, 1e-3); // as other programs call it
  }

  /// Series of one step from one line and from several.
  void severalSeries() {
    TextMetrics metrics({counted_loss, score, {"learning_rate", "lr (\\S+)"}});
    const auto records = read(metrics, {"loss 1 lr 0.1", "loss 2 lr 0.2", "score 0.5", "loss 3 lr 0.3"});
    QCOMPARE(records.size(), 3U);
    for (int i = 0; i < 3; ++i) {
      QCOMPARE(records[static_cast<std::size_t>(i)].step, i + 1);
      QCOMPARE(records[static_cast<std::size_t>(i)].loss, i + 1.0);
    }
    QCOMPARE(records[1].learning_rate, 0.2);
    QCOMPARE(more(records[1], "score").value(), 0.5);
    QVERIFY(!more(records[2], "score"));
  }

  void namesOfOtherPrograms() {
    TextMetrics metrics({{"val_acc", "acc (\\S+)"}, {"eval/loss", "eval (\\S+)"}, {"train/loss", "loss (\\S+)"}});
    const auto records = read(metrics, {"loss 2", "eval 2.5", "acc 0.25", "loss 1", "acc 97.5"});
    QCOMPARE(records.size(), 2U);
    QCOMPARE(records[0].loss, 2.0);
    QCOMPARE(more(records[0], "validation_loss").value(), 2.5);
    QCOMPARE(more(records[0], "validation_accuracy").value(), 0.25);
    QCOMPARE(more(records[1], "val_acc").value(), 97.5); // in percent: no fraction
    QVERIFY_EXCEPTION_THROWN(TextMetrics({{"val_acc", "a (.)"}, {"eval_accuracy", "b (.)"}}), Error);
  }

  /// As nanoGPT prints them: a step is evaluated before it is made.
  void stepsFromZero() {
    TextMetrics metrics(
        {{"loss", "^iter (?<step>\\d+): loss (\\S+),"}, {"val_loss", "^step (?<step>\\d+): .*val loss (\\S+)"}});
    const auto records = read(metrics, {"step 0: train loss 4.2, val loss 4.1", "iter 0: loss 4.0, time 9 ms",
                                        "iter 10: loss 3.0, time 9", "iter 20: loss 2.5, time 9",
                                        "step 20: train loss 2.4, val loss 2.6", "iter 30: loss 2, time 9"});
    QCOMPARE(records.size(), 4U);
    QCOMPARE(records[0].step, 1);
    QCOMPARE(records[0].loss, 4.0);
    QCOMPARE(more(records[0], "validation_loss").value(), 4.1);
    QCOMPARE(records[1].step, 11);
    QCOMPARE(records[2].step, 21);
    QCOMPARE(more(records[2], "validation_loss").value(), 2.6);
    QCOMPARE(records[3].step, 31);
  }

  /// The count of a progress bar begins anew with each epoch.
  void progressBars() {
    TextMetrics metrics({{"loss", "(?<step>\\d+)/50 .*loss=([0-9.]+)"}, {"accuracy", "accuracy (\\S+)"}});
    const auto records = read(metrics, {"  0%|          | 0/50 [00:00<?, ?it/s]",
                                        " 50%|#####     | 25/50 [00:01<00:01, 25it/s, loss=2.0]",
                                        "100%|##########| 50/50 [00:02<00:00, 25it/s, loss=1.5]", "accuracy 0.5",
                                        "  2%|          | 1/50 [00:00<00:02, 25it/s, loss=1.4]",
                                        "100%|##########| 50/50 [00:02<00:00, 25it/s, loss=1.0]", "accuracy 0.75"});
    QCOMPARE(records.size(), 4U);
    QCOMPARE(records[0].step, 25);
    QCOMPARE(records[1].step, 50);
    QCOMPARE(more(records[1], "accuracy").value(), 0.5);
    QCOMPARE(records[2].step, 51);
    QCOMPARE(records[3].step, 100);
    QCOMPARE(more(records[3], "accuracy").value(), 0.75);
  }

  /// One series names its step and the other does not, whichever comes first.
  void withAndWithoutSteps() {
    TextMetrics metrics({score, stepped_loss});
    const auto records = read(metrics, {"score 0.1", "step 10 loss 3", "score 0.2 at step 20 loss 2", "step 30 loss 1",
                                        "score 0.3", "score 0.4"});
    QCOMPARE(records.size(), 4U);
    QCOMPARE(records[0].step, 10);
    QCOMPARE(more(records[0], "score").value(), 0.1);
    QCOMPARE(records[1].step, 20);
    QCOMPARE(more(records[1], "score").value(), 0.2);
    QCOMPARE(records[2].step, 30);
    QCOMPARE(more(records[2], "score").value(), 0.3);
    QCOMPARE(records[3].step, 30); // of the step that was complete
    QCOMPARE(more(records[3], "score").value(), 0.4);
  }

  void numbers() {
    TextMetrics metrics({counted_loss});
    QVERIFY(std::isnan(metrics.take("loss nan").value().loss));
    QVERIFY(std::isinf(metrics.take("loss inf").value().loss));
    QCOMPARE(metrics.take("loss +1.5e-3,").value().loss, 1.5e-3);
    QCOMPARE(metrics.take("loss 97%").value().loss, 97.0);
    QVERIFY(!metrics.take("loss unknown"));
    QCOMPARE(metrics.take("loss 2").value().step, 5);
  }

  void linesThatAreNoText() {
    TextMetrics metrics({counted_loss});
    QCOMPARE(metrics.take("\xff\xfe loss 1.5 \xc3").value().loss, 1.5);
    QCOMPARE(metrics.take(std::string("\0\0 loss 2.5", 11)).value().loss, 2.5);
    QVERIFY(!metrics.take(std::string()));
  }

  /// A pattern whose attempts double with every letter of the line.
  void patternThatBacktracks() {
    TextMetrics metrics({run::Metric{"loss", "^(a+)+$"}});
    QVERIFY(!metrics.take(std::string(10'000, 'a') + "b"));
  }

  void unmatched() {
    TextMetrics metrics({counted_loss, score});
    metrics.take("loss 1");
    QCOMPARE(metrics.unmatched(), std::vector<std::string>{"score"});
  }

  void wrongPatterns() {
    QVERIFY(problem({{"loss", "loss ["}}).find("is no regular expression") != std::string::npos);
    QVERIFY(problem({{"loss", "step (?<step>\\d+) loss (?<v>\\S+)"}}).find("one that is named value") !=
            std::string::npos);
    QVERIFY(problem({{"loss", "loss"}}).find("has no group for the value") != std::string::npos);
    QVERIFY(problem({{"loss", "(?<step>\\d+)"}}).find("has no group for the value") != std::string::npos);
    QVERIFY(problem({counted_loss, stepped_loss}).find("given twice") != std::string::npos);
    QCOMPARE(problem({counted_loss, score}), std::string());
  }
};

BATCHSCOPE_TEST(TestTextMetrics)
#include "tst_text_metrics.moc"
