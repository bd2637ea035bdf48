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

/// A list of all actions of the window with their shortcuts; typing filters it (words in any order), Enter triggers.
class CommandPalette : public QDialog {
  Q_OBJECT

public:
  /// Property of an action: its place, shown before its text; commands of several pages may have the same text.
  static constexpr const char* place_property = "place";
  /// Property of an action: other words by which it is found.
  static constexpr const char* keywords_property = "keywords";

  CommandPalette(const Theme& theme, QWidget* parent);
  /// Opens over the parent's upper third with all visible actions; disabled ones show the reason, see allow() in
  /// commands.h.
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
  QList<QPointer<QAction>> actions_; ///< by model row
};

} // namespace batchscope::ui
