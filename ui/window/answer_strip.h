#pragma once

#include <QFrame>

#include "ui/jobs/job_queue.h"

class QPushButton;

namespace batchscope::ui {

class AnswerBanner;
class Workbench;

/// The result of the demo, at the bottom of the window, where its progress was shown; stays until it is dismissed or
/// the next demo starts.
class AnswerStrip : public QFrame {
  Q_OBJECT

public:
  explicit AnswerStrip(Workbench& workbench, QWidget* parent = nullptr);
  /// `spec` is common to all runs of the demo.
  void show_answer(const run::RunSpec& spec, const compare::Answer& answer);

private:
  void take(const Job& job);

  Workbench& workbench_;
  AnswerBanner* answer_;
  QPushButton* train_;
  run::RunSpec spec_; ///< with the answer's batch size
};

} // namespace batchscope::ui
