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
  double least_lines = 4;           ///< of a plot, as the layout is asked
  double most_lines = 20;           ///< of all
  QList<QAction*> actions;          ///< owned by the owner
  QAction* follow_action = nullptr; ///< one of actions
  QHash<int, QAction*> log_actions; ///< some of actions, by panel
};

} // namespace batchscope::ui
