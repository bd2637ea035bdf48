#include "ui/widgets/accessible_combo.h"

#include <QAbstractItemView>
#include <QAccessibleWidget>
#include <QComboBox>

namespace batchscope::ui {

namespace {

class AccessibleCombo : public QAccessibleWidget {
public:
  explicit AccessibleCombo(QComboBox* box) : QAccessibleWidget(box, QAccessible::ComboBox), box_(*box) {}

  QString text(QAccessible::Text kind) const override {
    if (kind == QAccessible::Value)
      return box_.currentText();
    const QString text = QAccessibleWidget::text(kind);
    return kind == QAccessible::Name && text.isEmpty() ? box_.currentText() : text;
  }

  QAccessible::State state() const override {
    QAccessible::State state = QAccessibleWidget::state();
    const bool open = box_.view()->isVisible();
    state.expandable = true;
    state.expanded = open;
    state.collapsed = !open;
    state.editable = box_.isEditable();
    return state;
  }

  QStringList actionNames() const override { return {showMenuAction(), pressAction()}; }

  void doAction(const QString& action) override {
    if (action != showMenuAction() && action != pressAction())
      return;
    if (box_.view()->isVisible())
      box_.hidePopup();
    else
      box_.showPopup();
  }

private:
  QComboBox& box_;
};

QAccessibleInterface* make(const QString& /*class_name*/, QObject* object) {
  auto* box = qobject_cast<QComboBox*>(object);
  return box != nullptr ? new AccessibleCombo(box) : nullptr;
}

} // namespace

void name_combo_boxes() {
  QAccessible::installFactory(make);
}

} // namespace batchscope::ui
