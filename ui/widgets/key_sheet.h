#pragma once

#include <QDialog>

#include "ui/widgets/keys.h"

class QAction;
class QLabel;
class QLineEdit;
class QScrollArea;

namespace batchscope::ui {

/// A list of all keys over the window, in columns with a heading per place; typing filters the lines (all words must
/// match). Escape or a click outside closes it. UI thread.
class KeySheet : public QDialog {
  Q_OBJECT

public:
  explicit KeySheet(QWidget* parent);
  void open_with(const QList<KeyGroup>& groups);

protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

private:
  void show_keys();

  QLineEdit* filter_;
  QLabel* nothing_;
  QScrollArea* scroll_;
  QList<KeyGroup> groups_;
};

/// Property of an action whose text changes with its state: a description of its keys that is always valid.
constexpr const char* key_help_property = "key_help";

/// The keys of those actions that have shortcuts.
QList<KeyHelp> keys_of(const QList<QAction*>& actions);

} // namespace batchscope::ui
