#pragma once

#include <QList>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "ui/live/plot_chooser.h"
#include "ui/opened_runs/open_run.h"
#include "ui/plot/linked_plots.h"

namespace batchscope::ui {

/// The usual plots of the page: panel numbers of LinkedPlots. Those of single series come after them.
enum LivePanel { memory_panel, parts_panel, loss_panel, batch_panel, coverage_panel, others_panel };

inline constexpr int no_panel = -1; ///< listed in cards but not drawn

/// A curve whose values the cards list.
struct LiveCurve {
  QString name; ///< in cards
  int panel = no_panel;
  std::shared_ptr<const CurveSource> source;
  CurveStyle style;
  std::shared_ptr<const CurveSource> parts;   ///< number of micro batches, if the value is a micro batch: 2 x 136
  QString unit;                               ///< of its values where its panel does not say it: "%"
  std::shared_ptr<const CurveSource> exact{}; ///< what is listed in the place of a source that is smoothed
  QString run{}; ///< short name of its run, if several runs are shown and the curve belongs to one of them
};

/// A value of a panel with its unit: 366.2 MB, 0.1586, 272, 47.2 %.
QString panel_value(int panel, double value);
/// The same without a unit, for tables.
QString panel_number(int panel, double value);
QColor curve_color(const Theme& theme, const CurveStyle& style);

/// Selects the curves of the opened runs: all series of a single run, those that this program does not know included;
/// of several runs the same few series each, with one colour per run. UI thread.
class LiveCurves {
public:
  explicit LiveCurves(LinkedPlots& plots) : plots_(plots) {}

  static void add_panels(LinkedPlots& plots);

  /// Replaces all curves of the plots by those of these runs; the first is the current one.
  void show(const QList<OpenRun*>& runs, series::Axis axis);
  void set_smoothing(double weight); ///< 0 <= weight < 1
  /// Whether the next show() draws the series of the single data streams; if not, the cards still list them.
  void set_by_stream(bool by_stream) { by_stream_ = by_stream; }
  /// Whether the run shown, alone, has such series.
  bool has_streams() const { return has_streams_; }
  /// Which plots the next show() makes, their order and size.
  void set_plots(const PlotChoices& plots) { choices_ = plots; }
  /// Whether the last show() has left any plot visible.
  bool any_plot() const;
  /// The plots that there are for the shown runs, the usual ones first.
  QList<OfferedPlot> offered(const QList<OpenRun*>& runs) const;
  /// Whether the shown runs have series by now that were not there at the last show().
  bool outdated() const;
  /// Smooths new values in portions; returns false while more are left.
  bool catch_up();

  const std::vector<LiveCurve>& curves() const { return curves_; }
  /// Index of colour and dashes of the current run, if several are shown.
  std::optional<int> current_look() const { return current_look_; }

private:
  void show_alone(const OpenRun& run, series::Axis axis);
  void show_all_beside(const QList<OpenRun*>& runs, series::Axis axis);
  void show_beside(const OpenRun& run, const QString& name, series::Axis axis, int look, bool current);
  LiveCurve& add(int panel, const QString& name, std::shared_ptr<const CurveSource> source, const CurveStyle& style);
  std::shared_ptr<SmoothedCurve> smoothed(const OpenRun& run, series::Axis axis);

  void need(int panel, bool needed = true);
  void arrange();
  int panel_of(const QString& plot) const;
  bool has_own_plot(const std::string& series) const;
  int own_panel(const std::string& series, const SeriesLook& look);
  void show_own(const OpenRun& run, const std::string& series, series::Axis axis, const QString& name,
                std::optional<int> color);
  std::vector<std::string> own_series() const;
  std::vector<std::string> silent_series() const;
  bool is_told(const char* series) const;
  void show_memory(const OpenRun& run, series::Axis axis);
  void show_memory_parts(const OpenRun& run, series::Axis axis);
  void show_others(const OpenRun& run, series::Axis axis);
  void show_stream(const OpenRun& run, const std::string& series, int look, series::Axis axis);

  LinkedPlots& plots_;
  std::shared_ptr<const series::History> alone_; ///< of a run that is shown alone
  std::vector<std::string> others_;              ///< names of its further series
  std::vector<std::string> silent_;              ///< those that its program does not report
  std::vector<std::pair<std::shared_ptr<const series::History>, std::string>> awaited_; ///< chosen, without values yet
  PlotChoices choices_ = usual_plots();
  std::vector<std::string> own_;          ///< series that have a plot of their own, as of the last show()
  std::map<std::string, int> own_panels_; ///< of series that were ever chosen
  std::set<int> needed_;                  ///< panels that have something to show
  bool has_parts_ = false;                ///< the run shown alone tells what its peaks are used for
  bool partial_ = false;                  ///< not all usual series need be known of the run that is shown alone
  bool by_stream_ = true;
  bool has_streams_ = false;
  double weight_ = 0.6;
  std::vector<LiveCurve> curves_;
  std::optional<int> current_look_;
  std::vector<std::shared_ptr<SmoothedCurve>> smoothed_;
};

} // namespace batchscope::ui
