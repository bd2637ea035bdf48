#include <QAbstractItemModelTester>
#include <QSignalSpy>

#include "core/run/run_spec.h"
#include "core/run/run_start.h"
#include "core/store/run_store.h"
#include "test_events.h"
#include "test_program.h"
#include "ui/live/event_model.h"
#include "ui/live/live_test.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

class TestEventModel : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void rows_grow_as_events_come();
  void many_at_once_are_one_insertion();
  void groups();
};

namespace {

/// A run that is written while the model shows it.
class WrittenRun {
public:
  WrittenRun() : store_((folder_.path() + "/runs.db").toStdString()), writer_(store_.begin(new_run())) {
    store_.flush();
    workbench_ = std::make_unique<Workbench>(theme_, (folder_.path() + "/runs.db").toStdString());
    workbench_->open({writer_->id()});
  }
  ~WrittenRun() {
    workbench_.reset();
    writer_->finish({.status = telemetry::RunStatus::finished});
  }

  const Theme& theme() const { return theme_; }
  OpenRun* run() { return workbench_->current(); }
  void write(std::int64_t step, const char* kind, const char* detail) {
    writer_->sink().event(event_of(step, 1, kind, detail));
  }

private:
  static store::NewRun new_run() {
    store::NewRun run;
    run.spec_json = run::to_json(small_run(100));
    run::RunStart start;
    start.batch = 16;
    start.train_examples = 1000;
    start.budget_bytes = 100'000'000;
    run.start_json = run::to_json(start);
    return run;
  }

  QTemporaryDir folder_;
  Theme theme_;
  store::RunStore store_;
  std::unique_ptr<store::RunWriter> writer_;
  std::unique_ptr<Workbench> workbench_;
};

QString text(const QAbstractItemModel& model, int row, int column) {
  return model.index(row, column).data().toString();
}

} // namespace

void TestEventModel::rows_grow_as_events_come() {
  WrittenRun written;
  EventModel model(written.theme());
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
  model.show(written.run());
  QCOMPARE(model.rowCount(), 0);
  QCOMPARE(model.columnCount(), int(EventModel::column_count));
  QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted);
  written.write(10, "clamp", R"({"asked":90,"given":80,"message":"too many"})");
  QTRY_COMPARE_WITH_TIMEOUT(model.rowCount(), 1, patience_ms);
  written.write(20, "evaluation", R"({"loss":0.5})");
  written.write(30, "oom", R"({"attempted_batch":64,"micro_batches_after":2,"micro_batch_after":32})");
  QTRY_COMPARE_WITH_TIMEOUT(model.rowCount(), 3, patience_ms);
  QVERIFY(inserted.count() >= 2);
  for (const auto& signal : inserted)
    QCOMPARE(signal.at(1).toInt(), 0); // the newest come first

  QCOMPARE(text(model, 0, EventModel::step), QString("30"));
  QCOMPARE(text(model, 0, EventModel::what), QString("out of memory"));
  QCOMPARE(text(model, 1, EventModel::details), QString("loss 0.5"));
  QCOMPARE(text(model, 2, EventModel::after), QString("80"));
  QCOMPARE(model.index(0, 0).data(EventModel::number_role).toInt(), 2);
  QCOMPARE(model.row_of(2), 0);
  QCOMPARE(model.row_of(0), 2);
  QCOMPARE(model.row_of(3), -1);
  const auto color = model.index(0, EventModel::what).data(Qt::ForegroundRole).value<QColor>();
  QCOMPARE(color, written.theme().color(Role::error));
  model.show(nullptr);
  QCOMPARE(model.rowCount(), 0);
}

void TestEventModel::many_at_once_are_one_insertion() {
  constexpr int count = 500;
  WrittenRun written;
  EventModel model(written.theme());
  EventFilter filter;
  filter.setSourceModel(&model);
  model.show(written.run());
  QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted);
  for (int i = 0; i < count; ++i)
    written.write(i + 1, "evaluation", R"({"loss":0.5})");
  QTRY_COMPARE_WITH_TIMEOUT(filter.rowCount(), count, patience_ms);
  QVERIFY2(inserted.count() <= count / 10, qPrintable(QString::number(inserted.count())));
  QCOMPARE(text(filter, 0, EventModel::step), QString("500"));
  // Whoever needs one that has just come need not wait.
  written.run()->history()->append(event_of(501, 1, "edit"));
  QCOMPARE(model.row_of(count), -1);
  model.take_new();
  QCOMPARE(model.row_of(count), 0);
}

void TestEventModel::groups() {
  WrittenRun written;
  EventModel model(written.theme());
  EventFilter filter;
  filter.setSourceModel(&model);
  const QAbstractItemModelTester tester(&filter, QAbstractItemModelTester::FailureReportingMode::QtTest);
  model.show(written.run());
  written.write(10, "edit", R"({"schedule":"constant","batch":8,"applies_from_step":11})");
  written.write(20, "evaluation", R"({"loss":0.5})");
  written.write(30, "status", R"({"status":"paused"})");
  QTRY_COMPARE_WITH_TIMEOUT(filter.rowCount(), 3, patience_ms);
  filter.show_group(telemetry::EventGroup::evaluations);
  QCOMPARE(filter.rowCount(), 1);
  QCOMPARE(text(filter, 0, EventModel::what), QString("validation"));
  written.write(40, "evaluation", R"({"loss":0.4})");
  QTRY_COMPARE_WITH_TIMEOUT(filter.rowCount(), 2, patience_ms);
  QCOMPARE(text(filter, 0, EventModel::step), QString("40"));
  filter.show_group(telemetry::EventGroup::out_of_memory);
  QCOMPARE(filter.rowCount(), 0);
  filter.show_group(telemetry::EventGroup::edits);
  QCOMPARE(filter.rowCount(), 1);
  filter.show_group(telemetry::EventGroup::all);
  QCOMPARE(filter.rowCount(), 4);
}

BATCHSCOPE_TEST(TestEventModel)
#include "tst_event_model.moc"
