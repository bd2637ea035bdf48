// The run database as a file: open, new, back up, merge, repair a copy, restore deleted runs, purge.
#include <filesystem>
#include <system_error>

#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>

#include "ui/runs/deleted_runs.h"
#include "ui/widgets/commands.h"
#include "ui/widgets/file_dialog.h"
#include "ui/widgets/widgets.h"
#include "ui/window/main_window.h"

namespace batchscope::ui {

namespace {

constexpr qsizetype most_recent = 8;

QStringList database_filters() {
  return {MainWindow::tr("Run databases (*.db *.sqlite)"), MainWindow::tr("All files (*)")};
}

QFileDialog* new_database_dialog(QWidget* parent, const QString& title, const QString& name) {
  QFileDialog* dialog = save_file_dialog(parent, title, database_filters(), name);
  dialog->setDefaultSuffix(QStringLiteral("db"));
  return dialog;
}

} // namespace

void MainWindow::make_database_commands(QMenu& menu) {
  QAction* fresh = command(tr("&New database…"), "open", {}, tr("Create an empty run database and open it"));
  QAction* open = command(tr("&Open database…"), "open", QKeySequence(QStringLiteral("Ctrl+Shift+O")),
                          tr("Open another run database or create a new one"));
  connect(fresh, &QAction::triggered, this, &MainWindow::choose_new_database);
  connect(open, &QAction::triggered, this, &MainWindow::choose_database);
  menu.addActions({fresh, open});
  recent_menu_ = menu.addMenu(tr("Open &recent"));
  connect(recent_menu_, &QMenu::aboutToShow, this, &MainWindow::fill_recent_menu);
  menu.addSeparator();
  QAction* back_up = command(tr("&Back up database…"), "export", {},
                             tr("Write a complete copy of the run database, also while runs train"));
  QAction* merge =
      command(tr("&Merge a database…"), "open", {}, tr("Add the runs of another run database to this one"));
  QAction* repair =
      command(tr("Repair a &copy…"), {}, {},
              tr("Write everything that is whole in this database into a new one; this one stays as it is"));
  QAction* restore =
      command(tr("&Restore deleted runs…"), "undo", {}, tr("Choose among the runs that are marked as deleted"));
  QAction* purge =
      command(tr("&Purge deleted runs…"), "trash", {}, tr("Remove the runs that are marked as deleted for good"));
  connect(back_up, &QAction::triggered, this, &MainWindow::choose_backup);
  connect(merge, &QAction::triggered, this, &MainWindow::choose_merge);
  connect(repair, &QAction::triggered, this, &MainWindow::choose_repaired_copy);
  connect(restore, &QAction::triggered, this, &MainWindow::choose_deleted);
  connect(purge, &QAction::triggered, this, [this] { ask_to_purge(); });
  const auto update = [this, merge, restore, purge] {
    const QString& why = workbench_.run_database().read_only();
    for (QAction* action : {merge, restore, purge})
      allow(*action, why.isEmpty(), why);
  };
  connect(&workbench_.run_database(), &RunDatabase::read_only_changed, merge, update);
  update();
  menu.addActions({back_up, merge, repair, restore, purge});
}

void MainWindow::fill_recent_menu() {
  recent_menu_->clear();
  for (const QString& file : std::as_const(recent_)) {
    if (file != recent_.first())
      recent_menu_->addAction(file, this, [this, file] { open_database(file); });
  }
  if (recent_menu_->isEmpty())
    recent_menu_->addAction(tr("No other recent database"))->setEnabled(false);
}

void MainWindow::choose_database() {
  QFileDialog* dialog = open_file_dialog(this, tr("Open a run database"), database_filters());
  dialog->setDirectory(QFileInfo(recent_.value(0)).path());
  dialog->setFileMode(QFileDialog::AnyFile); // a new name creates a database
  dialog->setDefaultSuffix(QStringLiteral("db"));
  connect(dialog, &QFileDialog::fileSelected, this, &MainWindow::open_database);
  dialog->open();
}

/// A name that is taken is opened: nothing is ever replaced by an empty database.
void MainWindow::choose_new_database() {
  QFileDialog* dialog = new_database_dialog(this, tr("New run database"), QStringLiteral("runs.db"));
  dialog->setOption(QFileDialog::DontConfirmOverwrite);
  connect(dialog, &QFileDialog::fileSelected, this, &MainWindow::open_database);
  dialog->open();
}

/// Only a file that can be used takes the place of the open one.
void MainWindow::open_database(const QString& file) {
  std::error_code none_yet; // a new name cannot be another name of the open database
  if (file == recent_.value(0) ||
      std::filesystem::equivalent(file.toStdString(), recent_.value(0).toStdString(), none_yet))
    return;
  care_->check(file, [this, file](const QString& /*said*/, const QString& problem) {
    if (problem.isEmpty())
      open_checked(file);
    else
      show_problem(problem);
  });
}

void MainWindow::open_checked(const QString& file) {
  if (closing_ || !isVisible())
    return; // it was closed meanwhile
  next_database_ = file;
  recent_.removeAll(file);
  recent_.insert(1, file);
  recent_ = recent_.first(qMin(recent_.size(), most_recent));
  close();
}

void MainWindow::choose_backup() {
  const QString name = QFileInfo(recent_.value(0)).completeBaseName() + QStringLiteral("-backup.db");
  QFileDialog* dialog = new_database_dialog(this, tr("Back up the run database"), name);
  connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) {
    care_->back_up(file, [this](const QString& said, const QString& problem) { say(said, problem); });
  });
  dialog->open();
}

