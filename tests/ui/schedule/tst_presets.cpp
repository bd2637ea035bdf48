#include <QTest>

#include "core/schedule/batch_schedule.h"
#include "test_program.h"
#include "ui/schedule/presets.h"

using namespace batchscope;
using namespace batchscope::ui;

class TestPresets : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void every_form_is_offered_and_accepted_data();
  void every_form_is_offered_and_accepted();
};

void TestPresets::every_form_is_offered_and_accepted_data() {
  QTest::addColumn<qint64>("batch");
  QTest::addColumn<qint64>("steps");
  QTest::addColumn<double>("epochs");
  QTest::newRow("usual") << qint64(32) << qint64(1000) << 10.0;
  QTest::newRow("one step") << qint64(1) << qint64(1) << 0.001;
  QTest::newRow("nothing planned") << qint64(1) << qint64(0) << 0.0;
}

void TestPresets::every_form_is_offered_and_accepted() {
  QFETCH(qint64, batch);
  QFETCH(qint64, steps);
  QFETCH(double, epochs);
  const auto name_of = [](const std::string& text) { return text.substr(0, text.find(':')); };
  const auto presets = schedule_presets(batch, steps, epochs);
  for (const std::string& form : schedule::schedule_forms())
    QVERIFY2(
        std::any_of(presets.begin(), presets.end(),
                    [&](const SchedulePreset& preset) { return name_of(preset.text.toStdString()) == name_of(form); }),
        form.c_str());
  schedule::ScheduleOrigin origin;
  origin.batch = batch;
  origin.max_batch = 9000;
  origin.state.examples = 9000;
  for (const SchedulePreset& preset : presets) {
    QVERIFY(!preset.name.isEmpty());
    schedule::make_schedule(preset.text.toStdString(), origin); // throws for what is wrong
  }
}

BATCHSCOPE_TEST(TestPresets)
#include "tst_presets.moc"
