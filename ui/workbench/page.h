#pragma once

#include <QAction>
#include <QJsonObject>
#include <QList>
#include <QWidget>

#include "ui/widgets/keys.h"

class QUndoStack;

namespace batchscope::ui {

/// One place of the rail. The window puts pages together by this alone. UI thread.
class Page : public QWidget {
  Q_OBJECT

public:
  using QWidget::QWidget;

  virtual QString key() const = 0;   ///< `live`: names it in settings and for page_wanted()
  virtual QString title() const = 0; ///< in the rail
  virtual QString icon() const = 0;  ///< of the theme
  /// For menus and the command palette, each with text, shortcut and tooltip; owned by the page.
  virtual QList<QAction*> page_actions() const { return {}; }
  /// What keys do here beside those of page_actions(). Several pages may tell of the same place, such as plots.
  virtual QList<KeyGroup> key_groups() const { return {}; }
  /// What Undo takes back while this page is shown: what is seen on it, and nothing else. Null: nothing.
  virtual QUndoStack* undo_stack() { return nullptr; }
  /// Whether the page itself says this while it is shown, so that nothing else needs to.
  virtual bool tells(const QString& /*problem*/) const { return false; }
  /// What is kept from one start to the next: columns, scales, what was typed. Unknown or broken content is ignored.
  virtual QJsonObject state() const { return {}; }
  virtual void restore(const QJsonObject& /*state*/) {}
};

} // namespace batchscope::ui
