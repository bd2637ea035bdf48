#pragma once

#include <QObject>
#include <QString>

#include <functional>
#include <optional>

#include "core/run/run_spec.h"
#include "ui/jobs/job_queue.h"

namespace batchscope::ui {

class FitCard;
class Workbench;

/// Answers a FitCard for a program of the user's own: a search on the card's GPU, which is pretended. UI thread.
class ProgramFit : public QObject {
  Q_OBJECT

public:
  /// `spec`: of the program, when the card asks; nothing if it has an error, which is then shown by whoever has it.
  ProgramFit(Workbench& workbench, FitCard& card, std::function<std::optional<run::RunSpec>()> spec);

  const QString& failure() const { return failure_; } ///< why the last search could not be made; empty: it could
  void stop();                                        ///< the search that works
  void show_none();                                   ///< what the card can do, if nothing works

private:
  void start();
  void show();
  void show_answer(const Job::Fitted& fitted, const QString& working);

  Workbench& workbench_;
  FitCard& card_;
  const std::function<std::optional<run::RunSpec>()> spec_;
  Job* job_ = nullptr; ///< that works or waits
  QString on_;         ///< the GPU of that job
  QString failure_;
};

} // namespace batchscope::ui
