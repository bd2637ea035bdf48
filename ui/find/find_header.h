#pragma once

#include <QWidget>

class QAction;
class QCheckBox;
class QComboBox;
class QLabel;
class QPushButton;

namespace batchscope::ui {

class ChipRow;

/// The row above the page: what is searched, what the search is doing, its strategy and the buttons. UI thread.
class FindHeader : public QWidget {
  Q_OBJECT

public:
  /// The page's commands, which the buttons trigger.
  struct Actions {
    QAction* find;
    QAction* cancel;
    QAction* log;   ///< checkable
    QAction* setup; ///< checkable
  };
  struct State {
    bool has_search = false; ///< one is shown
    bool searching = false;  ///< and still running
    QString activity;        ///< what it is doing
    QString find_text;       ///< of the button
    QString find_help;
  };

  explicit FindHeader(const Actions& actions, QWidget* parent = nullptr);

  void show_state(const State& state);
  /// The settings that are searched, in the order of described(); `program`: of the user's own program.
  void show_settings(const QStringList& settings, bool program);
  /// Sets the action of the button for other settings. `elsewhere`: it leads to another page.
  void show_change(bool elsewhere);

  QString strategy() const;
  void set_strategy(const QString& strategy); ///< an unknown one is ignored
  /// Gives the button of the running search the keyboard focus.
  void focus_cancel();

Q_SIGNALS:
  void strategy_chosen(const QString& strategy);

private:
  void make_strategies();
  QPushButton* bind(QPushButton* button, QAction* action, const char* name);

  QAction* setup_;
  ChipRow* chips_;
  QPushButton* change_;
  QLabel* activity_;
  QCheckBox* log_;
  QComboBox* strategy_;
  QPushButton* cancel_ = nullptr;
  QPushButton* find_ = nullptr;
};

} // namespace batchscope::ui
