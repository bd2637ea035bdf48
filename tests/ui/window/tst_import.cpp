#include <QCheckBox>
#include <QComboBox>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFile>
#include <QFileDialog>
#include <QLabel>
#include <QMimeData>
#include <QPushButton>
#include <QTableView>
#include <QTableWidget>
#include <QTest>
#include <QUrl>

#include "core/store/run_reader.h"
#include "test_program.h"
#include "ui/window/import_dialog.h"
#include "ui/window/pages.h"
#include "ui/window/window_test.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

/// Runs of other programs in the window with its real pages: commands, dropped files, the dialog, the table of runs.
class ImportTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void init() {
    folder_ = std::make_unique<QTemporaryDir>();
    bench_ = std::make_unique<Workbench>(theme_, folder_->filePath("runs.db").toStdString());
    window_ =
        std::make_unique<MainWindow>(theme_, *bench_, Settings(folder_->filePath("window.json")), make_pages(*bench_));
    window_->show();
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
  }
  void cleanup() {
    window_.reset();
    bench_.reset();
  }

  void droppedFilesBecomeSelectedRuns() {
    drop({written("metrics.csv", "step,train_loss\n1,0.5\n2,0.25\n"), written("b.csv", "step,f1\n1,0.5\n")});
    auto* import = button("Import 2 runs");
    QCOMPARE(runs()->rowCount(), 2);
    QCOMPARE(runs()->item(1, 0)->text(), "b");
    QCOMPARE(runs()->item(0, 3)->text(), "2");
    QVERIFY(runs()->item(0, 4)->text() == "loss");
    import->click();
    QTRY_COMPARE_WITH_TIMEOUT(banner(), QString("Imported 2 runs."), patience_ms);
    QCOMPARE(window_->shown_page(), QString("runs"));
    QTRY_COMPARE_WITH_TIMEOUT(selected(), 2, patience_ms);
    QTRY_VERIFY(dialog() == nullptr);
    // The same again, one of them grown, and another one.
    written("b.csv", "step,f1\n1,0.5\n2,0.75\n");
    drop({folder_->filePath("metrics.csv"), folder_->filePath("b.csv"), written("c.csv", "step,f1\n1,1\n")});
    button("Import 3 runs")->click();
    QTRY_COMPARE_WITH_TIMEOUT(banner(), QString("Imported 1 run, 1 extended, 1 already imported."), patience_ms);
    QTRY_COMPARE_WITH_TIMEOUT(selected(), 1, patience_ms);
  }

  void columnsAreMapped() {
    drop({written("other.csv", "tick,f1,comment\n1,0.25,a\n2,0.5,b\n")});
    auto* import = button("Import 0 runs");
    QVERIFY(!import->isEnabled());
    auto* errors = dialog()->findChild<QLabel*>("import-errors");
    QVERIFY2(errors->isVisible() && errors->text().contains("no column counts the steps"), qPrintable(errors->text()));
    box("tick")->setEditText("step");
    QTRY_COMPARE_WITH_TIMEOUT(import->text(), QString("Import 1 run"), patience_ms);
    QVERIFY(import->isEnabled() && !errors->isVisible());
    QCOMPARE(runs()->item(0, 4)->text(), "f1");
    box("f1")->setEditText("validation_accuracy");
    QVERIFY(!import->isEnabled()); // until the file has been read so
    QTRY_COMPARE_WITH_TIMEOUT(runs()->item(0, 4)->text(), QString("validation_accuracy"), patience_ms);
    box("f1")->setEditText("");
    QTRY_COMPARE_WITH_TIMEOUT(import->text(), QString("Import 0 runs"), patience_ms);
    box("f1")->setEditText("f1");
    QTRY_COMPARE_WITH_TIMEOUT(import->text(), QString("Import 1 run"), patience_ms);
    import->click();
    QTRY_COMPARE_WITH_TIMEOUT(bench_->run_database().runs().size(), std::size_t{1}, patience_ms);
    QCOMPARE(store::RunReader(bench_->run_database().database()).series_names(1), std::vector<std::string>{"f1"});
  }

  void whatCannotBeImportedIsSaidInTheBanner() {
    drop({written("notes.txt", "hello")});
    QTRY_VERIFY_WITH_TIMEOUT(banner().startsWith("Not imported: ") && banner().contains("notes.txt"), patience_ms);
    QVERIFY(!banner().contains('\n'));
    QTRY_VERIFY(dialog() == nullptr);
    // Beside something that can be imported it is said in the dialog.
    drop({folder_->filePath("notes.txt"), written("a.csv", "step,x\n1,2\n")});
    button("Import 1 run");
    QVERIFY(dialog()->findChild<QLabel*>("import-errors")->text().contains("notes.txt"));
    QTest::keyClick(dialog(), Qt::Key_Escape);
    QTRY_VERIFY(dialog() == nullptr);
    QVERIFY(!QFile::exists(folder_->filePath("runs.db"))); // nothing was written
  }

  void commandsChooseFilesOrAFolder() {
    QDir(folder_->path()).mkpath("logs/version_0");
    written("logs/version_0/metrics.csv", "step,train_loss\n1,0.5\n");
    for (const QString text : {"Import runs…", "Import a folder…"}) {
      action(text)->trigger();
      QPointer<QFileDialog> files = window_->findChild<QFileDialog*>();
      QVERIFY(files);
      Q_EMIT files->filesSelected({folder_->filePath(text == "Import runs…" ? "logs/version_0/metrics.csv" : "logs")});
      files->close();
      button("Import 1 run")->click();
      QTRY_VERIFY_WITH_TIMEOUT(dialog() == nullptr, patience_ms);
      QTRY_VERIFY(!files);
    }
    QCOMPARE(banner(), QString("Imported 0 runs, 1 already imported."));
  }

  void aFileIsFollowedUntilItIsStopped() {
    const auto* status = window_->findChild<QLabel*>("followed");
    QAction* stop = action("Stop following");
    QVERIFY(status->isHidden() && !stop->isEnabled());
    drop({written("grows.csv", "step,train_loss\n1,0.5\n"), written("notes.txt", "hello")});
    auto* import = button("Import 1 run");
    dialog()->findChild<QCheckBox*>("follow")->setChecked(true);
    import->click();
    QTRY_COMPARE_WITH_TIMEOUT(banner(), QString("Imported 1 run."), patience_ms);
    QTRY_VERIFY(dialog() == nullptr);
    QVERIFY(status->isVisible() && stop->isEnabled());
    QCOMPARE(status->text(), QString("following 1 file"));
    const auto run = [this] { return bench_->run_database().runs().front(); };
    const auto steps = [&] { return bench_->run_database().runs().empty() ? 0 : run().outcome.steps; };
    QTRY_COMPARE_WITH_TIMEOUT(steps(), std::int64_t{1}, patience_ms);
    QCOMPARE(run().outcome.status, telemetry::RunStatus::running);
    written("grows.csv", "step,train_loss\n1,0.5\n2,0.25\n3,0.1\n");
    QTRY_COMPARE_WITH_TIMEOUT(steps(), std::int64_t{3}, patience_ms);
    QFile::remove(folder_->filePath("grows.csv"));
    QTRY_VERIFY_WITH_TIMEOUT(banner().startsWith("Not read yet: ") && banner().contains("grows.csv"), patience_ms);
    written("grows.csv", "step,train_loss\n1,0.5\n2,0.25\n3,0.1\n4,0.2\n");
    QTRY_COMPARE_WITH_TIMEOUT(steps(), std::int64_t{4}, patience_ms);
    written("grows.csv", "step,train_loss\n1,0.5\n2,0.25\n3,0.1\n4,0.2\n5,0.3\n");
    stop->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(status->isHidden() && !stop->isEnabled(), patience_ms);
    QTRY_COMPARE_WITH_TIMEOUT(steps(), std::int64_t{5}, patience_ms); // read once more
    QTRY_VERIFY_WITH_TIMEOUT(run().outcome.status != telemetry::RunStatus::running, patience_ms);
  }

  void closingEndsTheFollowing() {
    drop({written("grows.csv", "step,train_loss\n1,0.5\n")});
    auto* import = button("Import 1 run");
    dialog()->findChild<QCheckBox*>("follow")->setChecked(true);
    import->click();
    QTRY_COMPARE_WITH_TIMEOUT(banner(), QString("Imported 1 run."), patience_ms);
    written("grows.csv", "step,train_loss\n1,0.5\n2,0.25\n");
    const auto database = bench_->run_database().database();
    window_.reset();
    bench_.reset();
    const store::RunReader reader(database);
    QCOMPARE(reader.run(1).outcome.steps, std::int64_t{2});
    QVERIFY(reader.run(1).outcome.status != telemetry::RunStatus::running);
  }

  void otherThingsAreNotAccepted() {
    QMimeData text;
    text.setText("hello");
    QDragEnterEvent enter(QPoint(10, 10), Qt::CopyAction, &text, Qt::LeftButton, Qt::NoModifier);
    enter.ignore();
    QApplication::sendEvent(window_.get(), &enter);
    QVERIFY(!enter.isAccepted());
  }

