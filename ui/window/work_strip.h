#pragma once

#include <QFrame>
#include <QTimer>

class QLabel;
class QProgressBar;
class QPushButton;

namespace batchscope::ui {

class Engine;
class Job;

/// What the engine works on: title, what it does, progress, time left, how much waits, and a way to end it. Hidden
/// while there is nothing. UI thread.
class WorkStrip : public QFrame {
  Q_OBJECT

public:
  explicit WorkStrip(Engine& engine, QWidget* parent = nullptr);

private:
  Job* shown_job() const; ///< the one that works, else the first that waits
  void watch(Job* job);
  void refresh();
  void cancel();

  Engine& engine_;
  QLabel* title_;
  QLabel* activity_;
  QProgressBar* progress_;
  QLabel* left_;
  QLabel* waiting_;
  QPushButton* cancel_;
  QTimer timer_; ///< the time left goes on between two reports
};

} // namespace batchscope::ui
