#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QJsonArray>
#include <QLabel>
#include <QMessageBox>
#include <QProgressBar>
#include <QSignalSpy>
#include <QStatusBar>
#include <QTest>

#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "test_program.h"
#include "tests/core/store/store_test.h"
#include "ui/window/window_test.h"
#include "ui/window/work_strip.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

/// Closing while a real run goes on.
class ClosingTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void init() {
    here_ = std::make_unique<WindowHere>();
    here_->open();
  }
  void cleanup() { here_.reset(); }

  void closesAtOnceWhereNothingRuns() {
    QVERIFY(window().close());
    QVERIFY(question() == nullptr);
  }

  void asksOnceAndKeepsRunning() {
    begin_long_run();
    QVERIFY(!window().close());
    QVERIFY(!window().close());
    QCOMPARE(window().findChildren<QMessageBox*>().size(), 1);
    QVERIFY(question()->text().contains("small"));
    // Neither Enter nor Escape stops anything.
    QTest::keyClick(question(), Qt::Key_Escape);
    QTRY_VERIFY(question() == nullptr);
    QVERIFY(!window().close());
    QCOMPARE(question()->defaultButton()->text(), "Don’t close");
    QTest::keyClick(question(), Qt::Key_Return);
    QTRY_VERIFY(question() == nullptr);
    QVERIFY(window().isVisible());
    QVERIFY(job_->state() == Job::State::working);
    stop();
  }

  void whoClosesTheQuestionOpensNoOtherDatabase() {
    begin_long_run();
    const QString other = here_->folder().filePath("other.db");
    choose_database(other);
    QTRY_VERIFY(question() != nullptr);
    QCOMPARE(window().next_database(), other);
    QVERIFY(question()->close()); // by the cross of its frame
    QTRY_VERIFY(question() == nullptr);
    QCOMPARE(window().next_database(), QString());
    QVERIFY(window().isVisible());
    // A run that ends while it is asked about answers the question.
    choose_database(other);
    QTRY_VERIFY(question() != nullptr);
    stop();
    QTRY_VERIFY_WITH_TIMEOUT(!window().isVisible(), patience_ms);
    QCOMPARE(window().next_database(), other);
  }

  void aWaitingJobIsCancelledInTheStrip() {
    Job* job = here_->bench().job_queue().train(WindowHere::small_run(1'000'000));
    auto* strip = window().findChild<WorkStrip*>();
    auto* cancel = strip->findChild<QPushButton*>();
    QVERIFY(cancel->isVisible());
    QTest::mouseClick(cancel, Qt::LeftButton); // before the worker has told that it begins
    QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::cancelled, patience_ms);
    QVERIFY(!strip->isVisible());
    QVERIFY(cancel->isEnabled());
  }

  void stopsStoresAndCloses() {
    begin_long_run();
    here_->page(2).edit->setText("kept");
    QVERIFY(!window().close());
    stop_and_close();
    // It waits for the run's next step and for the disk, and says so.
    QVERIFY(window().isVisible());
    QVERIFY(here_->banner().text().startsWith("Stopping"));
    QTRY_VERIFY_WITH_TIMEOUT(!window().isVisible(), patience_ms);
    QVERIFY(here_->bench().job_queue().idle());
    const auto run = stored_run();
    QCOMPARE(run.outcome.status, telemetry::RunStatus::stopped);
    QVERIFY(run.outcome.steps > 0);
    const store::RunReader reader(here_->database());
    QCOMPARE(static_cast<std::int64_t>(reader.series(run.id, "loss").size()), run.outcome.steps);
    QVERIFY(reader.check().empty());
    const QJsonObject kept = Settings(here_->settings_file()).peek();
    QCOMPARE(kept.value("pages").toObject().value("schedule").toObject().value("text").toString(), "kept");
    QCOMPARE(kept.value("runs").toArray().first().toInteger(), run.id);
  }

  void waitsForAnExportInSight() {
    const QString file = begin_long_export();
    auto* strip = window().findChild<WorkStrip*>();
    QVERIFY(strip->isVisible() && says(*strip, "Exporting runs.csv"));
    QVERIFY(!window().close());
    QVERIFY(window().isVisible());
    QVERIFY(question() == nullptr);
    QVERIFY2(here_->banner().text().contains("when the file is written"), qPrintable(here_->banner().text()));
    QTest::mouseClick(strip->findChild<QPushButton*>(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(!window().isVisible(), patience_ms);
    QCOMPARE(left_beside(file), QStringList());
  }

  void closesOnceAnExportIsWritten() {
    const QString file = begin_long_export(200);
    QVERIFY(!window().close());
    QTRY_VERIFY_WITH_TIMEOUT(!window().isVisible(), patience_ms);
    QCOMPARE(left_beside(file), QStringList{"runs.csv"});
    QFile written(file);
    QVERIFY(written.open(QIODevice::ReadOnly));
    QCOMPARE(written.readAll().count('\n'), 200 * exported_steps + 1);
  }

  void aWindowThatGoesGivesItsExportsUp() {
    const QString file = begin_long_export();
    here_->destroy();
    QCOMPARE(left_beside(file), QStringList());
  }

  void saysThatNothingCanBeWritten() {
    { store::RunStore make(here_->database()); }
    auto* mark = window().statusBar()->findChild<QLabel*>("read_only");
    QVERIFY(!mark->isVisible());
    const std::filesystem::path folder = here_->folder().path().toStdString();
    std::filesystem::permissions(folder, std::filesystem::perms(0555));
    {
      const store::test::OrdinaryUser user;
      if (user.is_root())
        QSKIP("root cannot become an ordinary user here");
      QTRY_VERIFY(mark->isVisible());
      QCOMPARE(window().windowTitle(), QString("runs.db (read-only) – BatchScope"));
      QVERIFY(mark->toolTip().contains("cannot be written"));
    }
    std::filesystem::permissions(folder, std::filesystem::perms(0755));
    QTRY_VERIFY(!mark->isVisible());
    QCOMPARE(window().windowTitle(), QString("runs.db – BatchScope"));
  }

  void anInterruptClosesWithoutAsking() {
    begin_long_run();
    Job* waiting = here_->bench().job_queue().train(WindowHere::small_run(1'000'000));
    window().close_without_asking();
    window().close_without_asking();
    QVERIFY(question() == nullptr);
    QVERIFY(!here_->action("Open database…")->isEnabled());
    QTRY_VERIFY_WITH_TIMEOUT(!window().isVisible(), patience_ms);
    QCOMPARE(waiting->state(), Job::State::cancelled);
    QCOMPARE(stored_run().outcome.status, telemetry::RunStatus::stopped);
  }

  void aRunThatEndsMeanwhileLeavesNothingToAsk() {
    begin_long_run();
    QVERIFY(!window().close());
    QVERIFY(question() != nullptr);
    stop();
    QTRY_VERIFY_WITH_TIMEOUT(!window().isVisible(), patience_ms);
  }

  void theStripShowsAndCancelsJobs() {
    auto* strip = window().findChild<WorkStrip*>();
    QVERIFY(!strip->isVisible());
    begin_long_run();
    Job* waiting = here_->bench().job_queue().train(WindowHere::small_run(1'000'000));
    QVERIFY(strip->isVisible());
    QVERIFY(says(*strip, "small"));
    QVERIFY(says(*strip, "1 more queued"));
    QTRY_VERIFY_WITH_TIMEOUT(strip->findChild<QProgressBar*>()->value() > 0, patience_ms);
    QTRY_VERIFY_WITH_TIMEOUT(says(*strip, " left"), patience_ms);
    here_->bench().current()->pause();
    QTRY_VERIFY_WITH_TIMEOUT(says(*strip, "paused"), patience_ms);
    here_->bench().current()->resume();
    QTRY_VERIFY_WITH_TIMEOUT(says(*strip, " left"), patience_ms);
    auto* cancel = strip->findChild<QPushButton*>();
    QTest::mouseClick(cancel, Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(job_->state(), Job::State::cancelled, patience_ms);
    QTRY_COMPARE_WITH_TIMEOUT(waiting->state(), Job::State::working, patience_ms);
    QVERIFY(cancel->isEnabled());
    QTest::mouseClick(cancel, Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(!strip->isVisible(), patience_ms);
    QVERIFY(window().close());
  }

private:
  MainWindow& window() { return here_->window(); }
  QMessageBox* question() { return window().findChild<QMessageBox*>("close_question"); }
  static bool says(const QWidget& widget, const QString& text) {
    const auto labels = widget.findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(),
                       [&](const QLabel* label) { return label->isVisible() && label->text().contains(text); });
  }

  void choose_database(const QString& file) {
    here_->action("Open database…")->trigger();
    QPointer<QFileDialog> dialog = window().findChild<QFileDialog*>();
    dialog->selectFile(file);
    QMetaObject::invokeMethod(dialog.data(), "accept");
    QTRY_VERIFY(!dialog);
  }

  void stop_and_close() {
    for (QAbstractButton* button : question()->buttons())
      if (button->text() == "Stop and close")
        return QTest::mouseClick(button, Qt::LeftButton);
    QFAIL("there is no such button");
  }

  /// The same run again and again, so that it takes long to write.
  QString begin_long_export(std::size_t times = 5000) {
    std::int64_t id = 0;
    {
      store::RunStore store(here_->database());
      store::NewRun exported;
      exported.name = "exported";
      exported.spec_json = run::to_json(WindowHere::small_run(10));
      auto run = store.begin(exported);
      id = run->id();
      for (std::int64_t step = 1; step <= exported_steps; ++step) {
        telemetry::StepRecord record;
        record.step = step;
        run->sink().record(record);
      }
      telemetry::RunOutcome outcome;
      outcome.status = telemetry::RunStatus::finished;
      run->finish(outcome);
    }
    const QString file = here_->folder().filePath("exports/runs.csv");
    QDir().mkpath(QFileInfo(file).path());
    here_->bench().run_database().export_runs(std::vector<std::int64_t>(times, id), "csv", file, &window(),
                                              [](const QString&) {});
    return file;
  }
  static QStringList left_beside(const QString& file) {
    return QFileInfo(file).dir().entryList(QDir::Files | QDir::Hidden);
  }

  void begin_long_run() {
    job_ = here_->bench().start_run(WindowHere::small_run(300'000)); // minutes
    QTRY_VERIFY_WITH_TIMEOUT(here_->bench().current() && here_->bench().current()->steps() > 20, patience_ms);
  }
  void stop() {
    job_->cancel();
    QTRY_VERIFY_WITH_TIMEOUT(here_->bench().job_queue().idle(), patience_ms);
  }
  store::RunRow stored_run() { return store::RunReader(here_->database()).list().front(); }

  static constexpr int exported_steps = 2000;
  std::unique_ptr<WindowHere> here_;
  Job* job_ = nullptr;
};

BATCHSCOPE_TEST(ClosingTest)
#include "tst_closing.moc"
