#pragma once

#include <QAction>
#include <QJsonObject>
#include <QList>
#include <QWidget>

#include "ui/widgets/keys.h"

class QUndoStack;

namespace batchscope::ui {

/// Interface through which the window uses its pages. UI thread.
class Page : public QWidget {
  Q_OBJECT

public:
  using QWidget::QWidget;

  virtual QString key() const = 0;   ///< `live`: used in settings and by page_wanted()
  virtual QString title() const = 0; ///< shown in the rail
  virtual QString icon() const = 0;  ///< an icon of the theme
  /// For menus and the command palette, each with text, shortcut and tooltip; owned by the page.
  virtual QList<QAction*> page_actions() const { return {}; }
  /// Help for keys of this page besides those of page_actions(). Several pages may describe the same place, such as
  /// plots.
  virtual QList<KeyGroup> key_groups() const { return {}; }
  /// The undo stack used while this page is visible; contains only changes that the page shows. Null: none.
  virtual QUndoStack* undo_stack() { return nullptr; }
  /// Whether the visible page shows this problem itself, so that the window need not.
  virtual bool shows_problem(const QString& /*problem*/) const { return false; }
  /// State kept between starts: columns, scales, input. Unknown or invalid content is ignored.
  virtual QJsonObject state() const { return {}; }
  virtual void restore(const QJsonObject& /*state*/) {}
};

} // namespace batchscope::ui
