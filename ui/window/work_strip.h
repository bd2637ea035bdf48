#pragma once

#include <QFrame>
#include <QTimer>

class QLabel;
class QProgressBar;
class QPushButton;

namespace batchscope::ui {

class JobQueue;
class Job;
class OpenRun;
class Workbench;

/// Progress of the engine's current job: title, activity, progress, time left, number of queued jobs, and a button to
/// end it; without a job, the export in progress. Hidden when idle. UI thread.
class WorkStrip : public QFrame {
  Q_OBJECT

public:
  explicit WorkStrip(Workbench& workbench, QWidget* parent = nullptr);

private:
  Job* shown_job() const; ///< the working one, else the first queued one
  void watch(Job* job);
  void refresh();
  void show_job(const Job& job);
  void show_exports(const QStringList& files);
  void show_waiting(qsizetype others);
  /// The run that is the whole job, if it is open and in progress: then the strip uses its progress, and it may be
  /// paused.
  const OpenRun* run_of(const Job& job) const;
  QString time_text(const Job& job) const;
  void cancel();

  Workbench& workbench_;
  JobQueue& job_queue_;
  qint64 run_ = 0; ///< the run that the current job started last
  QLabel* title_;
  QLabel* activity_;
  QProgressBar* progress_;
  QLabel* left_;
  QLabel* waiting_;
  QPushButton* cancel_;
  QTimer timer_; ///< updates the time left between reports
};

} // namespace batchscope::ui
