#pragma once

#include <QHash>
#include <QMainWindow>
#include <QPointer>
#include <QTimer>

#include <functional>

#include "ui/database/database_care.h"
#include "ui/threads/ui_queue.h"
#include "ui/threads/worker_thread.h"
#include "ui/window/settings.h"
#include "ui/workbench/page.h"
#include "ui/workbench/workbench.h"

class QActionGroup;
class QMessageBox;
class QStackedWidget;
class QUndoGroup;

namespace batchscope::ui {

class Banner;
class CommandPalette;
class KeySheet;
class Rail;

/// The main window: rail, pages, menu, banner, status line, command palette. It uses pages only through
/// ui/workbench/page.h. UI thread.
class MainWindow : public QMainWindow {
  Q_OBJECT

public:
  MainWindow(Theme& theme, Workbench& workbench, Settings settings, QList<Page*> pages);
  ~MainWindow() override;

  void show_page(const QString& key);
  QString shown_page() const;
  QList<QAction*> all_actions() const; ///< the commands of the command palette
  /// Stops the engine's jobs, waits until everything is stored, saves the settings and closes.
  void close_without_asking();
  /// The database to open in a new window after this one is closed; empty: none.
  const QString& next_database() const { return next_database_; }

  /// The last opened database, from the settings; empty at the first start.
  static QString last_database(const Settings& settings);

protected:
  void closeEvent(QCloseEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override; // of files to import
  void dropEvent(QDropEvent* event) override;

private:
  // Creation, main_window.cpp.
  void make_body();
  void make_places();
  void watch_workbench();
  QWidget* make_corner();
  // Menus and their commands, main_window_menus.cpp.
  void make_menus();
  void make_file_menu();
  void make_edit_menu();
  void make_view_menu();
  void make_help_menu();
  void fill_run_menu();
  QAction* command(const QString& text, const QString& icon, const QKeySequence& keys, const QString& tip);
  void open_palette();
  void open_keys();
  void open_manual();
  QList<KeyGroup> key_groups() const;
  // The database as a file, main_window_database.cpp.
  void make_database_commands(QMenu& menu);
  void choose_database();
  void choose_new_database();
  void fill_recent_menu();
  void open_database(const QString& file);
  void open_checked(const QString& file);
  void choose_backup();
  void choose_merge();
  void choose_repaired_copy();
  void choose_deleted();
  void ask_to_purge();
  void ask_to_purge(qsizetype deleted);
  void say(const QString& said, const QString& problem);
  void show_database_problem(const QString& text, bool damaged);
  // Import, main_window_import.cpp.
  void make_import_commands(QMenu& menu);
  void choose_import(bool folder);
  void import_files(const QStringList& paths);
  void choose_export();
  void export_to(const QString& file, const QString& format);
  void set_mode(Theme::Mode mode);
  void show_about();
  // State kept between starts, main_window_state.cpp.
  void restore();
  void restore_runs(const QJsonObject& kept);
  void reset_layout();
  QJsonObject content() const;
  void keep();     ///< saves the state in the background
  void keep_now(); ///< saves the state before it returns
  void note_kept(const QJsonObject& content, const QString& problem);
  // Closing, main_window_closing.cpp.
  bool may_close_now() const; ///< no job is running, nothing is being written
  bool may_close_at_once() const;
  void ask_to_close();
  void close_when_idle();

  Page* page(const QString& key) const;
  void place_by_default();
  void show_problem(const QString& text);
  void show_title();
  void show_not_storing(const QString& why);

  Theme& theme_;
  Workbench& workbench_;
  Settings settings_;
  QList<Page*> pages_;
  QHash<QString, QJsonObject> fresh_states_; ///< initial states of the pages, before anything was restored, by key

  QUndoGroup* undo_; ///< contains the stack of each page
  Rail* rail_ = nullptr;
  Banner* banner_ = nullptr;
  QStackedWidget* stack_ = nullptr;
  CommandPalette* palette_ = nullptr;
  KeySheet* keys_ = nullptr;
  QMenu* recent_menu_ = nullptr;
  QMenu* run_menu_ = nullptr;
  QHash<QString, QMenu*> page_menus_; ///< menus of hidden pages, by key
  QList<QAction*> commands_;          ///< commands of the window itself
  QAction* palette_action_ = nullptr; ///< not in commands_: the palette does not list itself
  QActionGroup* places_ = nullptr;    ///< one action per page, in order
  QActionGroup* modes_ = nullptr;
  QPointer<QMessageBox> question_;

  QJsonObject kept_;   ///< as last saved
  QStringList recent_; ///< recent databases, the last opened one first
  QTimer keep_timer_;
  bool keep_failed_ = false;          ///< reported once, until saving succeeds again
  bool keeping_ = false;              ///< a save is in progress
  bool run_database_problem_ = false; ///< the banner shows a problem of the database
  QString not_storing_;               ///< what the banner says of it, unless it was dismissed
  std::function<void()> on_banner_;   ///< what its button does
  bool closing_ = false;              ///< close when the engine is idle
  QString next_database_;
  DatabaseCare* care_;
  UiQueue saved_;
  WorkerThread writer_; ///< saves settings; last member: its destructor waits
};

} // namespace batchscope::ui
