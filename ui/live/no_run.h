#pragma once

#include <QStackedWidget>

#include "ui/run/workbench.h"

class QLabel;
class QProgressBar;
class QPushButton;

namespace batchscope::ui {

/// What the page shows while no run is open: how to begin one, or what is done before one begins. UI thread.
class NoRun : public QStackedWidget {
  Q_OBJECT

public:
  explicit NoRun(Workbench& workbench, QWidget* parent = nullptr);

private:
  QWidget* make_empty();
  QWidget* make_busy();
  void watch(Job* job);
  void update_job();

  Workbench& workbench_;
  QWidget* empty_ = nullptr;
  QWidget* busy_ = nullptr;
  QLabel* job_title_ = nullptr;
  QLabel* job_activity_ = nullptr;
  QProgressBar* job_progress_ = nullptr;
  QPushButton* find_ = nullptr;
};

} // namespace batchscope::ui
