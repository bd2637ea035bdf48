#include "ui/runs/run_actions.h"

#include <algorithm>

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QInputDialog>
#include <QMenu>
#include <QMimeData>

#include "ui/runs/run_commands.h"
#include "ui/runs/run_table.h"
#include "ui/runs/run_table_model.h"
#include "ui/widgets/commands.h"
#include "ui/workbench/run_export.h"
#include "ui/workbench/workbench.h"

namespace batchscope::ui {

RunActions::RunActions(Workbench& workbench, QUndoStack& undo, RunTable& table, RunTableModel& runs, QWidget& page)
    : QObject(&page), workbench_(workbench), undo_(undo), table_(table), runs_(runs), page_(page) {
  open_ = add(tr("Open"), QStringLiteral("open"), tr("Plot the selected runs together (Enter)"),
              &RunActions::open_selected);
  open_->setShortcuts({QKeySequence(Qt::Key_Return), QKeySequence(Qt::Key_Enter)});
  compare_ = add(tr("Compare runs"), QStringLiteral("compare"),
                 tr("Compare the selected runs on the Compare page, or all if one is selected"),
                 &RunActions::compare_selected);
  compare_->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_M));
  train_again_ = add(tr("Train again with changes"), QStringLiteral("new-run"),
                     tr("Fill the New run form with the settings of this run"), &RunActions::train_current_again);
  train_again_->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_T));
  resume_ = add(tr("Resume run"), QStringLiteral("play"),
                tr("Resume the selected run from its last checkpoint, exactly as if it had not ended; if your own "
                   "program is still training, watch it again"),
                &RunActions::resume_current);
  auto* rename = add(tr("Rename run"), QStringLiteral("rename"), tr("Rename the current run in place"),
                     &RunActions::rename_current);
  rename->setShortcut(QKeySequence(Qt::Key_F2));
  auto* annotate = add(tr("Edit note"), QStringLiteral("note"), tr("Write a note on the current run in place"),
                       &RunActions::annotate_current);
  annotate->setShortcut(QKeySequence(Qt::SHIFT | Qt::Key_F2));
  auto* tag =
      add(tr("Edit tags…"), QStringLiteral("note"), tr("Set the tags of the selected runs"), &RunActions::tag_selected);
  tag->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_G));
  auto* remove = add(tr("Delete runs"), QStringLiteral("trash"), tr("Delete the selected runs; can be undone"),
                     &RunActions::delete_selected);
  remove->setShortcut(QKeySequence::Delete);
  writing_ = {resume_, rename, annotate, tag, remove};
  add(tr("Copy rows"), QStringLiteral("copy"), tr("Copy the selected rows for a spreadsheet"), &RunActions::copy_tabs)
      ->setShortcut(QKeySequence::Copy);
  add(tr("Copy rows as CSV"), QStringLiteral("copy"), tr("Copy the selected rows as comma-separated text"),
      &RunActions::copy_commas);
  make_export_menu();
  connect(&table, &RunTable::selection_changed, this, &RunActions::update);
  connect(&workbench.run_database(), &RunDatabase::read_only_changed, this, &RunActions::update);
  connect(&table, &RunTable::chosen, this, &RunActions::open_selected);
  update();
}

QAction* RunActions::add(const QString& text, const QString& icon, const QString& help, void (RunActions::*slot)()) {
  auto* action = new QAction(workbench_.theme().icon(icon), text, this);
  action->setToolTip(help);
  // In an editor or the filter box, keys such as Enter and Delete have another meaning.
  action->setShortcutContext(Qt::WidgetShortcut);
  connect(action, &QAction::triggered, this, slot);
  table_.addAction(action);
  actions_.append(action);
  return action;
}

void RunActions::make_export_menu() {
  export_menu_ = new QMenu(tr("Export"), &page_);
  const auto* runs = new RunExport(workbench_, page_, [this] { return table_.selected_runs(); });
  for (QAction* action : runs->actions()) {
    export_menu_->addAction(action);
    table_.addAction(action);
    actions_.append(action);
  }
}

QList<QAction*> RunActions::all() const {
  return actions_;
}

void RunActions::update() {
  const auto selected = table_.selected_runs().size();
  for (QAction* action : actions_)
    allow(*action, selected > 0, tr("Select a run first"));
  const QString not_resumable = why_not_resumable();
  allow(*resume_, not_resumable.isEmpty(), not_resumable);
  const QString& read_only = workbench_.run_database().read_only();
  runs_.set_editable(read_only.isEmpty());
  if (!read_only.isEmpty())
    for (QAction* action : writing_)
      allow(*action, false, read_only);
  open_->setText(selected > Workbench::max_opened ? tr("Plot the first %1").arg(Workbench::max_opened)
                 : selected > 1                   ? tr("Plot %1 together").arg(selected)
                                                  : tr("Open"));
}

void RunActions::open_selected() {
  QList<qint64> ids;
  // The current row comes first, so its run becomes the current one.
  if (const auto current = table_.current_run())
    ids.append(*current);
  for (const std::int64_t id : table_.selected_runs())
    if (!ids.contains(id))
      ids.append(id);
  if (ids.isEmpty())
    return;
  workbench_.open(ids);
  Q_EMIT workbench_.page_wanted(QStringLiteral("live"));
}

