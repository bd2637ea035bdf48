#include <QFile>
#include <QFileDialog>
#include <QJsonArray>
#include <QJsonDocument>
#include <QProcess>
#include <QTest>

#include <fstream>

#include "core/store/run_row.h"
#include "test_program.h"
#include "ui/window/window_test.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

/// A window and the command line on one database, with the window's dialogs opened in between.
class SharedDatabaseTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void init() {
    here_ = std::make_unique<WindowHere>();
    here_->open();
  }
  void cleanup() { here_.reset(); }

  void runsOfBothAreThereInTheEnd_data() {
    QTest::addColumn<bool>("opened_by_others");
    QTest::newRow("the window's dialog") << false;
    QTest::newRow("and something that opens and closes the files") << true;
  }

  void runsOfBothAreThereInTheEnd() {
    QFETCH(bool, opened_by_others);
    train();
    show_and_close_the_dialog();
    if (opened_by_others)
      for (const char* ending : {"", "-wal", "-shm"})
        const std::ifstream stream(here_->database().string() + ending);
    QCOMPARE(runs_listed(), 1);
    train();
    QCOMPARE(cli({"sweep", "--model", "mlp:hidden=4", "--data", "synthetic:examples=200,shape=4,classes=2", "--batch",
                  "16,32", "--lr", "0.1,0.2", "--steps", "3"}),
             0);
    QCOMPARE(runs_listed(), 6);
    QCOMPARE(cli({"check"}), 0);
    QVERIFY(here_->window().close());
    here_->destroy();
    QCOMPARE(runs_listed(), 6);
    QCOMPARE(cli({"check"}), 0);
  }

  void whatIsMissingIsSaidWhenItIsOpened() {
    train();
    here_->destroy();
    const auto copy = here_->database().string() + ".copy";
    std::filesystem::copy_file(here_->database(), copy);
    here_->open();
    train();
    here_->destroy();
    std::filesystem::rename(copy, here_->database());
    QCOMPARE(cli({"check"}), 1);
    here_->open();
    QTRY_VERIFY_WITH_TIMEOUT(here_->banner().text().contains("run 2: missing"), patience_ms);
    here_->destroy();
    QCOMPARE(cli({"check", "--accept"}), 0);
    here_->open();
    QTRY_COMPARE_WITH_TIMEOUT(here_->bench().run_database().runs().size(), std::size_t(1), patience_ms);
    QVERIFY(!here_->banner().text().contains("run 2"));
  }

  void aReplacementOfTheFilesIsSaid() {
    train();
    QTRY_COMPARE_WITH_TIMEOUT(here_->bench().run_database().runs().size(), std::size_t(1), patience_ms);
    QVERIFY(QFile::remove(QString::fromStdString(here_->database().string() + "-wal")));
    QVERIFY(QFile::remove(QString::fromStdString(here_->database().string() + "-shm")));
    QTRY_VERIFY_WITH_TIMEOUT(here_->banner().text().contains("replaced by another program"), patience_ms);
    QCOMPARE(runs_listed(), 1);
  }

private:
  void train() {
    here_->bench().start_run(WindowHere::small_run(20));
    QTRY_VERIFY_WITH_TIMEOUT(here_->bench().job_queue().idle(), patience_ms);
  }

  void show_and_close_the_dialog() {
    here_->action("Open database…")->trigger();
    const QPointer<QFileDialog> dialog = here_->window().findChild<QFileDialog*>();
    QVERIFY(dialog);
    dialog->setDirectory(here_->folder().path());
    QTRY_VERIFY(dialog->isVisible());
    dialog->grab();
    QTest::keyClick(dialog, Qt::Key_Escape);
    QTRY_VERIFY(!dialog);
  }

  QByteArray output_of(const QStringList& arguments, int* status) const {
    QProcess process;
    process.start(BATCHSCOPE_CLI, QStringList{"--db", QString::fromStdString(here_->database().string())} + arguments);
    if (!process.waitForFinished(patience_ms) || process.exitStatus() != QProcess::NormalExit)
      qFatal("the command line did not end");
    *status = process.exitCode();
    if (*status != 0)
      qInfo("%s", process.readAllStandardError().constData());
    return process.readAllStandardOutput();
  }
  int cli(const QStringList& arguments) const {
    int status = -1;
    output_of(arguments, &status);
    return status;
  }
  int runs_listed() const {
    int status = -1;
    const auto document = QJsonDocument::fromJson(output_of({"list", "--json"}, &status));
    return status == 0 ? static_cast<int>(document.object().value("runs").toArray().size()) : -1;
  }

  std::unique_ptr<WindowHere> here_;
};

BATCHSCOPE_TEST(SharedDatabaseTest)
#include "tst_shared_database.moc"
