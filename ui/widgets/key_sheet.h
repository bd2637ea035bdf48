#pragma once

#include <QDialog>

#include "ui/widgets/keys.h"

class QAction;
class QLabel;
class QLineEdit;
class QScrollArea;

namespace batchscope::ui {

/// All keys on one sheet over the window, in columns, a heading for each place; typing keeps the lines that have all
/// words. Escape or a click beside it puts it away. UI thread.
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

/// Of an action whose text follows what it would do now: what its keys do at any time.
constexpr const char* key_help_property = "key_help";

/// The keys of those actions that have some, as their shortcuts are.
QList<KeyHelp> keys_of(const QList<QAction*>& actions);

} // namespace batchscope::ui
