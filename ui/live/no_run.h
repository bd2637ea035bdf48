#pragma once

#include <QStackedWidget>

#include "ui/workbench/workbench.h"

class QLabel;
class QProgressBar;
class QPushButton;

namespace batchscope::ui {

/// Shown while no run is open: how to start one, the job that works before its first run starts, or a run that another
/// program is training into this database. UI thread.
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
  bool update_other(); ///< false if no other program is training

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
  qint64 other_run_ = 0; ///< the newest running one
};

} // namespace batchscope::ui
