#pragma once

#include <QList>
#include <QWidget>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "ui/plot/curve.h"
#include "ui/theme/theme.h"
#include "ui/widgets/keys.h"

class QMenu;

namespace batchscope::ui {

/// One of the plots that stand over each other and share the x axis.
struct PanelSpec {
  QString key;       ///< "memory": names it in files
  QString title;     ///< at its upper left: "Memory"
  QString unit = {}; ///< of y, behind the title and in tables: "MB"; empty: none
  bool from_zero = true;
  double height = 1;                ///< relative to the others
  std::optional<double> lowest_top; ///< the y axis reaches at least up to here (100 for percent)

  QString heading() const { return unit.isEmpty() ? title : QStringLiteral("%1 (%2)").arg(title, unit); }
};

struct CurveStyle {
  QString name;             ///< in the legend; empty: not in it
  QString with = {};        ///< of a curve that is not in it: the name of the one that it is shown and hidden with
  int series = 0;           ///< Theme::series()
  std::optional<Role> role; ///< instead of a series' colour
  bool dashed = false;
  bool steps = false;  ///< a staircase: a value holds until the next
  bool faint = false;  ///< behind the others, half transparent in effect
  bool points = false; ///< a dot at each point
  bool line = true;
  bool highlighted = false; ///< drawn wider
  QString help = {};        ///< tooltip of its entry in the legend, before what a click does; empty: none
};

/// Something that happened at a place: a cross, a dot or a label, with a dotted line through all panels where asked.
struct PlotMark {
  enum class Kind { oom, edit, evaluation, fits, answer, note };
  qint64 id = 0; ///< the caller's
  Kind kind = Kind::note;
  double x = 0;
  int panel = -1;          ///< -1: all panels
  std::optional<double> y; ///< nothing: at the top
  QString label;           ///< beside it
  bool through = false;    ///< dotted line through all panels
};

struct PlotArrow {
  int panel = 0;
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};

/// A horizontal line across a panel: a limit.
struct PlotLimit {
  int panel = 0;
  double y = 0;
  QString label;
};

/// A band around a curve: a predicted range.
struct PlotBand {
  int panel = 0;
  std::vector<double> x, low, high;
  int series = 0;
};

/// A stretch of a staircase that can be dragged up and down (or with the arrow keys).
struct PlotHandle {
  qint64 id = 0;
  int panel = 0;
  double from = 0, to = 0; ///< its stretch in x
  double y = 0;
  double highest = 1e9; ///< whole; y is moved between 1 and this
  bool good = true;     ///< false: drawn in the colour of errors (it will not fit)
  QString label;        ///< shown while it is dragged or has the focus

  /// The nearest y that it can be moved to.
  double bounded(double to) const { return std::max(1.0, std::min(std::round(to), highest)); }
};

/// Plots over each other with one x axis and the same left margin. Draws only what is visible, and only when something
/// changed; a refresh paces itself so that drawing takes at most a tenth of one core. All of the plotting library's
/// doings are behind it. UI thread.
///
/// Mouse: wheel zooms x at the pointer (with Ctrl: y), drag pans, drag with Shift zooms into the range, double click
/// shows all, a click on an entry of a legend hides its curve or shows it again (with Ctrl those of its name in all
/// plots), right click opens the menu. Keys (with focus): see key_help(); each press that moves a handle is a drag and
/// a drop. Cursors can be dragged, too.
class LinkedPlots : public QWidget {
  Q_OBJECT

public:
  explicit LinkedPlots(const Theme& theme, QWidget* parent = nullptr);
  ~LinkedPlots() override;

  int add_panel(const PanelSpec& spec);
  void set_log(int panel, bool log);
  bool log(int panel) const;
  /// Leaves out this share of the smallest and greatest values when y is chosen (0: none).
  void set_clipping(double share);
  void set_panel_visible(int panel, bool visible);

  /// Adds a curve; the number names it from then on.
  int add_curve(int panel, std::shared_ptr<const CurveSource> source, const CurveStyle& style);
  void set_style(int curve, const CurveStyle& style);
  void clear_curves();
  /// Hides what has this name in a panel's legend, or shows it again: as a click on it does. Curves that are added
  /// later under the name are hidden, too.
  void set_hidden(int panel, const QString& name, bool hidden);
  bool hidden(int panel, const QString& name) const;