void RunActions::compare_selected() {
  const auto selected = table_.selected_runs();
  if (selected.size() > 1)
    workbench_.compare({selected.begin(), selected.end()});
  else
    workbench_.compare_all();
}

void RunActions::rename_current() {
  table_.edit(name_column);
}

void RunActions::annotate_current() {
  table_.edit(note_column());
}

void RunActions::tag_selected() {
  const auto runs = table_.selected_runs();
  QList<QStringList> before;
  for (const std::int64_t id : runs) {
    QStringList& tags = before.emplaceBack();
    if (const int row = runs_.row_of(id); row >= 0)
      for (const std::string& tag : runs_.run(row).tags)
        tags.append(QString::fromStdString(tag));
  }
  if (runs.empty())
    return;
  auto* dialog = new QInputDialog(&page_);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(tr("Edit tags"));
  dialog->setLabelText(runs.size() == 1 ? tr("Tags, separated by commas")
                                        : tr("Tags of all %1 runs, separated by commas").arg(runs.size()));
  dialog->setTextValue(before.first().join(QStringLiteral(", ")));
  connect(dialog, &QInputDialog::textValueSelected, this, [this, runs, before](const QString& text) {
    QStringList tags;
    for (const QString& part : text.split(u',', Qt::SkipEmptyParts))
      if (const QString tag = part.trimmed(); !tag.isEmpty() && !tags.contains(tag))
        tags.append(tag);
    auto command = std::make_unique<TagRuns>(workbench_.run_database(), runs, before, tags);
    if (!command->changes())
      return;
    undo_.push(command.release());
    table_.setColumnHidden(run_column("tags"), false); // to see them
  });
  dialog->open();
}

void RunActions::delete_selected() {
  std::vector<std::int64_t> over;
  const auto selected = table_.selected_runs();
  for (const std::int64_t id : selected)
    if (const int row = runs_.row_of(id); row >= 0 && !telemetry::is_open(runs_.run(row).outcome.status))
      over.push_back(id);
  if (over.size() < selected.size())
    Q_EMIT workbench_.problem(tr("Running and queued runs cannot be deleted. Stop a running run, or skip a queued one "
                                 "on the Sweep page, first."));
  if (over.empty())
    return;
  const auto count = over.size();
  undo_.push(new DeleteRuns(workbench_.run_database(), std::move(over)));
  const QString undo = QKeySequence(QKeySequence::Undo).toString(QKeySequence::NativeText);
  Q_EMIT workbench_.note(count == 1 ? tr("1 run deleted. %1 restores it.").arg(undo)
                                    : tr("%1 runs deleted. %2 restores them.").arg(count).arg(undo));
}

void RunActions::with_settings(std::function<void(std::int64_t run, const run::RunSpec& spec)> use) {
  const auto selected = table_.selected_runs();
  if (selected.empty())
    return;
  const std::int64_t id = table_.current_run().value_or(selected.front());
  workbench_.run_database().describe(
      id, this, [this, use = std::move(use)](const StoredRun& run, const QString& error) {
        if (!error.isEmpty())
          Q_EMIT workbench_.problem(error);
        else if (run.spec)
          use(run.row.id, *run.spec);
        else
          Q_EMIT workbench_.problem(
              tr("The settings of run %1 cannot be read: another program or a newer version made it").arg(run.row.id));
      });
}

void RunActions::train_current_again() {
  with_settings([this](std::int64_t /*run*/, const run::RunSpec& spec) { workbench_.propose_run(spec); });
}

void RunActions::resume_current() {
  with_settings([this](std::int64_t run, const run::RunSpec& spec) { workbench_.resume_run(run, spec); });
}

QString RunActions::why_not_resumable() const {
  const auto selected = table_.selected_runs();
  const int row = selected.size() == 1 ? runs_.row_of(selected.front()) : -1;
  if (row < 0)
    return tr("Select one run that was interrupted, was stopped or failed");
  const store::RunRow& run = runs_.run(row);
  const telemetry::RunStatus status = run.outcome.status;
  if (telemetry::is_open(status))
    return tr("The run has not ended");
  if (status == telemetry::RunStatus::finished)
    return tr("The run has finished");
  // The remains of an interrupted run, its program or its output, are taken in.
  return run.settings.program && status != telemetry::RunStatus::interrupted
             ? tr("The program has ended, and only the program itself can resume from its checkpoints. Train it again "
                  "instead.")
             : QString();
}

void RunActions::copy_tabs() {
  auto* data = new QMimeData;
  data->setText(table_.selected_text(u'\t'));
  data->setData(QStringLiteral("text/csv"), table_.selected_text(u',').toUtf8());
  QGuiApplication::clipboard()->setMimeData(data);
}

void RunActions::copy_commas() {
  QGuiApplication::clipboard()->setText(table_.selected_text(u','));
}

} // namespace batchscope::ui

#include "moc_run_actions.cpp"
