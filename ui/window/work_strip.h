#pragma once

#include <QFrame>
#include <QTimer>

class QLabel;
class QProgressBar;
class QPushButton;

namespace batchscope::ui {

class Engine;
class Job;
class OpenRun;
class Workbench;

/// What the engine works on: title, what it does, progress, time left, how much waits, and a way to end it; else the
/// files that runs are exported to. Hidden while there is nothing. UI thread.
class WorkStrip : public QFrame {
  Q_OBJECT

public:
  explicit WorkStrip(Workbench& workbench, QWidget* parent = nullptr);

private:
  Job* shown_job() const; ///< the one that works, else the first that waits
  void watch(Job* job);
  void refresh();
  void show_job(const Job& job);
  void show_exports(const QStringList& files);
  void show_waiting(qsizetype others);
  /// The run that is the whole job, where it is open and goes on: what pages say of it holds, and it may pause.
  const OpenRun* run_of(const Job& job) const;
  QString time_text(const Job& job) const;
  void cancel();

  Workbench& workbench_;
  Engine& engine_;
  qint64 run_ = 0; ///< the one that the working job has begun last
  QLabel* title_;
  QLabel* activity_;
  QProgressBar* progress_;
  QLabel* left_;
  QLabel* waiting_;
  QPushButton* cancel_;
  QTimer timer_; ///< the time left goes on between two reports
};

} // namespace batchscope::ui
