// The menus of the window and their commands.
#include <algorithm>

#include <QActionGroup>
#include <QCoreApplication>
#include <QDesktopServices>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenuBar>
#include <QMessageBox>
#include <QUndoGroup>
#include <QUrl>

#include "core/base/resources.h"
#include "core/exchange/export.h"
#include "ui/widgets/command_palette.h"
#include "ui/widgets/commands.h"
#include "ui/widgets/file_dialog.h"
#include "ui/widgets/key_sheet.h"
#include "ui/widgets/widgets.h"
#include "ui/window/main_window.h"

namespace batchscope::ui {

QAction* MainWindow::command(const QString& text, const QString& icon, const QKeySequence& keys, const QString& tip) {
  auto* action = new QAction(text, this);
  if (!icon.isEmpty())
    action->setIcon(theme_.icon(icon));
  action->setShortcut(keys);
  action->setToolTip(keys.isEmpty() ? tip
                                    : QStringLiteral("%1 (%2)").arg(tip, keys.toString(QKeySequence::NativeText)));
  commands_.append(action);
  return action;
}

void MainWindow::make_menus() {
  // One menu bar on every desktop: a native one would have no corner widget.
  menuBar()->setNativeMenuBar(false);
  make_file_menu();
  make_edit_menu();
  run_menu_ = menuBar()->addMenu(tr("&Run"));
  for (const Page* each : std::as_const(pages_))
    page_menus_.insert(each->key(), new QMenu(each->title(), run_menu_));
  connect(run_menu_, &QMenu::aboutToShow, this, &MainWindow::fill_run_menu);
  make_view_menu();
  make_help_menu();
  menuBar()->setCornerWidget(make_corner());
  for (QMenu* menu : menuBar()->findChildren<QMenu*>())
    menu->setToolTipsVisible(true);
}

void MainWindow::make_file_menu() {
  QMenu* menu = menuBar()->addMenu(tr("&File"));
  make_database_commands(*menu);
  menu->addSeparator();
  make_import_commands(*menu);
  QAction* export_action = command(tr("&Export runs…"), "export", QKeySequence(QStringLiteral("Ctrl+Shift+E")),
                                   tr("Write the open runs to a file"));
  const auto update = [this, export_action] {
    allow(*export_action, !workbench_.opened().isEmpty(), tr("No run is open"));
  };
  connect(&workbench_, &Workbench::opened_changed, export_action, update);
  update();
  connect(export_action, &QAction::triggered, this, &MainWindow::choose_export);
  menu->addAction(export_action);
  menu->addSeparator();
  QAction* quit = command(tr("&Quit"), "close", QKeySequence(QStringLiteral("Ctrl+Q")), tr("Close the window"));
  connect(quit, &QAction::triggered, this, &QWidget::close);
  menu->addAction(quit);
}

void MainWindow::make_edit_menu() {
  QMenu* menu = menuBar()->addMenu(tr("&Edit"));
  QAction* undo = undo_->createUndoAction(this, tr("Undo"));
  undo->setIcon(theme_.icon("undo"));
  undo->setShortcuts(QKeySequence::Undo);
  QAction* redo = undo_->createRedoAction(this, tr("Redo"));
  redo->setIcon(theme_.icon("redo"));
  redo->setShortcuts({QKeySequence(QStringLiteral("Ctrl+Shift+Z")), QKeySequence(QStringLiteral("Ctrl+Y"))});
  undo->setProperty(key_help_property, tr("Undo the last change on this page"));
  redo->setProperty(key_help_property, tr("Redo the change that was undone last"));
  set_why_not(*undo, tr("Nothing to undo on this page"));
  set_why_not(*redo, tr("Nothing to redo on this page"));
  menu->addActions({undo, redo});
  commands_ += {undo, redo};
}

void MainWindow::fill_run_menu() {
  run_menu_->clear();
  if (const Page* shown = page(shown_page()))
    run_menu_->addActions(shown->page_actions());
  run_menu_->addSeparator();
  for (const Page* each : std::as_const(pages_)) {
    QMenu* menu = page_menus_.value(each->key());
    menu->clear(); // a page may have more actions by now
    menu->addActions(each->page_actions());
    if (each->key() != shown_page() && !menu->isEmpty())
      run_menu_->addMenu(menu);
  }
}

void MainWindow::make_view_menu() {
  QMenu* menu = menuBar()->addMenu(tr("&View"));
  menu->addActions(places_->actions());
  menu->addSeparator();
  QMenu* mode_menu = menu->addMenu(tr("&Theme"));
  const QList<std::pair<QString, Theme::Mode>> modes{{tr("&System theme"), Theme::Mode::system},
                                                     {tr("&Light theme"), Theme::Mode::light},
                                                     {tr("&Dark theme"), Theme::Mode::dark}};
  for (const auto& [text, mode] : modes) {
    auto* action = new QAction(text, modes_);
    action->setCheckable(true);
    action->setData(static_cast<int>(mode));
    action->setChecked(mode == theme_.mode());
    connect(action, &QAction::triggered, this, [this, chosen = mode] { set_mode(chosen); });
  }
  mode_menu->addActions(modes_->actions());
  QAction* full = command(tr("&Full screen"), {}, QKeySequence(QStringLiteral("F11")), tr("Fill the whole screen"));
  full->setCheckable(true);
  connect(full, &QAction::triggered, this,
          [this](bool wanted) { setWindowState(windowState().setFlag(Qt::WindowFullScreen, wanted)); });
  connect(menu, &QMenu::aboutToShow, full, [this, full] { full->setChecked(isFullScreen()); });
  QAction* reset =
      command(tr("&Reset layout"), {}, {}, tr("Reset the window size, columns and scales to their defaults"));
  connect(reset, &QAction::triggered, this, &MainWindow::reset_layout);
  menu->addActions({full, reset});
}

void MainWindow::make_help_menu() {
  QMenu* menu = menuBar()->addMenu(tr("&Help"));
  auto* palette = new QAction(theme_.icon("search"), tr("All &commands…"), this);
  palette->setShortcut(QKeySequence(QStringLiteral("Ctrl+K")));
  palette->setToolTip(tr("Search all commands (Ctrl+K)"));
  connect(palette, &QAction::triggered, this, &MainWindow::open_palette);
  menu->addAction(palette);
  palette_action_ = palette;
  QAction* keys = command(tr("&Keyboard shortcuts"), {}, {}, tr("Show all keyboard shortcuts (?)"));
  keys->setShortcuts({QKeySequence(Qt::Key_Question), QKeySequence(Qt::Key_F1)});
  connect(keys, &QAction::triggered, this, &MainWindow::open_keys);
  menu->addAction(keys);
  QAction* handbook = command(tr("&Manual"), "open", {}, tr("Open the manual in another program"));
  connect(handbook, &QAction::triggered, this, &MainWindow::open_manual);
  menu->addAction(handbook);
  QAction* about = command(tr("&About BatchScope"), "info", {}, tr("Version and licence"));
  connect(about, &QAction::triggered, this, &MainWindow::show_about);
  menu->addAction(about);
}

void MainWindow::open_manual() {
  const QString page = QString::fromStdString(manual().string());
  if (page.isEmpty())
    show_problem(tr("The manual is not installed. It is part of the source code, in the folder docs."));
  else if (!QDesktopServices::openUrl(QUrl::fromLocalFile(page)))
    show_problem(tr("No program that shows the manual was found. It is in %1.").arg(page));
}

void MainWindow::open_palette() {
  for (const Page* each : std::as_const(pages_)) {
    for (QAction* action : each->page_actions())
      action->setProperty(CommandPalette::place_property, each->title());
  }
  palette_->open_with(all_actions());
}

void MainWindow::open_keys() {
  keys_->open_with(key_groups());
}

/// First the global keys, then the visible page, then the others; places that several pages describe appear once.
QList<KeyGroup> MainWindow::key_groups() const {
  QList<KeyGroup> groups{{tr("Anywhere"), keys_of(places_->actions() + QList<QAction*>{palette_action_} + commands_)}};
  QList<const Page*> pages(pages_.begin(), pages_.end());
  std::stable_partition(pages.begin(), pages.end(), [this](const Page* each) { return each->key() == shown_page(); });
  QList<KeyGroup> places;
  for (const Page* each : std::as_const(pages)) {
    QStringList told;
    for (const KeyGroup& group : each->key_groups()) {
      for (const KeyHelp& line : group.keys)
        told += line.keys.split(QStringLiteral(", "));
      if (std::none_of(places.begin(), places.end(), [&](const KeyGroup& one) { return one.place == group.place; }))
        places.append(group);
    }
    KeyGroup own{each->title(), keys_of(each->page_actions())};
    own.keys.removeIf([&](const KeyHelp& line) { return told.contains(line.keys); });
    groups.append(own);
  }
  return groups + places;
}

void MainWindow::choose_export() {
  QStringList filters;
  for (const auto& exporter : exchange::exporters()) {
    const QString extension = QString::fromStdString(exporter->extension());
    filters.append(QStringLiteral("%1: %2 (*%3)")
                       .arg(QString::fromStdString(exporter->name()), QString::fromStdString(exporter->title()),
                            extension.isEmpty() ? QString() : u'.' + extension));
  }
  const auto opened = workbench_.opened();
  const QString name = file_name_of_runs(opened.first()->name(), opened.first()->id(), opened.size());
  QFileDialog* dialog = save_file_dialog(this, tr("Export runs"), filters, name + QStringLiteral(".csv"));
  connect(dialog, &QFileDialog::fileSelected, this, [this, dialog](const QString& file) {
    export_to(file, dialog->selectedNameFilter().section(QLatin1Char(':'), 0, 0));
  });
  dialog->open();
}

void MainWindow::export_to(const QString& file, const QString& format) {
  std::vector<std::int64_t> runs;
  for (const OpenRun* run : workbench_.opened())
    runs.push_back(run->id());
  workbench_.run_database().export_runs(runs, format, file, this, [this, file](const QString& error) {
    say(tr("Exported to %1.").arg(file), error.isEmpty() ? QString() : tr("Not exported: %1").arg(error));
  });
}

void MainWindow::set_mode(Theme::Mode mode) {
  theme_.set_mode(mode);
  for (QAction* action : modes_->actions())
    action->setChecked(action->data().toInt() == static_cast<int>(mode));
}

void MainWindow::show_about() {
  auto* box =
      new QMessageBox(QMessageBox::NoIcon, tr("About BatchScope"),
                      tr("<b>BatchScope %1</b>").arg(QCoreApplication::applicationVersion()), QMessageBox::Close, this);
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->setIconPixmap(windowIcon().pixmap(QSize(64, 64), devicePixelRatioF()));
  box->setInformativeText(
      tr("Finds the batch size and schedule for a network by measurement and trains it within a memory budget.\n\nFree "
         "software under the GNU General Public License, version 3 or later."));
  box->open();
}

} // namespace batchscope::ui
