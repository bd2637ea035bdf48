// Runs made elsewhere: the commands that import them, and files dropped onto the window.
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFileDialog>
#include <QMenu>
#include <QMimeData>
#include <QUrl>

#include "ui/widgets/commands.h"
#include "ui/widgets/file_dialog.h"
#include "ui/window/import_dialog.h"
#include "ui/window/main_window.h"

namespace batchscope::ui {

namespace {

QStringList dropped_files(const QMimeData& data) {
  QStringList files;
  for (const QUrl& url : data.urls())
    if (url.isLocalFile())
      files.append(url.toLocalFile());
  return files;
}

} // namespace

void MainWindow::make_import_commands(QMenu& menu) {
  QAction* files = command(
      tr("&Import runs…"), "open", QKeySequence(QStringLiteral("Ctrl+Shift+I")),
      tr("Add runs of other programs: W&B, trackio, TensorBoard, MLflow, Hugging Face, Lightning, CSV or JSON"));
  QAction* folder =
      command(tr("Import a &folder…"), "open", {},
              tr("Add the runs in a folder: TensorBoard's or Lightning's logs, wandb, mlruns, checkpoints"));
  connect(files, &QAction::triggered, this, [this] { choose_import(false); });
  connect(folder, &QAction::triggered, this, [this] { choose_import(true); });
  const auto update = [this, files, folder] {
    const QString& why = workbench_.run_database().read_only();
    for (QAction* action : {files, folder})
      allow(*action, why.isEmpty(), why);
    setAcceptDrops(why.isEmpty());
  };
  connect(&workbench_.run_database(), &RunDatabase::read_only_changed, files, update);
  update();
  FollowedImports& followed = workbench_.run_database().followed_imports();
  QAction* stop = command(tr("Stop following"), "stop", {}, tr("Read the followed files once more, and no longer"));
  connect(stop, &QAction::triggered, &followed, &FollowedImports::stop);
  const auto allow_stop = [stop, &followed] { allow(*stop, !followed.paths().isEmpty(), tr("No files are followed")); };
  connect(&followed, &FollowedImports::changed, stop, allow_stop);
  allow_stop();
  menu.addActions({files, folder, stop});
}

void MainWindow::choose_import(bool folder) {
  QFileDialog* dialog =
      open_file_dialog(this, folder ? tr("Import a folder") : tr("Import runs"),
                       {tr("All files (*)"), tr("Tables (*.csv)"), tr("JSON (*.json)"),
                        tr("Databases of MLflow and trackio (*.db *.sqlite)"), tr("Logs of W&B (*.wandb)")});
  dialog->setFileMode(folder ? QFileDialog::Directory : QFileDialog::ExistingFiles);
  connect(dialog, &QFileDialog::filesSelected, this, &MainWindow::import_files);
  dialog->open();
}

void MainWindow::import_files(const QStringList& paths) {
  if (paths.isEmpty() || !workbench_.run_database().read_only().isEmpty())
    return;
  auto* dialog = new ImportDialog(workbench_, paths, this);
  connect(dialog, &ImportDialog::refused, this,
          [this](const QString& why) { show_problem(tr("Not imported: %1").arg(why)); });
  dialog->open();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (!dropped_files(*event->mimeData()).isEmpty())
    event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  event->acceptProposedAction();
  import_files(dropped_files(*event->mimeData()));
}

} // namespace batchscope::ui