private:
  QString written(const QString& name, const QByteArray& content) {
    QFile file(folder_->filePath(name));
    if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size())
      qFatal("a test's file could not be written");
    return file.fileName();
  }
  void drop(const QStringList& files) {
    QList<QUrl> urls;
    for (const QString& file : files)
      urls.append(QUrl::fromLocalFile(file));
    QMimeData data;
    data.setUrls(urls);
    QDragEnterEvent enter(QPoint(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(window_.get(), &enter);
    QVERIFY(enter.isAccepted());
    QDropEvent event(QPointF(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(window_.get(), &event);
  }
  QAction* action(const QString& text) {
    for (QAction* each : window_->all_actions())
      if (each->text().remove('&') == text)
        return each;
    qFatal("no command %s", qPrintable(text));
  }
  ImportDialog* dialog() { return window_->findChild<ImportDialog*>(); }
  QTableWidget* runs() { return dialog()->findChildren<QTableWidget*>().first(); }
  /// The dialog's button, once it has this text.
  QPushButton* button(const QString& text) {
    QPushButton* found = nullptr;
    const auto look = [&] {
      if (dialog() != nullptr)
        for (auto* each : dialog()->findChildren<QPushButton*>())
          if (each->text() == text)
            found = each;
      return found != nullptr;
    };
    if (!QTest::qWaitFor(look, patience_ms))
      qFatal("no button %s", qPrintable(text));
    return found;
  }
  QComboBox* box(const QString& column) {
    for (auto* each : dialog()->findChildren<QComboBox*>())
      if (each->accessibleName() == "What " + column + " becomes")
        return each;
    qFatal("no column %s", qPrintable(column));
  }
  QString banner() { return window_->findChild<Banner*>()->text(); }
  int selected() {
    for (auto* table : window_->findChildren<QTableView*>())
      if (table->accessibleName() == "Runs")
        return static_cast<int>(table->selectionModel()->selectedRows().size());
    return -1;
  }

  Theme theme_;
  std::unique_ptr<QTemporaryDir> folder_;
  std::unique_ptr<Workbench> bench_;
  std::unique_ptr<MainWindow> window_;
};

BATCHSCOPE_TEST(ImportTest)
#include "tst_import.moc"
