#pragma once

#include <QList>
#include <QObject>

#include <cstdint>
#include <functional>
#include <vector>

#include "core/run/run_spec.h"

class QAction;
class QMenu;
class QUndoStack;
class QWidget;

namespace batchscope::ui {

class RunTable;
class RunTableModel;
class Workbench;

/// Actions on the selected runs, for buttons, the table's menu and keys, the menu bar and the palette. UI thread.
class RunActions : public QObject {
  Q_OBJECT

public:
  RunActions(Workbench& workbench, QUndoStack& undo, RunTable& table, RunTableModel& runs, QWidget& page);

  QAction* open() const { return open_; }
  QAction* train_again() const { return train_again_; }
  QMenu* export_menu() const { return export_menu_; }
  QList<QAction*> all() const;
  void update(); ///< what is allowed: after a change of the runs in the table

private:
  QAction* add(const QString& text, const QString& icon, const QString& help, void (RunActions::*slot)());
  void make_export_menu();

  void open_selected();
  void compare_selected();
  void rename_current();
  void annotate_current();
  void tag_selected();
  void delete_selected();
  void train_current_again();
  void resume_current();
  /// Reads the settings of the current run and calls `use` with its number and them.
  void with_settings(std::function<void(std::int64_t run, const run::RunSpec& spec)> use);
  QString why_not_resumable() const; ///< empty if exactly one run is selected that has ended before its end
  void copy_tabs();
  void copy_commas();

  Workbench& workbench_;
  QUndoStack& undo_;
  RunTable& table_;
  RunTableModel& runs_;
  QWidget& page_;
  QList<QAction*> actions_; ///< in menu order
  QList<QAction*> writing_; ///< those that change the database
  QAction* open_;
  QAction* compare_;
  QAction* train_again_;
  QAction* resume_;
  QMenu* export_menu_;
};

} // namespace batchscope::ui
