#pragma once

#include <QPointer>
#include <QWidget>

#include "ui/opened_runs/open_run.h"

class QAction;
class QLabel;
class QProgressBar;
class QPushButton;
class QSpacerItem;

namespace batchscope::ui {

class Pill;

/// A run's name, state, progress and actions. UI thread.
class RunHeader : public QWidget {
  Q_OBJECT

public:
  explicit RunHeader(QWidget* parent = nullptr);

  void show_run(OpenRun* run); ///< null: none
  /// Updates the figures; changes only texts that differ.
  void update_figures();
  QList<QAction*> run_actions() const;

Q_SIGNALS:
  void edit_wanted();
  void again_wanted(); ///< train the same spec again

protected:
  void resizeEvent(QResizeEvent* event) override;

private:
  void connect_actions();
  void update_state();
  struct Part {
    QString text;
    int rank = 0; ///< the highest is left out first if there is no room
  };
  QList<Part> progress_parts() const;
  static QString joined(const QList<Part>& parts);
  void fit_figures();

  QPointer<OpenRun> run_;
  QLabel* name_;
  Pill* status_;
  Pill* pending_;
  QProgressBar* progress_;
  QLabel* figures_;
  QSpacerItem* slack_; ///< of the layout
  int reserved_ = 0;   ///< width of figures and slack
  QAction* pause_;
  QAction* step_;
  QAction* stop_;
  QAction* edit_;
  QAction* again_;
  QPushButton* edit_button_;
  QPushButton* again_button_;
};

} // namespace batchscope::ui
