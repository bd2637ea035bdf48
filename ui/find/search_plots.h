#pragma once

#include <QWidget>

#include <memory>

#include "ui/find/search_view.h"
#include "ui/plot/linked_plots.h"

namespace batchscope::ui {

/// Plots of a search: peak memory against batch size with the limit, the prediction and the trials in order, and below
/// it the throughput.
class SearchPlots : public QWidget {
  Q_OBJECT

public:
  explicit SearchPlots(const Theme& theme, QWidget* parent = nullptr);

  void show_search(const SearchView& view);
  /// Highlights the mark of a trial by its number; 0: none.
  void choose(int number);
  void set_log(bool log);
  LinkedPlots& plots() { return *plots_; }

Q_SIGNALS:
  void chosen(int number);

private:
  void show_memory(const SearchView& view);
  void show_bands(const SearchView& view);
  void show_throughput(const SearchView& view);
  void show_marks(const SearchView& view);
  void show_arrows(const SearchView& view);

  LinkedPlots* plots_;
  int memory_ = 0;
  int throughput_ = 0;
  int predicted_curve_ = 0;
  int measured_curve_ = 0;
  bool predicted_drawn_ = false;
  bool found_ = false;     ///< of the search that is shown
  std::size_t probes_ = 0; ///< number of trials so far
  std::shared_ptr<PointsCurve> predicted_;
  std::shared_ptr<PointsCurve> measured_;
  std::shared_ptr<PointsCurve> rates_;
};

} // namespace batchscope::ui
