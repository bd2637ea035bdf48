// The context menu of the plots.
#include <QFileDialog>
#include <QMenu>

#include "ui/plot/detail/linked_plots_impl.h"
#include "ui/widgets/file_dialog.h"

namespace batchscope::ui {

void LinkedPlots::add_actions() {
  const auto add = [this](const QString& text, auto&& done, const QKeySequence& shortcut = {}) {
    auto* action = new QAction(text, this);
    // The widget handles these keys itself; here they are only displayed.
    action->setShortcutContext(Qt::WidgetShortcut);
    action->setShortcut(shortcut);
    action->setShortcutVisibleInContextMenu(true);
    connect(action, &QAction::triggered, this, done);
    impl_->actions.push_back(action);
    return action;
  };
  const auto separate = [this] {
    auto* action = new QAction(this);
    action->setSeparator(true);
    impl_->actions.push_back(action);
  };
  add(tr("Copy picture"), [this] { copy(); });
  separate();
  add(tr("Save as PNG…"), [this] { ask_and_save(tr("PNG images (*.png)"), QStringLiteral("png"), FileKind::png); });
  add(tr("Save as SVG…"), [this] { ask_and_save(tr("SVG images (*.svg)"), QStringLiteral("svg"), FileKind::svg); });
  add(tr("Save as PDF…"), [this] { ask_and_save(tr("PDF documents (*.pdf)"), QStringLiteral("pdf"), FileKind::pdf); });
  add(tr("Save visible data as CSV…"),
      [this] { ask_and_save(tr("CSV files (*.csv)"), QStringLiteral("csv"), FileKind::csv); });
  separate();
  add(
      tr("Show all"), [this] { show_all(); }, Qt::Key_Home);
  QAction* follow = add(
      tr("Follow the newest"), [this](bool on) { set_following(on); }, Qt::Key_F);
  follow->setCheckable(true);
  follow->setChecked(following());
  connect(this, &LinkedPlots::following_changed, follow, &QAction::setChecked);
  impl_->follow_action = follow;
}

void LinkedPlots::add_panel_action(int panel) {
  if (impl_->log_actions.isEmpty()) {
    auto* separator = new QAction(this);
    separator->setSeparator(true);
    impl_->actions.push_back(separator);
  }
  auto* action = new QAction(tr("Logarithmic: %1").arg(impl_->board.panel(panel)->spec.heading()), this);
  action->setCheckable(true);
  connect(action, &QAction::triggered, this, [this, panel](bool on) { set_log(panel, on); });
  impl_->actions.push_back(action);
  impl_->log_actions.insert(panel, action);
}

QList<QAction*> LinkedPlots::actions_for_menu() const {
  return impl_->actions;
}

QList<KeyHelp> LinkedPlots::key_help() {
  return Input::key_help() + QList<KeyHelp>{{tr("Wheel"), tr("Zoom in and out at the pointer; with Ctrl: y")},
                                            {tr("Drag"), tr("Move the view; with Shift: zoom into the range")},
                                            {tr("Double click"), tr("Show all")}};
}

QAction* LinkedPlots::follow_action() const {
  return impl_->follow_action;
}

QAction* LinkedPlots::log_action(int panel) const {
  return impl_->log_actions.value(panel);
}

/// A menu equivalent of clicking on legend entries, for the keyboard.
QMenu* LinkedPlots::make_curves_menu(QWidget& parent) {
  auto* menu = new QMenu(tr("Curves"), &parent);
  Board& board = impl_->board;
  for (const auto& curve : board.curves()) {
    const Panel& panel = *board.panel(curve->panel);
    if (curve->style.name.isEmpty() || !panel.visible)
      continue;
    QAction* action = menu->addAction(tr("%1: %2").arg(panel.spec.title, curve->style.name));
    action->setCheckable(true);
    action->setChecked(!curve->hidden);
    connect(action, &QAction::toggled, this,
            [this, panel = curve->panel, name = curve->style.name](bool shown) { set_hidden(panel, name, !shown); });
  }
  return menu;
}

void LinkedPlots::open_menu(const QPoint& at) {
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->addActions(impl_->actions);
  menu->addMenu(make_curves_menu(*menu));
  menu->popup(at);
}

void LinkedPlots::ask_and_save(const QString& filter, const QString& ending, FileKind kind) {
  const QString name = file_name_of(QString(impl_->board.scene.caption).remove(u':'), QStringLiteral("plots"));
  QFileDialog* dialog = save_file_dialog(this, tr("Save"), {filter}, name + u'.' + ending);
  connect(dialog, &QFileDialog::fileSelected, this, [this, kind](const QString& file) { save(kind, file); });
  dialog->open();
}

} // namespace batchscope::ui
