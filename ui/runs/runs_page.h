#pragma once

#include <QSet>
#include <QUndoStack>

#include "core/store/run_reader.h"
#include "ui/workbench/page.h"

class QLabel;
class QLineEdit;
class QStackedWidget;

namespace batchscope::ui {

class Pill;
class RunActions;
class RunDetails;
class RunFilter;
class RunTable;
class RunTableModel;
class Workbench;

/// All runs of the database: find, open together, rename, annotate, delete and export them. UI thread.
class RunsPage : public Page {
  Q_OBJECT

public:
  explicit RunsPage(Workbench& workbench, QWidget* parent = nullptr);

  QString key() const override { return QStringLiteral("runs"); }
  QString title() const override { return tr("Runs"); }
  QString icon() const override { return QStringLiteral("runs"); }
  QList<QAction*> page_actions() const override;
  QList<KeyGroup> key_groups() const override;
  QUndoStack* undo_stack() override { return &undo_; }
  QJsonObject state() const override;
  void restore(const QJsonObject& state) override;

protected:
  void resizeEvent(QResizeEvent* event) override;

private:
  QWidget* make_header();
  QWidget* make_places();
  QWidget* make_unreadable();
  void make_filter_action();
  void follow_workbench();
  void show_changes(const store::ListChanges& changes);
  void show_runs();
  void show_plotted();
  void show_filter();
  void place_filter_error();
  void show_details();
  void show_place(); ///< the table, or its replacement while there is nothing to show
  void select_wanted();
  void ask_for_lengths(const std::vector<store::RunRow>& runs);
  void rename(qint64 run, const QString& before, const QString& name);
  void annotate(qint64 run, const QString& before, const QString& note);

  Workbench& workbench_;
  QUndoStack undo_; ///< names, notes, deletions
  RunTableModel* runs_;
  RunFilter* shown_;
  RunTable* table_;
  RunActions* actions_;
  RunDetails* details_;
  QAction* find_action_ = nullptr;
  Pill* count_ = nullptr;
  QLineEdit* filter_ = nullptr;
  QLabel* filter_error_ = nullptr;
  QWidget* tools_ = nullptr; ///< parts of the header that are only useful with runs
  QLabel* why_unreadable_ = nullptr;
  QStackedWidget* places_ = nullptr;
  QList<qint64> wanted_; ///< to be selected once they are in the list
  QSet<qint64> asked_;   ///< running runs whose length was requested
};

} // namespace batchscope::ui
