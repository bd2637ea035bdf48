#pragma once

#include <QPointer>
#include <QUndoCommand>

#include <cstdint>

#include "ui/opened_runs/open_run.h"

namespace batchscope::ui {

/// Another memory budget of a run that goes on. UI thread.
class BudgetEdit : public QUndoCommand {
public:
  BudgetEdit(OpenRun& run, std::uint64_t bytes)
      : QUndoCommand(OpenRun::tr("memory budget")), run_(&run), before_(run.budget()), after_(bytes) {}

  void undo() override { apply(before_); }
  void redo() override {
    apply(after_);
    if (before_ == 0)
      setObsolete(true); // there is none to go back to
  }

private:
  void apply(std::uint64_t bytes) {
    if (run_ && run_->running())
      run_->set_budget(bytes);
    else
      setObsolete(true);
  }

  QPointer<OpenRun> run_;
  std::uint64_t before_; ///< bytes
  std::uint64_t after_;
};

} // namespace batchscope::ui
