#pragma once

#include <QDialog>
#include <QList>

class QAction;
class QLineEdit;
class QListView;
class QSortFilterProxyModel;
class QStandardItemModel;

namespace batchscope::ui {

/// A list of all actions of the window with their shortcuts; typing filters (words in any order), Enter triggers.
class CommandPalette : public QDialog {
  Q_OBJECT

public:
  explicit CommandPalette(QWidget* parent);
  /// Shows itself over the parent with the actions that are enabled now.
  void open_with(const QList<QAction*>& actions);

protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

private:
  void trigger_current();

  QLineEdit* filter_;
  QListView* list_;
  QStandardItemModel* model_;
  QSortFilterProxyModel* shown_;
};

} // namespace batchscope::ui
