#include "core/schedule/edited.h"

#include <QTest>

#include "core/base/error.h"
#include "core/schedule/plan.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::schedule;

namespace {

using Sizes = std::vector<std::int64_t>;

ProgressionOptions run_of_300(std::int64_t batch, const std::string& schedule) {
  ProgressionOptions options;
  options.sampler.examples = 8000;
  options.batch = batch;
  options.schedule = schedule;
  options.length = {.epochs = {}, .examples = {}, .steps = 300};
  return options;
}

Plan plan(const ProgressionOptions& options, std::vector<PlanEdit> edits = {}) {
  PlanRequest request;
  request.options = options;
  request.edits = std::move(edits);
  return *make_plan(request);
}

Sizes sizes(const ProgressionOptions& options, std::vector<PlanEdit> edits = {}) {
  const Plan planned = plan(options, std::move(edits));
  Sizes result;
  const series::Series& batch = *planned.history->find("batch");
  for (std::size_t i = 0; i < batch.values.size(); ++i)
    result.push_back(std::llround(batch.values[i]));
  return result;
}

/// With the steps after `from` done up to `to` done at another size.
Sizes changed(Sizes sizes, std::size_t from, std::size_t to, std::int64_t batch) {
  std::fill(sizes.begin() + static_cast<std::ptrdiff_t>(from), sizes.begin() + static_cast<std::ptrdiff_t>(to), batch);
  return sizes;
}

/// All of them count steps here: what counts examples or epochs sees those that a stretch takes.
const char* const bases[] = {"constant",
                             "step:interval=7,increment=3",
                             "linear:max=256",
                             "linear:max=99,steps=150",
                             "exponential:max=256,steps=250",
                             "formula:batch + 1",
                             "formula:16 + step / 4",
                             "piecewise:0=16,130=40"};

} // namespace

/// Schedules with stretches that others than the schedule decided.
class TestEdited : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void textsAreReadAndWritten();
  void stretchesLieOverEachOther();
  void theRestIsWhatItWas_data() { each_base(); }
  void theRestIsWhatItWas();
  void aRunningScheduleGoesOnBeneath_data() { each_base(); }
  void aRunningScheduleGoesOnBeneath();
  void theWayBackToAScheduleThatWasLeft_data() { each_base(); }
  void theWayBackToAScheduleThatWasLeft();
  void anotherBaseBeginsWhereItIsPutIn();
  void theFirstStepIsAStretchToo();
  void theRateKeepsItsStages();
  void isReplayedFromWhatAnEditReports();
  void refusesBadTexts_data();
  void refusesBadTexts();

private:
  static void each_base() {
    QTest::addColumn<QString>("base");
    for (const char* base : bases)
      QTest::newRow(base) << base;
  }
};

void TestEdited::textsAreReadAndWritten() {
  const EditedText edited = parse_edited("edited:100-200=64,300-=128,batch=16,base=formula:min(batch + 1, 64)");
  QCOMPARE(edited.base, std::string("formula:min(batch + 1, 64)"));
  QCOMPARE(edited.stretches.size(), std::size_t{2});
  QCOMPARE(edited.stretches[0].to.value(), std::int64_t{200});
  QVERIFY(!edited.stretches[1].to && edited.stretches[1].batch == 128);
  QCOMPARE(edited.batch.value(), std::int64_t{16});
  QCOMPARE(to_text(edited), std::string("edited:100-200=64,300-=128,batch=16,base=formula:min(batch + 1, 64)"));
  QCOMPARE(to_text(parse_edited("linear:max=256")), std::string("edited:base=linear:max=256"));
  QCOMPARE(first_batch_of("edited:0-50=48,base=linear:max=256").value(), std::int64_t{48});
  QCOMPARE(first_batch_of("edited:10-=48,base=piecewise:0=16").value(), std::int64_t{16});
  QVERIFY(!first_batch_of("edited:10-=48,base=linear:max=256"));
}

