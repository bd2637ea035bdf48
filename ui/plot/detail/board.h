#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "ui/plot/detail/pacer.h"
#include "ui/plot/detail/paint.h"

namespace batchscope::ui {

/// The plots as they stand, and how they get onto the screen.
class Board {
public:
  Board(LinkedPlots& owner, const Theme& theme);
  ~Board();

  Scene scene;
  double clipping = 0;

  const View& view() const { return view_; } ///< as drawn last
  const View& view_by_now();                 ///< with what the curves have grown since
  Pacer& pacer() { return pacer_; }
  const Theme& theme() const { return theme_; }
  Canvas& canvas() { return *canvas_; }
  const std::vector<std::unique_ptr<Panel>>& panels() const { return panels_; }
  const std::vector<std::unique_ptr<Curve>>& curves() const { return curves_; }
  Picture picture() const;

  int add_panel(const PanelSpec& spec);
  Panel* panel(int number) const;           ///< null: there is none
  Panel* panel_at(const QPointF& at) const; ///< of those that are visible
  void arrange();                           ///< after panels came or went
  int add_curve(int panel, std::shared_ptr<const CurveSource> source, const CurveStyle& style);
  Curve* curve(int id) const;
  void clear_curves();
  void set_hidden(int panel, const QString& entry, bool hidden);
  bool is_hidden(int panel, const QString& entry) const { return hidden_.contains({panel, entry}); }

  /// Changes the view, tells of it, and draws soon.
  void navigate(const std::function<void(View&)>& change);
  void set_integer(bool integer) { view_.set_integer(integer); }
  void fit_anew(); ///< y of all panels at the next draw

  void touch() { touched_ = true; } ///< the next draw is needed even where no curve grew
  void touch_soon();                ///< and is drawn when it is its turn
  void recolor();
  /// Takes samples and chooses axes; false where everything is as it was drawn last.
  bool prepare();
  void draw_top(); ///< the crosshair's layer alone, at once

private:
  bool draw();
  void follow();
  std::optional<Range> curves_range() const;
  std::optional<Range> full_range(std::optional<Range> curves) const; ///< with what is upon them
  void lay_out();
  bool fit_axes(); ///< false where the left margin had to grow
  int plot_width() const;
  void report_view();
  bool top_used() const;

  LinkedPlots& owner_;
  const Theme& theme_;
  Canvas* canvas_; ///< the owner's child
  Pacer pacer_;
  PlotFonts fonts_;
  QSharedPointer<ChosenTicks> x_ticks_;
  std::vector<std::unique_ptr<Panel>> panels_;
  std::vector<std::unique_ptr<Curve>> curves_;
  View view_;
  Range reported_{0, 1};
  std::set<std::pair<int, QString>> hidden_; ///< entries of legends, by panel
  int next_curve_ = 1;
  double left_ = 0;                     ///< margin; grows only, so that the plots do not jump sideways
  std::map<const Panel*, int> heights_; ///< of the plots themselves
  bool touched_ = true;
  bool drawn_ = false;
};

} // namespace batchscope::ui
