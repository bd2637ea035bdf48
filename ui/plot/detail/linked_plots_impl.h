#pragma once

#include <QAction>
#include <QHash>

#include "ui/plot/detail/board.h"
#include "ui/plot/detail/input.h"
#include "ui/plot/linked_plots.h"

namespace batchscope::ui {

class LinkedPlots::Impl {
public:
  Impl(LinkedPlots& owner, const Theme& theme);

  Board board;
  Input input;
  QList<QAction*> actions;          ///< the owner's
  QAction* follow_action = nullptr; ///< of these
  QHash<int, QAction*> log_actions; ///< of these, one a panel
};

} // namespace batchscope::ui
