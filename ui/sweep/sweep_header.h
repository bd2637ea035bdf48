#pragma once

#include <QWidget>

#include <optional>
#include <vector>

#include "ui/sweep/sweep_reader.h"
#include "ui/widgets/widgets.h"

class QAction;
class QComboBox;
class QProgressBar;

namespace batchscope::ui {

/// Title of a sweep, how far it has come, the choice of another one, and the buttons. UI thread.
class SweepHeader : public QWidget {
  Q_OBJECT

public:
  struct Actions {
    QAction* start = nullptr;
    QAction* add = nullptr;
    QAction* resume = nullptr;
    QAction* pause = nullptr;
    QAction* stop = nullptr;
    QAction* compare = nullptr;
  };
  SweepHeader(const Actions& actions, QWidget* parent = nullptr);

  struct State {
    QString title;
    QString status;
    Pill::Tone tone = Pill::Tone::neutral;
    std::optional<double> progress; ///< 0..1; nothing: no bar
    QString text;                   ///< beside the bar
    QString detail;                 ///< its tooltip
    QAction* main = nullptr;        ///< on the filled button
    QList<QAction*> others;         ///< on plain buttons
  };
  void show_state(const State& state);
  /// The newest first, then "New sweep"; `shown`: nothing for a plan.
  void show_sweeps(const std::vector<KnownSweep>& sweeps, std::optional<std::int64_t> shown);

Q_SIGNALS:
  void sweep_chosen(qint64 sweep);
  void new_chosen();

private:
  void show_buttons(const State& state);

  Actions actions_;
  ElidedLabel* title_;
  Pill* pill_;
  QProgressBar* progress_;
  QLabel* text_;
  QComboBox* sweeps_;
  QPushButton* main_;
  QAction* on_main_ = nullptr;
  QList<std::pair<QAction*, QPushButton*>> buttons_;
};

} // namespace batchscope::ui
