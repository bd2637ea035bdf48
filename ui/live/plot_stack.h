#pragma once

#include <QStackedWidget>

class QScrollArea;

namespace batchscope::ui {

class LinkedPlots;
class PlotChooser;

/// The plots, with a scroll bar where they need more height than there is, or a way to choose some if none is shown. UI
/// thread.
class PlotStack : public QStackedWidget {
  Q_OBJECT

public:
  /// Shows these plots and opens this chooser; both outlive it.
  PlotStack(LinkedPlots& plots, PlotChooser& chooser, QWidget* parent = nullptr);

  void set_any_shown(bool any);

private:
  QScrollArea* scroll_;
  QWidget* none_;
};

} // namespace batchscope::ui