void TestEdited::stretchesLieOverEachOther() {
  const auto over = [](const std::string& text, const std::vector<FixedStretch>& stretches, std::int64_t done = 0) {
    return to_text(with_stretches(parse_edited(text), stretches, done));
  };
  QCOMPARE(over("constant", {{10, 20, 5}}), std::string("edited:10-20=5,base=constant"));
  QCOMPARE(over("edited:10-20=5,base=constant", {{12, 15, 7}}),
           std::string("edited:10-12=5,12-15=7,15-20=5,base=constant"));
  QCOMPARE(over("edited:10-20=5,30-=6,base=constant", {{15, std::nullopt, 7}}),
           std::string("edited:10-15=5,15-=7,base=constant"));
  QCOMPARE(over("edited:10-20=5,30-=6,base=constant", {{0, 40, 7}}), std::string("edited:0-40=7,40-=6,base=constant"));
  QCOMPARE(over("edited:10-20=5,30-=6,base=constant", {{25, 26, 7}}, 20),
           std::string("edited:25-26=7,30-=6,base=constant"));
}

void TestEdited::theRestIsWhatItWas() {
  QFETCH(QString, base);
  const std::string text = base.toStdString();
  const Sizes before = sizes(run_of_300(16, text));
  QCOMPARE(sizes(run_of_300(16, "edited:100-150=77,base=" + text)), changed(before, 100, 150, 77));
  QCOMPARE(sizes(run_of_300(16, "edited:40-60=5,100-=77,base=" + text)),
           changed(changed(before, 40, 60, 5), 100, 300, 77));
}

void TestEdited::aRunningScheduleGoesOnBeneath() {
  QFETCH(QString, base);
  const std::string text = base.toStdString();
  const Sizes before = sizes(run_of_300(16, text));
  const std::string edited = "edited:80-150=77,base=" + text;
  QCOMPARE(sizes(run_of_300(16, text), {{100, edited, {}}}), changed(before, 100, 150, 77));
  // Once more, while the first edit holds, and when it is over.
  const std::string more = "edited:80-120=77,140-200=9,base=" + text;
  QCOMPARE(sizes(run_of_300(16, text), {{100, edited, {}}, {110, more, {}}}),
           changed(changed(before, 100, 120, 77), 140, 200, 9));
  QCOMPARE(sizes(run_of_300(16, text), {{100, edited, {}}, {160, more, {}}}),
           changed(changed(before, 100, 150, 77), 160, 200, 9));
}

void TestEdited::theWayBackToAScheduleThatWasLeft() {
  QFETCH(QString, base);
  const std::string text = base.toStdString();
  const Sizes before = sizes(run_of_300(16, text));
  const std::string back = "edited:base=" + text;
  QCOMPARE(sizes(run_of_300(16, text), {{100, "edited:90-=77,base=" + text, {}}, {150, back, {}}}),
           changed(before, 100, 150, 77));
  QCOMPARE(sizes(run_of_300(16, text), {{100, "piecewise:100=77", 77}, {150, back, {}}}),
           changed(before, 100, 150, 77));
  // Its text is that of the schedule itself.
  Progression progression(run_of_300(16, text));
  progression.edit("piecewise:0=16,9=12");
  progression.edit(back);
  QCOMPARE(progression.schedule_text(), text);
}

void TestEdited::anotherBaseBeginsWhereItIsPutIn() {
  const Sizes plain = sizes(run_of_300(16, "constant"), {{100, "step:interval=10,increment=1", 20}});
  QCOMPARE(sizes(run_of_300(16, "constant"), {{100, "edited:150-160=77,base=step:interval=10,increment=1", 20}}),
           changed(plain, 150, 160, 77));
  // Within a stretch from the batch that there was, or one that is named.
  const std::string base = "base=step:interval=10,increment=1";
  const Sizes from_16 = sizes(run_of_300(16, "constant"), {{100, "step:interval=10,increment=1", {}}});
  QCOMPARE(sizes(run_of_300(16, "constant"), {{100, "edited:90-130=77," + base, {}}}), changed(from_16, 100, 130, 77));
  QCOMPARE(sizes(run_of_300(16, "constant"), {{100, "edited:90-130=77,batch=20," + base, {}}}),
           changed(plain, 100, 130, 77));
}

