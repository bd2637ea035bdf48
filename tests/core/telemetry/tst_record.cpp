#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/telemetry/record.h"
#include "test_program.h"

using namespace batchscope::telemetry;

class TestRecord : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void has_the_series_of_every_run();
  void a_row_has_the_values_under_their_names();
  void what_is_not_known_is_nan_in_a_row();
};

void TestRecord::has_the_series_of_every_run() {
  const auto& names = step_series();
  QCOMPARE(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  for (const char* name : {"loss", "batch", "micro_batch", "accumulate", "effective_batch", "train_coverage", "epoch",
                           "learning_rate", "grad_norm", "seconds", "allocated_bytes", "reserved_bytes", "peak_bytes"})
    QVERIFY2(std::find(names.begin(), names.end(), name) != names.end(), name);
}

void TestRecord::a_row_has_the_values_under_their_names() {
  StepRecord record;
  record.examples_seen = 1;
  record.epoch_index = 2;
  record.epoch = 2.5;
  record.train_coverage = 0.25;
  record.batch = 4;
  record.micro_batch = 5;
  record.micro_batches = 6;
  record.accumulate = 7;
  record.effective_batch = 8;
  record.loss = std::numeric_limits<double>::quiet_NaN();
  record.learning_rate = 1e-3;
  record.grad_norm = std::numeric_limits<double>::infinity();
  record.seconds = 12.5;
  record.allocated_bytes = std::int64_t(1) << 53;
  record.reserved_bytes = 14;
  record.peak_bytes = 15;
  std::vector<double> values{99}; // what was there before is replaced
  row(record, values);
  const auto value = [&](const char* name) {
    const auto& names = step_series();
    return values.at(static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin()));
  };
  QCOMPARE(values.size(), step_series().size());
  QCOMPARE(value("examples_seen"), 1.0);
  QCOMPARE(value("epoch_index"), 2.0);
  QCOMPARE(value("epoch"), 2.5);
  QCOMPARE(value("train_coverage"), 0.25);
  QCOMPARE(value("batch"), 4.0);
  QCOMPARE(value("micro_batch"), 5.0);
  QCOMPARE(value("micro_batches"), 6.0);
  QCOMPARE(value("accumulate"), 7.0);
  QCOMPARE(value("effective_batch"), 8.0);
  QVERIFY(std::isnan(value("loss")));
  QCOMPARE(value("learning_rate"), 1e-3);
  QVERIFY(std::isinf(value("grad_norm")));
  QCOMPARE(value("seconds"), 12.5);
  QCOMPARE(value("allocated_bytes"), 9007199254740992.0);
  QCOMPARE(value("reserved_bytes"), 14.0);
  QCOMPARE(value("peak_bytes"), 15.0);
  QVERIFY(std::isnan(value("device_bytes")));
}

void TestRecord::what_is_not_known_is_nan_in_a_row() {
  std::vector<double> values;
  row(unknown_record(7), values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    QVERIFY2(std::isnan(values[i]), step_series()[i].c_str());
    const bool diverges = step_series()[i] == "loss" || step_series()[i] == "grad_norm";
    QCOMPARE(nan_is_unknown(step_series()[i]), !diverges);
  }
  StepRecord again = unknown_record(7);
  for (std::size_t i = 0; i < values.size(); ++i)
    set(again, i, values[i]);
  std::vector<double> read;
  row(again, read);
  QVERIFY(std::all_of(read.begin(), read.end(), [](double value) { return std::isnan(value); }));
  QVERIFY(!nan_is_unknown("score"));
}

BATCHSCOPE_TEST(TestRecord)
#include "tst_record.moc"
