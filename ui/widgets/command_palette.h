#pragma once

#include <QDialog>
#include <QList>
#include <QPointer>

class QAction;
class QLabel;
class QLineEdit;
class QListView;
class QStandardItemModel;

namespace batchscope::ui {

class CommandFilter;
class Theme;

/// A list of all actions of the window with their shortcuts; typing filters (words in any order), Enter triggers.
class CommandPalette : public QDialog {
  Q_OBJECT

public:
  /// Of an action: where it belongs, shown before its text; commands of several pages may have the same text.
  static constexpr const char* place_property = "place";

  CommandPalette(const Theme& theme, QWidget* parent);
  /// Shows itself over the parent's upper third with all actions that are visible; those that
  /// cannot be triggered now say why, see allow() in commands.h.
  void open_with(const QList<QAction*>& actions);

protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

private:
  void look_for(const QString& words);
  void trigger_current();

  QLineEdit* filter_;
  QListView* list_;
  QLabel* nothing_;
  QStandardItemModel* model_;
  CommandFilter* shown_;
  QList<QPointer<QAction>> actions_; ///< by row of the model
};

} // namespace batchscope::ui
