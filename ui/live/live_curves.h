#pragma once

#include <QList>

#include <memory>
#include <optional>
#include <vector>

#include "ui/opened_runs/open_run.h"
#include "ui/plot/linked_plots.h"

namespace batchscope::ui {

/// The plots of the page, from above; numbers of LinkedPlots' panels.
enum LivePanel { memory_panel, loss_panel, batch_panel, coverage_panel };

inline constexpr int no_panel = -1; ///< of what is told but not drawn

/// A curve that the cards tell values of.
struct LiveCurve {
  QString name; ///< in cards
  int panel = no_panel;
  std::shared_ptr<const CurveSource> source;
  CurveStyle style;
  std::shared_ptr<const CurveSource> parts; ///< where the value is a size that is run this many times: 2 x 136
  QString run;                              ///< short name, where several runs are shown and this is one's own
};

/// A value of a panel with its unit: 366.2 MB, 0.1586, 272, 47.2 %.
QString panel_value(int panel, double value);
/// The same without a unit, for where several stand side by side.
QString panel_number(int panel, double value);
QColor curve_color(const Theme& theme, const CurveStyle& style);

/// Which curves of the opened runs are drawn where: of one run all that is known of it, of several the same few of
/// each, a run in one colour. UI thread.
class LiveCurves {
public:
  explicit LiveCurves(LinkedPlots& plots) : plots_(plots) {}

  static void add_panels(LinkedPlots& plots);

  /// Takes all curves of the plots away and draws these runs; the first is the current one.
  void show(const QList<OpenRun*>& runs, series::Axis axis);
  void set_smoothing(double weight); ///< 0 <= weight < 1
  /// Smooths what came meanwhile, a part at a time; false while more is left.
  bool catch_up();

  const std::vector<LiveCurve>& curves() const { return curves_; }
  /// The colour and dashes of the current run, where several are shown.
  std::optional<int> current_look() const { return current_look_; }

private:
  void show_alone(const OpenRun& run, series::Axis axis);
  void show_beside(const OpenRun& run, const QString& name, series::Axis axis, int look, bool current);
  LiveCurve& add(int panel, const QString& name, std::shared_ptr<const CurveSource> source, const CurveStyle& style);
  std::shared_ptr<SmoothedCurve> smoothed(const OpenRun& run, series::Axis axis);

  LinkedPlots& plots_;
  double weight_ = 0.6;
  std::vector<LiveCurve> curves_;
  std::optional<int> current_look_;
  std::vector<std::shared_ptr<SmoothedCurve>> smoothed_;
};

} // namespace batchscope::ui
