#pragma once

#include <QFrame>
#include <QPointer>

#include "ui/run/engine.h"

class QLabel;
class QProgressBar;
class QPushButton;

namespace batchscope::ui {

/// One line about a job that makes many runs (a sweep, the demo) while it works: what it does, how far it is, how long
/// it will take, and a button that ends it. Takes no room while there is none. UI thread.
class JobStrip : public QFrame {
  Q_OBJECT

public:
  explicit JobStrip(Engine& engine, QWidget* parent = nullptr);
  bool active() const { return job_ != nullptr; }

Q_SIGNALS:
  void activity_changed(); ///< of active()

private:
  void look_for_job();
  void show_progress();

  Engine& engine_;
  QPointer<Job> job_;
  QLabel* title_;
  QLabel* activity_;
  QProgressBar* bar_;
  QLabel* left_;
  QPushButton* cancel_;
};

} // namespace batchscope::ui
