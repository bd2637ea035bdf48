#pragma once

#include <QPointer>
#include <QUndoCommand>

#include <string>

#include "ui/opened_runs/open_run.h"

namespace batchscope::ui {

/// Other shares of the data streams of a run that goes on. UI thread.
class ShareChange : public QUndoCommand {
public:
  ShareChange(OpenRun& run, std::string after)
      : QUndoCommand(OpenRun::tr("shares of the streams")), run_(&run), before_(run.shares()),
        after_(std::move(after)) {}

  void undo() override { apply(before_); }
  void redo() override { apply(after_); }

private:
  void apply(const std::string& shares) {
    if (run_ && run_->running())
      run_->set_shares(shares);
    else
      setObsolete(true);
  }

  QPointer<OpenRun> run_;
  std::string before_;
  std::string after_;
};

} // namespace batchscope::ui
