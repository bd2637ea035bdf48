#pragma once

#include <QMainWindow>

#include "ui/run/page.h"
#include "ui/run/workbench.h"
#include "ui/window/settings.h"

class QButtonGroup;
class QStackedWidget;

namespace batchscope::ui {

class Banner;
class CommandPalette;

/// Puts the pages together: rail, menu, banner, status line, command palette. Knows no page but by ui/run/page.h.
class MainWindow : public QMainWindow {
  Q_OBJECT

public:
  MainWindow(Theme& theme, Workbench& workbench, Settings settings, QList<Page*> pages);
  ~MainWindow() override;

  void show_page(const QString& key);
  QString shown_page() const;
  QList<QAction*> all_actions() const; ///< what the command palette offers

protected:
  void closeEvent(QCloseEvent* event) override;

private:
  void make_menus();
  void make_rail();
  void make_status_line();
  void restore();
  void keep();

  Theme& theme_;
  Workbench& workbench_;
  Settings settings_;
  QList<Page*> pages_;
  QStackedWidget* stack_ = nullptr;
  QButtonGroup* rail_ = nullptr;
  Banner* banner_ = nullptr;
  CommandPalette* palette_ = nullptr;
  bool closing_ = false;
};

} // namespace batchscope::ui
