#pragma once

#include <QList>
#include <QWidget>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "ui/plot/curve.h"
#include "ui/plot/range.h"
#include "ui/theme/theme.h"
#include "ui/widgets/keys.h"

class QMenu;

namespace batchscope::ui {

/// One of the stacked plots that share the x axis.
struct PanelSpec {
  QString key;       ///< "memory": used in files
  QString title;     ///< at the upper left: "Memory"
  QString unit = {}; ///< of y, after the title and in tables: "MB"; empty: none
  bool from_zero = true;
  double height = 1;                ///< relative to the others
  std::optional<double> lowest_top; ///< the y axis extends at least to here (100 for percent)

  QString heading() const { return unit.isEmpty() ? title : QStringLiteral("%1 (%2)").arg(title, unit); }
};

struct CurveStyle {
  QString name;             ///< in the legend; empty: not in it
  QString with = {};        ///< without `name`: name of the curve with which this one is shown and hidden
  int series = 0;           ///< Theme::series()
  std::optional<Role> role; ///< instead of a series' colour
  bool dashed = false;
  bool steps = false;  ///< a staircase: a value holds until the next point
  bool faint = false;  ///< behind the others, paler
  bool points = false; ///< a dot at each point
  bool line = true;
  bool highlighted = false; ///< drawn wider
  bool area = false;        ///< lightly filled down to zero
  QString help = {};        ///< tooltip of its entry in the legend, before what a click does; empty: none
};

/// Something that happened at a place: a cross, a dot or a label, optionally with a dotted line through all panels.
struct PlotMark {
  enum class Kind { oom, edit, evaluation, fits, answer, note };
  qint64 id = 0; ///< the caller's
  Kind kind = Kind::note;
  double x = 0;
  int panel = -1;          ///< -1: all panels
  std::optional<double> y; ///< nothing: at the top
  QString label;           ///< shown beside it
  bool through = false;    ///< dotted line through all panels
};

struct PlotArrow {
  int panel = 0;
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};

/// A horizontal line across a panel: a limit. One that has changed is a staircase.
struct PlotLimit {
  /// A value that it had before.
  struct Earlier {
    double until = 0; ///< x at which it was replaced
    double y = 0;
  };

  int panel = 0;
  double y = 0;
  QString label;
  std::vector<Earlier> earlier = {}; ///< in ascending order of x
};

/// A band around a curve: a predicted range.
struct PlotBand {
  int panel = 0;
  std::vector<double> x, low, high;
  int series = 0;
};

/// A stretch of a staircase that can be dragged up and down (also with the arrow keys).
struct PlotHandle {
  qint64 id = 0;
  int panel = 0;
  double from = 0, to = 0; ///< x range of the stretch
  double y = 0;
  double highest = 1e9; ///< integer; y is limited to 1..highest
  bool good = true;     ///< false: drawn in the error colour (does not fit)
  QString label;        ///< shown while it is dragged or focused; %1: its y as `text` writes it
  std::function<QString(double y)> text = {};
  bool grip_at_end = false; ///< the square to grab is at its right end, not in its middle

  /// The nearest y to which it can be moved.
  double bounded(double to) const { return std::max(1.0, std::min(std::round(to), highest)); }
};

/// Stacked plots with a common x axis and the same left margin. Draws only what is visible, and only after changes;
/// refreshes are paced so that drawing takes at most a tenth of one core. Hides the plotting library completely. UI
/// thread.
///
/// Mouse: the wheel zooms x at the pointer (with Ctrl: y; beside the plots it is left to the parent), dragging pans,
/// dragging with Shift zooms into the range, a double click shows all, a click on a legend entry hides or shows its
/// curve (with Ctrl: all curves of that name in all plots), a right click opens the menu. Cursors can be dragged. Keys
/// (with focus): see key_help(); each key press that moves a handle is a drag and a drop.
class LinkedPlots : public QWidget {
  Q_OBJECT

public:
  explicit LinkedPlots(const Theme& theme, QWidget* parent = nullptr);
  ~LinkedPlots() override;

  int add_panel(const PanelSpec& spec);
  void set_log(int panel, bool log);
  bool log(int panel) const;
  /// Ignores this fraction of the smallest and largest values when choosing the y range (0: none).
  void set_clipping(double fraction);
  void set_panel_visible(int panel, bool visible);
  bool panel_visible(int panel) const;
  const PanelSpec& panel_spec(int panel) const; ///< of a panel that there is
  /// From top to bottom; panels that are not named follow in the order in which they were added.
  void set_panel_order(const QList<int>& panels);
  /// Relative to the others; PanelSpec::height at first.
  void set_panel_height(int panel, double height);

  /// Height for which the layout is asked, in lines of text: 4 for a plot and at most 20 at first, as much as a small
  /// window has.
  void set_needed(double of_a_plot, double at_most);

