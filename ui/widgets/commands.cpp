#include "ui/widgets/commands.h"

namespace batchscope::ui {

QAction* make_command(QWidget* owner, const QString& text, const QString& tip, const QKeySequence& keys,
                      const QIcon& icon) {
  auto* action = new QAction(icon, text, owner);
  action->setShortcut(keys);
  action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  action->setToolTip(keys.isEmpty() ? tip
                                    : QStringLiteral("%1 (%2)").arg(tip, keys.toString(QKeySequence::NativeText)));
  owner->addAction(action);
  return action;
}

QPushButton* bind(QPushButton* button, QAction* action) {
  const auto take = [button, action] {
    button->setText(action->iconText());
    button->setEnabled(action->isEnabled());
    button->setToolTip(action->toolTip());
  };
  take();
  QObject::connect(action, &QAction::changed, button, take);
  QObject::connect(button, &QPushButton::clicked, action, &QAction::trigger);
  return button;
}

} // namespace batchscope::ui
