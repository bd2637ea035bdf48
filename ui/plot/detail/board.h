#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "ui/plot/detail/pacer.h"
#include "ui/plot/detail/paint.h"

class QToolButton;

namespace batchscope::ui {

/// The contents of the plots, and their drawing.
class Board {
public:
  Board(LinkedPlots& owner, const Theme& theme);
  ~Board();

  Scene scene;
  double clipping = 0;

  const View& view() const { return view_; } ///< as last drawn
  const View& view_by_now();                 ///< including what the curves have grown since
  Pacer& pacer() { return pacer_; }
  const Theme& theme() const { return theme_; }
  Canvas& canvas() { return *canvas_; }
  const std::vector<std::unique_ptr<Panel>>& panels() const { return panels_; }
  const std::vector<std::unique_ptr<Curve>>& curves() const { return curves_; }
  Picture picture() const;

  int add_panel(const PanelSpec& spec);
  Panel* panel(int number) const;           ///< null if there is none
  Panel* panel_at(const QPointF& at) const; ///< visible panels only
  void arrange();                           ///< call it after panels were added, shown, hidden or reordered
  void set_order(QList<int> panels);        ///< from top to bottom; those not named follow
  std::vector<Panel*> shown() const;        ///< the visible ones from top to bottom
  int add_curve(int panel, std::shared_ptr<const CurveSource> source, const CurveStyle& style);
  Curve* curve(int id) const;
  void clear_curves();
  void set_hidden(int panel, const QString& entry, bool hidden);
  bool is_hidden(int panel, const QString& entry) const { return hidden_.contains({panel, entry}); }

  /// Changes the view, emits the change, and draws soon.
  void navigate(const std::function<void(View&)>& change);
  void set_x_values(XValues values) { view_.set_values(values); }
  void fit_anew(); ///< fits y of all panels at the next draw

  void touch() { touched_ = true; } ///< forces the next draw even if no curve has grown
  void touch_soon();                ///< touch(), and draws when the pace allows
  void recolor();
  /// Takes samples and chooses axes; returns false if nothing has changed since the last draw.
  bool prepare();
  void draw_top(); ///< draws the crosshair's layer only, at once

private:
  bool draw();
  void follow();
  std::optional<Range> curves_range() const;
  std::optional<Range> full_range(std::optional<Range> curves) const; ///< including marks and the like
  void lay_out();
  bool fit_axes(); ///< false if the left margin had to grow
  int plot_width() const;
  void report_view();
  void place_show_all();
  bool top_used() const;

  LinkedPlots& owner_;
  const Theme& theme_;
  Canvas* canvas_;        ///< child of the owner
  QToolButton* show_all_; ///< child of the owner, on the plots while they show a part only
  Pacer pacer_;
  PlotFonts fonts_;
  QSharedPointer<QCPAxisTickerText> x_ticks_;
  std::vector<std::unique_ptr<Panel>> panels_;
  QList<int> order_; ///< numbers of all panels, from top to bottom
  std::vector<std::unique_ptr<Curve>> curves_;
  View view_;
  Range reported_{0, 1};
  std::set<std::pair<int, QString>> hidden_; ///< legend entries, by panel
  int next_curve_ = 1;
  double left_ = 0;                     ///< margin; only grows, so that the plots do not jump sideways
  std::map<const Panel*, int> heights_; ///< of the plot areas
  bool touched_ = true;
  bool drawn_ = false;
};

} // namespace batchscope::ui