  /// Adds a curve and returns its number.
  int add_curve(int panel, std::shared_ptr<const CurveSource> source, const CurveStyle& style);
  void set_style(int curve, const CurveStyle& style);
  void clear_curves();
  /// Hides or shows what has this name in a panel's legend, as a click on it does. Also hides curves that are added
  /// later under the name.
  void set_hidden(int panel, const QString& name, bool hidden);
  bool hidden(int panel, const QString& name) const;

  void set_marks(const QList<PlotMark>& marks);
  /// Adds marks; cheap if they come after the existing ones, however many these are.
  void add_marks(const QList<PlotMark>& marks);
  void choose_mark(std::optional<qint64> id); ///< highlights it and scrolls to it
  void set_limits(const QList<PlotLimit>& limits);
  void set_arrows(const QList<PlotArrow>& arrows);
  void add_arrows(const QList<PlotArrow>& arrows);
  void set_bands(const QList<PlotBand>& bands);
  void set_handles(int panel, const QList<PlotHandle>& handles); ///< replaces those of this panel
  /// Tints the plots from this x on, where nothing has happened yet. Nothing: no tint.
  void set_future(std::optional<double> from);
  /// The x axis extends at least to here (a plan's end); nothing: to the end of the curves.
  void set_end(std::optional<double> x);
  /// One legend above all panels, with each name once, in the place of one in each panel.
  void set_shared_legend(bool shared);

  void set_x_label(const QString& text);
  void set_log_x(bool log);
  /// Shows the curves' values beside them at the crosshair, for pages that do not list them elsewhere.
  void show_crosshair_values();
  void set_x_values(XValues values);

  /// Call it when sources may have grown: draws soon, as the pace allows. All other setters trigger drawing in the same
  /// way.
  void refresh();
  /// Draws now (before a picture is taken).
  void refresh_now();

  void show_all(); ///< shows all of x and y, also as it grows; turns following on
  void show_range(double from, double to);
  std::pair<double, double> visible_range() const;
  /// Keeps the newest data in view until the user pans or zooms: the x of set_future() with a little of the plan, else
  /// the last x.
  void set_following(bool following);
  /// Where a point of a panel was last drawn, in this widget; nothing if it is out of view.
  std::optional<QPointF> position(int panel, double x, double y) const;
  bool following() const;
  void set_crosshair(std::optional<double> x); ///< from outside
  std::optional<double> crosshair() const;
  void set_cursors(std::optional<double> first, std::optional<double> second);
  std::pair<std::optional<double>, std::optional<double>> cursors() const;

  struct Reading {
    QString name;
    int panel = 0;
    int curve = 0;
    QColor color;
    std::optional<double> value;         ///< at the crosshair
    std::optional<CurveSummary> between; ///< between the cursors
  };
  /// For all curves with a name.
  QList<Reading> readings() const;

  // Pictures and files of what is shown.
  /// Caption above the plots in pictures, which become higher by it. Empty: none.
  void set_caption(const QString& text);
  QImage to_image(double scale) const;
  void copy() const; ///< copies a picture to the clipboard
  enum class FileKind {
    png, ///< at double resolution
    svg,
    pdf,
    /// One row per visible x of any named curve; columns are named `panel.curve`, with the unit in brackets. A curve
    /// with more than 100,000 points is reduced to the first, smallest, largest and last point of each stretch.
    csv
  };
  /// Saves what is shown now. Another thread writes the file; then saved() or problem() is emitted. The file is
  /// complete or unchanged.
  void save(FileKind kind, const QString& file);
  /// Actions of the context menu, for menus and the command palette; owned by this. Each panel adds one.
  QList<QAction*> actions_for_menu() const;
  /// Keys and mouse actions of plots, for the list of keys.
  static QList<KeyHelp> key_help();
  // Checkable ones of these, for a page that also shows them as check boxes.
  QAction* follow_action() const;
  QAction* log_action(int panel) const;

  /// Duration of the last refreshes in ms, newest last (at most a few hundred): for benchmark and tests.
  std::vector<double> refresh_times() const;

Q_SIGNALS:
  void crosshair_moved(std::optional<double> x);
  void cursors_changed();
  void view_changed(double from, double to);
  void following_changed(bool following);
  void mark_chosen(qint64 id);
  /// While a handle is dragged: its new value (already bounded).
  void handle_dragged(qint64 id, double y);
  void handle_dropped(qint64 id, double y);
  void saved(const QString& file);
  void problem(const QString& text); ///< a file could not be written

protected:
  bool event(QEvent* event) override;
  bool focusNextPrevChild(bool next) override;

private:
  QString title() const; ///< of a picture
  void add_actions();
  void add_panel_action(int panel);
  void tell_panels();
  QMenu* make_curves_menu(QWidget& parent);
  void open_menu(const QPoint& at);
  void ask_and_save(const QString& filter, const QString& ending, FileKind kind);

  class Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace batchscope::ui
