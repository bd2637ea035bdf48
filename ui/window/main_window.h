#pragma once

#include <QHash>
#include <QMainWindow>
#include <QPointer>
#include <QThreadPool>
#include <QTimer>

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

/// Puts the pages together: rail, menu, banner, status line, command palette. Knows no page but by ui/run/page.h.
/// UI thread.
class MainWindow : public QMainWindow {
  Q_OBJECT

public:
  MainWindow(Theme& theme, Workbench& workbench, Settings settings, QList<Page*> pages);
  ~MainWindow() override;

  void show_page(const QString& key);
  QString shown_page() const;
  QList<QAction*> all_actions() const; ///< what the command palette offers
  /// Ends what the engine works on, waits until all is stored, keeps the settings and closes.
  void close_without_asking();
  /// The database that is to be opened in a new window once this one is closed; empty: none.
  const QString& next_database() const { return next_database_; }

  /// The database that was open last, as kept in settings; empty at the first start.
  static QString last_database(const Settings& settings);

protected:
  void closeEvent(QCloseEvent* event) override;
  void showEvent(QShowEvent* event) override;

private:
  // Made once, main_window.cpp.
  void make_body();
  void make_places();
  void watch_workbench();
  QWidget* make_corner();
  // Menus and what they do, main_window_menus.cpp.
  void make_menus();
  void make_file_menu();
  void make_edit_menu();
  void make_view_menu();
  void make_help_menu();
  void fill_recent_menu();
  void fill_run_menu();
  QAction* command(const QString& text, const QString& icon, const QKeySequence& keys, const QString& tip);
  void open_palette();
  void open_keys();
  QList<KeyGroup> key_groups() const;
  void choose_database();
  void open_database(const QString& file);
  void choose_export();
  void export_to(const QString& file, const QString& format);
  void set_mode(Theme::Mode mode);
  void show_about();
  // What is kept from one start to the next, main_window_state.cpp.
  void restore();
  void restore_runs(const QJsonObject& kept);
  void reset_layout();
  QJsonObject content() const;
  void keep();     ///< beside what goes on in the window
  void keep_now(); ///< it is kept when this returns
  void note_kept(const QJsonObject& content, const QString& problem);
  // Closing, main_window_closing.cpp.
  bool may_close_now() const; ///< nothing is at work or being written
  bool may_close_at_once() const;
  void ask_to_close();
  void close_when_idle();

  Page* page(const QString& key) const;
  void place_by_default();
  void show_problem(const QString& text);
  void show_title();

  Theme& theme_;
  Workbench& workbench_;
  Settings settings_;
  QList<Page*> pages_;
  QHash<QString, QJsonObject> fresh_states_; ///< of the pages before anything was restored, by key

  QUndoGroup* undo_; ///< each page brings its stack
  Rail* rail_ = nullptr;
  Banner* banner_ = nullptr;
  QStackedWidget* stack_ = nullptr;
  CommandPalette* palette_ = nullptr;
  KeySheet* keys_ = nullptr;
  QMenu* recent_menu_ = nullptr;
  QMenu* run_menu_ = nullptr;
  QHash<QString, QMenu*> page_menus_; ///< of the pages that are not shown, by key
  QList<QAction*> commands_;          ///< the window's own
  QAction* palette_action_ = nullptr; ///< not among them: the palette does not offer itself
  QActionGroup* places_ = nullptr;    ///< one action a page, in their order
  QActionGroup* modes_ = nullptr;
  QPointer<QMessageBox> question_;

  QJsonObject kept_;   ///< as last written
  QStringList recent_; ///< databases, the last opened one first
  QTimer keep_timer_;
  bool keep_failed_ = false;          ///< said once, until it succeeds again
  bool keeping_ = false;              ///< a write is under way
  bool run_database_problem_ = false; ///< the banner shows one
  bool closing_ = false;              ///< once the engine rests
  QString next_database_;
  QThreadPool writer_; ///< of settings, one at a time; last: waits for it
};

} // namespace batchscope::ui
