#include <QLabel>
#include <QPushButton>
#include <QTemporaryFile>
#include <QTest>

#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "test_events.h"
#include "test_program.h"
#include "ui/output/output_text.h"
#include "ui/output/output_view.h"
#include "ui/runs/run_details.h"
#include "ui/workbench/output_box.h"
#include "ui/workbench_test.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

namespace {

/// Runs of a program, as they were stored, and what the page says of the one that is selected.
struct DetailsHere {
  DetailsHere() {
    details.resize(800, 400);
    using Status = telemetry::RunStatus;
    add(Status::failed, "exit status 1: KeyError: 'train'",
        R"({"tail":"Traceback\n\u001b[31m  load('train')\u001b[0m\nKeyError: 'train'\n","file":"x"})");
    add(Status::failed, "exit status 2", R"({"tail":"","file":"x"})");
    add(Status::stopped, "the sweep was cancelled", {});
    add(Status::finished, "", {});
    add(Status::finished, "", {}, {});
    rows = store::RunReader(bench.database()).list();
  }

  /// Of a program whose output is in this file; of the engine, without one.
  void add(telemetry::RunStatus status, const std::string& reason, const std::string& output_json,
           const std::optional<std::string>& file = "/no/such/file") {
    run::RunSpec spec;
    if (file)
      spec.program = run::ProgramSpec{.command = {"python", "train.py"}};
    store::CompleteRun run;
    run.uid = std::string(31, '0') + std::to_string(++added);
    run.spec_json = run::to_json(spec);
    if (file) {
      run::RunStart start;
      start.program = run::ProgramStart{.output = *file};
      run.start_json = run::to_json(start);
    }
    run.outcome.status = status;
    run.outcome.reason = reason;
    run.events = {event_of(1, 1, "odd")};
    if (!output_json.empty())
      run.events.push_back(event_of(1, 1, "output", output_json));
    store::RunStore(bench.database()).add_complete({run});
  }

  QString reason() { return details.findChild<QLabel*>("reason")->text(); }
  OutputBox& output() { return *details.findChild<OutputBox*>(); }
  QPushButton& button() { return *details.findChild<QPushButton*>(); }
  QString whole_output() { return details.findChild<OutputText*>()->toPlainText(); }

  WorkbenchHere bench;
  int added = 0;
  std::vector<store::RunRow> rows;
  RunDetails details{bench->run_database(), bench->theme()};
};

} // namespace

/// Why the run that is selected ended.
class TestRunDetails : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void a_program_that_failed_is_shown_with_its_last_lines() {
    DetailsHere here;
    here.details.show_run(&here.rows[0]);
    QTRY_VERIFY_WITH_TIMEOUT(here.output().isVisibleTo(&here.details), patience_ms);
    QVERIFY(here.details.isVisible());
    QCOMPARE(here.reason(), QString("exit status 1: KeyError: 'train'"));
    QCOMPARE(here.output().toPlainText(), QString("Traceback\n  load('train')\nKeyError: 'train'"));
    here.details.show_run(&here.rows[1]); // which wrote nothing
    QCOMPARE(here.reason(), QString("exit status 2"));
    QVERIFY(!here.output().isVisibleTo(&here.details));
  }

  void a_reason_is_shown_and_goes_with_its_run() {
    DetailsHere here;
    here.details.show_run(&here.rows[2]);
    QTRY_VERIFY_WITH_TIMEOUT(here.details.isVisible(), patience_ms);
    QCOMPARE(here.reason(), QString("the sweep was cancelled"));
    QVERIFY(!here.output().isVisibleTo(&here.details));
    here.details.show_run(&here.rows[4]); // nothing is to be said of it
    QVERIFY(here.details.isHidden());
    here.details.show_run(nullptr);
    QVERIFY(here.details.isHidden());
  }

  /// Also of a run that has finished, and of the next one that is selected.
  void the_whole_output_of_a_program_is_shown_on_request() {
    QTemporaryFile file;
    QVERIFY(file.open());
    file.write("epoch 1\r\nloss 0.5\n");
    file.flush();
    DetailsHere here;
    here.add(telemetry::RunStatus::finished, "", {}, file.fileName().toStdString());
    here.rows = store::RunReader(here.bench.database()).list();
    here.details.show_run(&here.rows[5]);
    QTRY_VERIFY_WITH_TIMEOUT(here.details.isVisible(), patience_ms);
    QCOMPARE(here.reason(), QString("python train.py"));
    QCOMPARE(here.button().text(), QString("Show output"));
    QTest::mouseClick(&here.button(), Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(here.whole_output(), QString("epoch 1\nloss 0.5"), patience_ms);
    here.details.show_run(&here.rows[0]); // whose file is gone
    QTRY_COMPARE_WITH_TIMEOUT(here.whole_output(), QString("Traceback\n  load('train')\nKeyError: 'train'"),
                              patience_ms);
    QVERIFY(!here.output().isVisible());
    QTest::mouseClick(&here.button(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(here.output().isVisible(), patience_ms);
    QVERIFY(!here.details.findChild<OutputView*>()->isVisible());
    here.details.show_run(&here.rows[4]);
    QVERIFY(here.details.isHidden());
  }

  /// What comes in after another run was selected is of no use.
  void an_answer_that_comes_late_is_not_shown() {
    DetailsHere here;
    here.details.show_run(&here.rows[2]);
    QTRY_VERIFY_WITH_TIMEOUT(here.details.isVisible(), patience_ms);
    here.details.show_run(&here.rows[0]); // asks at once, as there is room
    here.details.show_run(&here.rows[2]);
    bool answered = false;
    here.bench->run_database().describe(1, &here.details, [&](const StoredRun&, const QString&) { answered = true; });
    QTRY_VERIFY_WITH_TIMEOUT(answered, patience_ms);
    QCOMPARE(here.reason(), QString("the sweep was cancelled"));
    QVERIFY(!here.output().isVisibleTo(&here.details));
  }
};

BATCHSCOPE_TEST(TestRunDetails)
#include "tst_run_details.moc"
