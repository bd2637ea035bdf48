#include <QTest>

#include <cmath>

#include "core/base/error.h"
#include "core/schedule/progression.h"
#include "core/schedule/shares.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::schedule;

namespace {

const std::vector<data::Stream> two_streams = {{"a", 300}, {"b", 100}};

std::vector<double> shares_after(const ShareSchedule& schedule, std::int64_t steps) {
  std::vector<double> shares;
  for (const std::int64_t share : schedule.after(steps))
    shares.push_back(static_cast<double>(share) / data::share_unit);
  return shares;
}

ProgressionOptions mixed_options(const std::string& shares, std::size_t clock = 0) {
  ProgressionOptions options;
  options.sampler.streams = two_streams;
  options.sampler.examples = 400;
  options.sampler.clock = clock;
  const ShareSchedule schedule(shares, two_streams, clock);
  options.sampler.shares = schedule.after(0);
  options.sampler.largest_clock_share = schedule.largest(clock);
  options.length.epochs = 3;
  options.batch = 10;
  options.shares = shares;
  return options;
}

/// The losses of the streams in a step, made up.
Feedback mixed_feedback(const PlannedStep& step) {
  Feedback feedback;
  feedback.loss = 1;
  for (const data::StreamTake& take : step.takes.streams)
    feedback.stream_losses.push_back(take.count == 0 ? std::nan("")
                                                     : 1.0 / static_cast<double>(feedback.stream_losses.size() + 1));
  return feedback;
}

std::string text_of(const PlannedStep& step) {
  std::string text = std::to_string(step.step) + ' ' + std::to_string(step.epoch) + ' ' + std::to_string(step.progress);
  for (const data::StreamTake& take : step.takes.streams)
    text +=
        ' ' + std::to_string(take.epoch_index) + ':' + std::to_string(take.first) + '+' + std::to_string(take.count);
  return text;
}

} // namespace

class SharesTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void followTheSteps() {
    using Shares = std::vector<double>;
    QCOMPARE(shares_after(ShareSchedule("", two_streams, 0), 9), (Shares{0.75, 0.25}));
    QCOMPARE(shares_after(ShareSchedule("b=0.3,a=0.7", two_streams, 0), 9), (Shares{0.7, 0.3}));
    const ShareSchedule pieces("0:a=0.9,b=0.1,100:a=0.5,b=0.5", two_streams, 0);
    QCOMPARE(shares_after(pieces, 99), (Shares{0.9, 0.1}));
    QCOMPARE(shares_after(pieces, 100), (Shares{0.5, 0.5}));
    QCOMPARE(pieces.largest(1), std::int64_t{500'000'000});
    const ShareSchedule line("linear:a=0.9,b=0.1,100:a=0.5,b=0.5", two_streams, 0);
    QCOMPARE(shares_after(line, 0), (Shares{0.9, 0.1}));
    QCOMPARE(shares_after(line, 25), (Shares{0.8, 0.2}));
    QCOMPARE(shares_after(line, 1000), (Shares{0.5, 0.5}));
  }

  void followTheLosses() {
    ShareSchedule schedule("loss:a=0.5,b=0.5", two_streams, 0);
    QVERIFY(schedule.needs_feedback());
    schedule.add({3, std::nan("")}); // the other one is not known yet
    QCOMPARE(shares_after(schedule, 1), (std::vector<double>{0.5, 0.5}));
    schedule.add({std::nan(""), 1});
    QCOMPARE(shares_after(schedule, 2), (std::vector<double>{0.725, 0.275})); // 0.1 * 0.5 + 0.9 * 3/4
    schedule.add({3, 1 + 50});
    QVERIFY(shares_after(schedule, 3)[0] < 0.725);
  }

  void refuseWhatIsWrong_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("words");
    QTest::newRow("sum") << "a=0.7,b=0.4"
                         << "add up to 1.1; accepted: 1";
    QTest::newRow("sum, later") << "a=0.7,b=0.3,50:a=0.7,b=0.2"
                                << "the shares from step 50 on add up to 0.9";
    QTest::newRow("unknown") << "a=0.7,c=0.3"
                             << "unknown stream \"c\"; accepted: NAME=SHARE for each of a, b";
    QTest::newRow("missing") << "a=1"
                             << "stream b has no share";
    QTest::newRow("twice") << "a=0.5,a=0.5"
                           << "\"a\" is given twice";
    QTest::newRow("negative") << "a=1.5,b=-0.5"
                              << "the share of a is 1.5; accepted: 0 to 1";
    QTest::newRow("no number") << "a=x,b=0.5"
                               << "a";
    QTest::newRow("clock") << "a=0,b=1"
                           << "the share of a is 0, and its epochs are the run's";
    QTest::newRow("steps") << "a=1,b=0,9:a=1,b=0,9:a=1,b=0"
                           << "step 9 comes after step 9";
    QTest::newRow("first") << "5:a=1,b=0"
                           << "the first shares are those from step 5 on";
    QTest::newRow("loss") << "loss:a=1,b=0,9:a=1,b=0"
                          << "loss takes one set of shares";
    QTest::newRow("rule") << "sine:a=1,b=0"
                          << "--shares";
    QTest::newRow("nothing") << "linear:"
                             << "no shares";
  }
  void refuseWhatIsWrong() {
    QFETCH(QString, text);
    QFETCH(QString, words);
    try {
      check_shares(text.toStdString(), {"a", "b"}, 0);
      QFAIL("accepted");
    } catch (const Error& error) {
      const QString said = error.what();
      QVERIFY2(said.startsWith("--shares: ") && said.contains(words) && !said.contains('\n'), error.what());
    }
  }

  /// The clock's epochs are the run's, whatever the shares.
  void theClockIsSeenOnceAnEpoch() {
    for (const std::size_t clock : {0, 1}) {
      for (const char* shares : {"", "a=0.31,b=0.69", "linear:a=0.9,b=0.1,20:a=0.2,b=0.8", "loss:a=0.5,b=0.5"}) {
        Progression progression(mixed_options(shares, clock));
        std::int64_t seen = 0;
        double progress = 0;
        while (const auto step = progression.next()) {
          seen += step->takes.streams[clock].count;
          QVERIFY(step->progress >= progress);
          progress = step->progress;
          progression.done(mixed_feedback(*step));
        }
        QCOMPARE(seen, 3 * two_streams[clock].examples);
      }
    }
  }

  void goOnFromAState() {
    for (const char* shares : {"a=0.31,b=0.69", "linear:a=0.9,b=0.1,20:a=0.2,b=0.8", "loss:a=0.5,b=0.5"}) {
      for (const std::int64_t stop : {1, 7, 40}) {
        Progression whole(mixed_options(shares));
        for (std::int64_t i = 0; i < stop; ++i)
          whole.done(mixed_feedback(*whole.next()));
        Progression resumed(mixed_options(shares));
        resumed.restore(whole.state_json());
        while (const auto step = whole.next()) {
          const auto same = resumed.next();
          QVERIFY(same);
          QCOMPARE(text_of(*same), text_of(*step));
          whole.done(mixed_feedback(*step));
          resumed.done(mixed_feedback(*same));
        }
        QVERIFY(!resumed.next());
      }
    }
    // Shares that were changed go on, too.
    Progression whole(mixed_options("a=0.31,b=0.69"));
    for (int i = 0; i < 9; ++i)
      whole.done(mixed_feedback(*whole.next()));
    QVERIFY_THROWS_EXCEPTION(Error, whole.set_shares("a=0.5,b=0.6"));
    const auto before = whole.next();
    whole.set_shares("a=0.5,b=0.5,12:a=1,b=0");
    QCOMPARE(before->takes.streams[0].count, std::int64_t{3});
    QCOMPARE(whole.next()->takes.streams[0].count, std::int64_t{5});
    Progression resumed(mixed_options("a=0.31,b=0.69"));
    resumed.restore(whole.state_json());
    QCOMPARE(resumed.shares_text(), whole.shares_text());
    std::int64_t last = 0;
    while (const auto step = whole.next()) {
      QCOMPARE(text_of(*resumed.next()), text_of(*step));
      last = step->takes.streams[1].count;
      whole.done(mixed_feedback(*step));
      resumed.done(mixed_feedback(*step));
    }
    QCOMPARE(last, std::int64_t{0});
    const std::string one_source = [] {
      ProgressionOptions options;
      options.sampler.examples = 400;
      options.length.epochs = 3;
      return Progression(options).state_json();
    }();
    Progression mixed(mixed_options("a=0.5,b=0.5"));
    QVERIFY_THROWS_EXCEPTION(Error, mixed.restore(one_source));
  }
};

BATCHSCOPE_TEST(SharesTest)
#include "tst_shares.moc"