void TestEdited::theFirstStepIsAStretchToo() {
  const Sizes before = sizes(run_of_300(16, "linear:max=256"));
  QCOMPARE(sizes(run_of_300(48, "edited:0-50=48,batch=16,base=linear:max=256")), changed(before, 0, 50, 48));
}

void TestEdited::theRateKeepsItsStages() {
  const auto rates = [](const std::string& schedule) {
    std::vector<double> result;
    const Plan planned = plan(run_of_300(16, schedule));
    const series::Series& rate = *planned.history->find("learning_rate");
    for (std::size_t i = 0; i < 100; ++i)
      result.push_back(rate.values[i]);
    return result;
  };
  const std::string stages = "adabatch:factor=2,every=0.1,lr-decay=0.5";
  const auto before = rates(stages);
  QVERIFY(before.front() > 2 * before.back());
  QCOMPARE(rates("edited:290-=7,base=" + stages), before);
}

/// The event of an edit has its text and the batch that the very next step had.
void TestEdited::isReplayedFromWhatAnEditReports() {
  std::vector<const char*> all(std::begin(bases), std::end(bases));
  all.insert(all.end(), {"exponential:max=256,epochs=1", "adabatch:factor=2,every=0.3"});
  for (const char* base : all)
    for (const char* stretches : {"", "90-130=77,", "120-130=77,", "90-95=5,100-=77,"}) {
      const std::string text = std::string("edited:") + stretches + "base=" + base;
      for (const char* first : {base, "constant"}) {
        if (first_batch_of(first).value_or(16) != 16)
          continue;
        const Sizes once = sizes(run_of_300(16, first), {{100, text, {}}});
        QVERIFY2(sizes(run_of_300(16, first), {{100, text, once[100]}}) == once, (text + " after " + first).c_str());
      }
    }
}

void TestEdited::refusesBadTexts_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("words");
  const auto row = [](const char* text, const char* words) { QTest::newRow(text) << text << words; };
  row("edited:", "'base=' is missing");
  row("edited:10-20=5", "'base=' is missing");
  row("edited:base=", "schedule");
  row("edited:base=nonsense", "unknown schedule 'nonsense'");
  row("edited:base=edited:base=constant", "cannot be an edited schedule");
  row("edited:10=5,base=constant", "'10' is not a range");
  row("edited:10-5=5,base=constant", "ends before it begins");
  row("edited:10-20=0,base=constant", "10-20");
  row("edited:10-20=many,base=constant", "many");
  row("edited:10-20=5,15-30=6,base=constant", "overlaps the range before it");
  row("edited:10-=5,15-30=6,base=constant", "overlaps the range before it");
  row("edited:batch=4,batch=5,10-=3,base=constant", "given twice");
  row("edited:nothing,base=constant", "'nothing'");
  row("edited:0-20=5,base=constant", "differs from the run's first batch, 16");
  row("edited:10-20=5,batch=8,base=constant", "differs from the run's first batch, 16");
  row("edited:10-20=5,base=linear:max=2", "below the first batch");
}

void TestEdited::refusesBadTexts() {
  QFETCH(QString, text);
  QFETCH(QString, words);
  try {
    Progression refused(run_of_300(16, text.toStdString()));
    QFAIL("accepted");
  } catch (const Error& error) {
    QCOMPARE(error.kind(), Error::Kind::input);
    QVERIFY2(QString(error.what()).contains(words), error.what());
    QVERIFY2(!QString(error.what()).contains('\n'), error.what());
  }
}

BATCHSCOPE_TEST(TestEdited)
#include "tst_edited.moc"
