#include "core/job/apply_command.h"
#include "core/store/run_store.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include <QTemporaryDir>
#include <QTest>
#include <QtCore/qfloat16.h> // complete, for Json where QTest compares

#include "core/base/json.h"
#include "core/job/job.h"
#include "core/run/engine.h"
#include "core/store/run_follower.h"
#include "core/store/run_reader.h"
#include "test_events.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::job;
using run::RunControl;

namespace {

run::RunSpec long_spec() {
  run::RunSpec spec;
  spec.model = "mlp:hidden=8";
  spec.data = "synthetic:examples=200,shape=1x8x8,classes=2"; // 160 to train
  spec.memory_budget = 50'000'000;
  spec.batch = {run::BatchChoice::Kind::number, 4};
  spec.length = {.epochs = {}, .examples = {}, .steps = 100'000'000};
  return spec;
}

/// Follows a run from another connection until something is seen; what was seen before is kept.
class Observer {
public:
  Observer(const std::filesystem::path& file, std::int64_t run) : follower_(file, run) {}

  /// The next event that `wanted` is true for, as its details with `at`, its step; null after a minute without.
  template <typename Wanted> Json wait_for(Wanted&& wanted) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (std::chrono::steady_clock::now() < end) {
      auto update = follower_.poll();
      for (auto& record : update.records)
        last_ = record;
      for (auto& event : update.events)
        events_.push_back(std::move(event));
      for (; next_ < events_.size(); ++next_) {
        Json detail = Json::parse(detail_text(events_[next_]));
        detail["at"] = events_[next_].step;
        if (wanted(kind_text(events_[next_]), detail)) {
          ++next_;
          return detail;
        }
      }
      if (!update.more)
        QTest::qWait(5);
    }
    return nullptr;
  }
  Json status(const char* status) {
    return wait_for([&](const std::string& kind, const Json& detail) {
      return kind == "status" && detail.value("status", "") == status;
    });
  }
  Json edit() {
    return wait_for([](const std::string& kind, const Json&) { return kind == "edit"; });
  }
  const telemetry::StepRecord& last() const { return last_; }

private:
  store::RunFollower follower_;
  std::vector<telemetry::Event> events_;
  std::size_t next_ = 0;
  telemetry::StepRecord last_;
};

} // namespace

/// A run does what is asked of it by way of the database.
class TestApplyCommand : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void verbs();
  void edits_data();
  void edits();
  void aRunIsSteeredThroughTheDatabase();
};

void TestApplyCommand::verbs() {
  const auto job = std::make_shared<run::JobControl>();
  RunControl control(job);
  const auto tell = [&](const char* verb) { apply_command(control, *job, {.verb = verb}); };
  tell("pause");
  QVERIFY(control.paused());
  tell("step");
  QVERIFY(control.at_boundary().paused);
  tell("something newer");
  QVERIFY(control.paused() && !control.stopping());
  tell("continue");
  QVERIFY(!control.paused());
  tell("stop");
  QVERIFY(control.stopping() && !job->stopping());
  tell("stop-job");
  QVERIFY(job->stopping());
}

void TestApplyCommand::edits_data() {
  QTest::addColumn<QString>("detail");
  QTest::addColumn<QString>("schedule");
  QTest::addColumn<qlonglong>("batch"); // -1: none
  const auto row = [](const char* detail, const char* schedule, qlonglong batch) {
    QTest::newRow(detail) << QString(detail) << QString(schedule) << batch;
  };
  row(R"({"schedule": "constant", "batch": 16})", "constant", 16);
  row(R"({"schedule": "constant", "batch": null})", "constant", -1);
  row(R"({"schedule": "formula:batch + 1"})", "formula:batch + 1", -1);
  // What the loop refuses: no schedule is empty, no batch is 0.
  row(R"({"schedule": 7})", "", -1);
  row(R"({"schedule": "constant", "batch": "many"})", "constant", 0);
  row(R"({"schedule": "constant", "batch": 1.5})", "constant", 0);
  row("[]", "", -1);
  row("no JSON", "", -1);
}