void MainWindow::choose_merge() {
  QFileDialog* dialog = open_file_dialog(this, tr("Merge a run database into this one"), database_filters());
  dialog->setFileMode(QFileDialog::ExistingFile);
  connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) {
    care_->merge(file, [this](const QString& said, const QString& problem) { say(said, problem); });
  });
  dialog->open();
}

void MainWindow::choose_repaired_copy() {
  const QString name = QFileInfo(recent_.value(0)).completeBaseName() + QStringLiteral("-repaired.db");
  QFileDialog* dialog = new_database_dialog(this, tr("Repaired copy of the run database"), name);
  dialog->setOption(QFileDialog::DontConfirmOverwrite); // it is refused
  connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) {
    care_->repair_copy(file, [this, file](const QString& said, const QString& problem) {
      say(said, problem);
      if (!problem.isEmpty())
        return;
      on_banner_ = [this, file] { open_database(file); };
      banner_->show_note(said, tr("Open it"));
    });
  });
  dialog->open();
}

void MainWindow::choose_deleted() {
  RunDatabase& runs = workbench_.run_database();
  runs.read_deleted(this, [this, &runs](const std::vector<store::RunRow>& deleted) {
    if (deleted.empty())
      return say(tr("No run is marked as deleted."), {});
    auto* dialog = new DeletedRuns(deleted, this);
    connect(dialog, &DeletedRuns::restored, this, [this, &runs](const std::vector<std::int64_t>& chosen) {
      runs.set_deleted(chosen, false);
      say(chosen.size() == 1 ? tr("1 run restored.") : tr("%1 runs restored.").arg(chosen.size()), {});
    });
    dialog->open();
  });
}

void MainWindow::ask_to_purge() {
  workbench_.run_database().read_deleted(this, [this](const std::vector<store::RunRow>& deleted) {
    if (deleted.empty())
      return say(tr("No run is marked as deleted."), {});
    ask_to_purge(static_cast<qsizetype>(deleted.size()));
  });
}

void MainWindow::ask_to_purge(qsizetype deleted) {
  auto* question = new QMessageBox(
      QMessageBox::NoIcon, tr("Purge deleted runs?"),
      deleted == 1 ? tr("Remove the run that is marked as deleted, with its points, for good?")
                   : tr("Remove the %1 runs that are marked as deleted, with their points, for good?").arg(deleted),
      QMessageBox::NoButton, this);
  question->setObjectName(QStringLiteral("purge_question"));
  question->setAttribute(Qt::WA_DeleteOnClose);
  question->setInformativeText(tr("This cannot be undone. Other runs stay as they are."));
  QPushButton* purge = question->addButton(tr("Purge"), QMessageBox::AcceptRole);
  QPushButton* keep = question->addButton(tr("Keep them"), QMessageBox::RejectRole);
  question->setDefaultButton(keep);
  question->setEscapeButton(keep);
  connect(purge, &QPushButton::clicked, this, [this] {
    workbench_.run_database().purge_deleted(this, [this](std::int64_t runs) {
      say(runs == 1 ? tr("1 deleted run removed.") : tr("%1 deleted runs removed.").arg(runs), {});
    });
  });
  question->open();
}

void MainWindow::say(const QString& said, const QString& problem) {
  if (!problem.isEmpty())
    return show_problem(problem);
  run_database_problem_ = false;
  banner_->show_note(said);
}

void MainWindow::show_database_problem(const QString& text, bool damaged) {
  if (!text.isEmpty()) {
    on_banner_ = [this, damaged] { damaged ? choose_repaired_copy() : choose_database(); };
    banner_->show_problem(text, damaged ? tr("Repair a copy…") : tr("Open another database…"));
    run_database_problem_ = true;
  } else if (std::exchange(run_database_problem_, false)) {
    banner_->dismiss();
  }
}

} // namespace batchscope::ui
