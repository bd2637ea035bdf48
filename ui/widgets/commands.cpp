#include "ui/widgets/commands.h"

namespace batchscope::ui {

namespace {

constexpr const char* why_not_property = "why_not";
constexpr const char* tip_property = "tip"; // the tooltip of the enabled action

} // namespace

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

QString plain_text(const QAction& action) {
  QString text = action.text();
  return text.replace(QLatin1String("&&"), QLatin1String("\1"))
      .remove(QLatin1Char('&'))
      .replace(QLatin1Char('\1'), QLatin1Char('&'));
}

void allow(QAction& action, bool allowed, const QString& why_not) {
  if (!action.property(tip_property).isValid())
    action.setProperty(tip_property, action.toolTip());
  const QString tip = action.property(tip_property).toString();
  set_why_not(action, why_not);
  action.setToolTip(allowed ? tip : QStringLiteral("%1\n%2").arg(tip, why_not));
  action.setEnabled(allowed);
}

void set_why_not(QAction& action, const QString& why_not) {
  action.setProperty(why_not_property, why_not);
}

QString why_not(const QAction& action) {
  return action.isEnabled() ? QString() : action.property(why_not_property).toString();
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