  void set_marks(const QList<PlotMark>& marks);
  /// Puts more among them; cheap where they come behind those that are there, however many these are.
  void add_marks(const QList<PlotMark>& marks);
  void choose_mark(std::optional<qint64> id); ///< highlights it, and brings it into view
  void set_limits(const QList<PlotLimit>& limits);
  void set_arrows(const QList<PlotArrow>& arrows);
  void add_arrows(const QList<PlotArrow>& arrows);
  void set_bands(const QList<PlotBand>& bands);
  void set_handles(const QList<PlotHandle>& handles);
  /// From this x on nothing has happened yet: tinted. Nothing: no tint.
  void set_future(std::optional<double> from);
  /// The x axis reaches at least up to here (a plan's end); nothing: as far as the curves.
  void set_end(std::optional<double> x);

  void set_x_label(const QString& text);
  void set_log_x(bool log);
  /// Writes the curves' values beside them at the crosshair: for pages that do not list them elsewhere.
  void show_crosshair_values();
  /// Whether x ticks are whole numbers.
  void set_integer_x(bool integer);

  /// To be called when sources may have grown: draws soon, and not more often than the pace allows. Whatever else is
  /// set here draws by itself in the same way.
  void refresh();
  /// Draws now (before a picture is taken).
  void refresh_now();

  void show_all(); ///< of x and y, and from then on; turns following on
  void show_range(double from, double to);
  std::pair<double, double> visible_range() const;
  /// Keeps the newest in view, until the user pans or zooms: what set_future() says with a little of the plan, else the
  /// last x there is.
  void set_following(bool following);
  /// Where a place of a panel was drawn last, in this widget; nothing where it is out of view.
  std::optional<QPointF> position(int panel, double x, double y) const;
  bool following() const;
  void set_crosshair(std::optional<double> x); ///< from elsewhere
  std::optional<double> crosshair() const;
  void set_cursors(std::optional<double> first, std::optional<double> second);
  std::pair<std::optional<double>, std::optional<double>> cursors() const;

  struct Reading {
    QString name;
    int panel = 0;
    int curve = 0;
    QColor color;
    std::optional<double> value;         ///< at the crosshair
    std::optional<CurveSummary> between; ///< the cursors
  };
  /// Of all curves with a name.
  QList<Reading> readings() const;

  // What is shown, as pictures and files.
  /// Stands over the plots in pictures, which are higher by it: what they are of. Empty: nothing.
  void set_caption(const QString& text);
  QImage to_image(double scale) const;
  void copy() const; ///< picture to the clipboard
  enum class FileKind {
    png, ///< at 2x
    svg,
    pdf,
    /// One row a visible x of any named curve; columns named `panel.curve`, with the unit in brackets. Of more than
    /// 100,000 points of a curve the first, smallest, greatest and last of each stretch.
    csv
  };
  /// What is shown at this moment; another thread makes a file of it and then saved() or problem() comes. The file is
  /// there as a whole or as it was before.
  void save(FileKind kind, const QString& file);
  /// Actions of the context menu, for menus and the command palette; owned by this. One a panel comes with the panel.
  QList<QAction*> actions_for_menu() const;
  /// What keys and pointer do in plots, for a sheet of keys.
  static QList<KeyHelp> key_help();
  // Of these, checkable: for a page that shows them as boxes, too.
  QAction* follow_action() const;
  QAction* log_action(int panel) const;

  /// Milliseconds that the last refreshes took, newest last (at most a few hundred): for the benchmark and the tests.
  std::vector<double> refresh_times() const;

Q_SIGNALS:
  void crosshair_moved(std::optional<double> x);
  void cursors_changed();
  void view_changed(double from, double to);
  void following_changed(bool following);
  void mark_chosen(qint64 id);
  /// While a handle is dragged: the value it would have (already bounded).
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
  QMenu* make_curves_menu(QWidget& parent);
  void open_menu(const QPoint& at);
  void ask_and_save(const QString& filter, const QString& ending, FileKind kind);

  class Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace batchscope::ui