void TestApplyCommand::edits() {
  QFETCH(QString, detail);
  QFETCH(QString, schedule);
  QFETCH(qlonglong, batch);
  run::JobControl job;
  RunControl control;
  apply_command(control, job, {.verb = "edit", .detail_json = detail.toStdString(), .number = 17});
  const auto orders = control.at_boundary();
  QCOMPARE(orders.edits.size(), std::size_t{1});
  QCOMPARE(QString::fromStdString(orders.edits[0].schedule), schedule);
  QCOMPARE(orders.edits[0].batch.value_or(-1), std::int64_t{batch});
  QCOMPARE(orders.edits[0].command.value(), std::int64_t{17});
}

void TestApplyCommand::aRunIsSteeredThroughTheDatabase() {
  const QTemporaryDir folder;
  const std::filesystem::path file = folder.filePath("runs.db").toStdString();
  store::RunStore store(file, {.interval = std::chrono::milliseconds(5)});
  const auto control = std::make_shared<run::JobControl>();
  telemetry::RunStatus end{};
  std::thread job([&] {
    const run::RunSpec spec = long_spec();
    const auto session = run::open_session(spec);
    Watch watch;
    end = run_and_store(*session, spec, std::nullopt, store, {}, watch, control).outcome.status;
  });
  const auto stop_at_the_end = qScopeGuard([&] {
    control->stop();
    if (job.joinable())
      job.join();
  });
  const store::RunReader reader(file);
  QTRY_COMPARE_WITH_TIMEOUT(reader.list().size(), std::size_t{1}, 60'000);
  store::RunStore other(file);
  const auto tell = [&](const char* verb, const std::string& detail = "{}") {
    other.send(1, {.verb = verb, .detail_json = detail});
  };
  Observer observer(file, 1);

  tell("pause");
  const Json paused = observer.status("paused");
  QVERIFY(!paused.is_null());
  QCOMPARE(paused["at"].get<std::int64_t>(), observer.last().step);
  QCOMPARE(reader.run(1).outcome.status, telemetry::RunStatus::running);
  // Single steps say nothing of their own.
  tell("step");
  tell("step");
  QTRY_COMPARE_WITH_TIMEOUT(reader.run(1).outcome.steps, paused["at"].get<std::int64_t>() + 2, 60'000);
  tell("edit", R"({"schedule": "step:interval=3,increment=1", "batch": 9})");
  tell("edit", R"({"schedule": "no schedule", "batch": null})");
  tell("continue");
  const Json goes_on = observer.status("running");
  QCOMPARE(goes_on["at"], Json(paused["at"].get<std::int64_t>() + 2));
  const Json edit = observer.edit();
  QCOMPARE(edit["at"], goes_on["at"]);
  QCOMPARE(edit["applies_from_step"].get<std::int64_t>(), edit["at"].get<std::int64_t>() + 1);
  QCOMPARE(edit["batch_before"].get<int>(), 4);
  QCOMPARE(edit["batch"].get<int>(), 9);
  QVERIFY(observer.edit().contains("refused"));
  QTRY_VERIFY_WITH_TIMEOUT(reader.run(1).outcome.steps > edit["at"].get<std::int64_t>() + 4, 60'000);
  tell("stop");
  QTRY_COMPARE_WITH_TIMEOUT(reader.run(1).outcome.status, telemetry::RunStatus::stopped, 60'000);
  job.join();
  QCOMPARE(end, telemetry::RunStatus::stopped);
  // The very next step had the new size.
  const auto batches = reader.series(1, "batch");
  const auto first = edit["at"].get<std::size_t>();
  QCOMPARE(batches[first - 1].value, 4.0);
  QCOMPARE(batches[first].value, 9.0);
  QCOMPARE(batches[first + 3].value, 10.0);
}

BATCHSCOPE_TEST(TestApplyCommand)
#include "tst_apply_command.moc"
