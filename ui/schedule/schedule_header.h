#pragma once

#include <QWidget>

class QAction;
class QComboBox;
class QLabel;
class QPushButton;

namespace batchscope::ui {

class OpenRun;
class Pill;

/// The row above the page: the plan that is edited, its state and the buttons. UI thread.
class ScheduleHeader : public QWidget {
  Q_OBJECT

public:
  /// The page's commands, which the buttons trigger.
  struct Actions {
    QAction* apply;
    QAction* discard;
    QAction* start;
    QAction* copy;
    QAction* undo;
    QAction* redo;
  };
  struct State {
    const OpenRun* run = nullptr; ///< the plan's run; null for a draft
    bool has_draft = false;
    bool preview = false;    ///< a change is shown but not applied
    bool changeable = false; ///< the plan can still be changed
    bool good = true;        ///< the schedule is valid
    bool writable = true;    ///< runs can be started
  };

  explicit ScheduleHeader(const Actions& actions, QWidget* parent = nullptr);

  void show_state(const State& state);
  /// Combo box of the plans; the page fills it and defines the item data.
  QComboBox* plans() const { return plans_; }

Q_SIGNALS:
  void again_wanted(); ///< a draft from the settings of the run

private:
  void make_plans();
  void show_pill(const State& state);

  QComboBox* plans_;
  Pill* pill_;
  QLabel* says_;
  QPushButton* discard_ = nullptr;
  QPushButton* apply_ = nullptr;
  QPushButton* copy_ = nullptr;
  QPushButton* again_ = nullptr;
  QPushButton* start_ = nullptr;
};

} // namespace batchscope::ui
