#pragma once

#include <QPointer>

#include <memory>

#include "ui/opened_runs/open_run.h"
#include "ui/sweep/sweep_view.h"
#include "ui/widgets/widgets.h"

class QProgressBar;

namespace batchscope::ui {

/// The run of a sweep that trains now, whichever program makes it: it is read from the database. UI thread.
class NowCard : public Card {
  Q_OBJECT

public:
  explicit NowCard(RunDatabase& run_database, QWidget* parent = nullptr);

  /// Hidden while none of its runs trains.
  void show_sweep(const SweepView& view);
  OpenRun* run() const { return run_.get(); } ///< the one that trains, or null

Q_SIGNALS:
  void status_changed(); ///< paused, or goes on

private:
  void show_run();

  RunDatabase& run_database_;
  std::unique_ptr<OpenRun> run_;
  QProgressBar* progress_;
  FactList* facts_;
};

} // namespace batchscope::ui
