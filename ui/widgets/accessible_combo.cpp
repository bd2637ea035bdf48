#include "ui/widgets/accessible_combo.h"

#include <QAbstractItemView>
#include <QAccessibleWidget>
#include <QComboBox>
#include <QLineEdit>

namespace batchscope::ui {

namespace {

class AccessibleCombo : public QAccessibleWidget {
public:
  explicit AccessibleCombo(QComboBox* box) : QAccessibleWidget(box, QAccessible::ComboBox), box_(*box) {}

  // AT-SPI has no value of a combo box: what is not in its name is not read.
  QString text(QAccessible::Text kind) const override {
    if (kind == QAccessible::Value)
      return box_.currentText();
    const QString text = QAccessibleWidget::text(kind);
    if (kind != QAccessible::Name || text == box_.currentText())
      return text;
    return text.isEmpty() ? box_.currentText() : QStringLiteral("%1: %2").arg(text, box_.currentText());
  }

  // As Qt's own: the list, and the field of one that can be edited.
  int childCount() const override { return box_.isEditable() ? 2 : 1; }
  QAccessibleInterface* child(int index) const override {
    QObject* part = index == 0 ? static_cast<QObject*>(box_.view()) : index == 1 ? box_.lineEdit() : nullptr;
    return part != nullptr ? QAccessible::queryAccessibleInterface(part) : nullptr;
  }
  int indexOfChild(const QAccessibleInterface* child) const override {
    return child->object() == box_.view() ? 0 : box_.isEditable() && child->object() == box_.lineEdit() ? 1 : -1;
  }
  QAccessibleInterface* childAt(int x, int y) const override {
    return box_.isEditable() && box_.lineEdit()->rect().contains(box_.lineEdit()->mapFromGlobal(QPoint(x, y)))
               ? child(1)
               : nullptr;
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
