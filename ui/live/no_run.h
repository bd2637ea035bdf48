#pragma once

#include <QStackedWidget>

#include "ui/workbench/workbench.h"

class QLabel;
class QProgressBar;
class QPushButton;

namespace batchscope::ui {

/// What the page shows while no run is open: how to begin one, what is done before one begins, or the run that another
/// program trains into this database. UI thread.
class NoRun : public QStackedWidget {
  Q_OBJECT

public:
  explicit NoRun(Workbench& workbench, QWidget* parent = nullptr);

private:
  QWidget* make_empty();
  QWidget* make_busy();
  QWidget* make_other();
  void watch(Job* job);
  void update_job();
  bool update_other(); ///< false where no other program trains

  Workbench& workbench_;
  QWidget* empty_ = nullptr;
  QWidget* busy_ = nullptr;
  QLabel* job_title_ = nullptr;
  QLabel* job_activity_ = nullptr;
  QProgressBar* job_progress_ = nullptr;
  QPushButton* find_ = nullptr;
  QPushButton* stop_ = nullptr;
  QWidget* other_ = nullptr;
  QLabel* other_text_ = nullptr;
  QPushButton* watch_other_ = nullptr;
  qint64 other_run_ = 0; ///< the newest that runs
};

} // namespace batchscope::ui
