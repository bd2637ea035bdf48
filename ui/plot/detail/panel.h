#pragma once

#include <memory>
#include <vector>

#include "ui/plot/detail/graph.h"
#include "ui/plot/detail/scene.h"
#include "ui/plot/linked_plots.h"

namespace batchscope::ui {

QColor color_of(const CurveStyle& style, const Theme& theme); ///< as in the legend

/// A curve with its current samples.
class Curve {
public:
  /// Everything that the samples depend on, except appended points.
  struct Look {
    std::uint64_t generation = 0;
    Range x;
    int pixels = 0;
    bool log_x = false;
    bool log_y = false;
    bool operator==(const Look&) const = default;
  };

  Curve(int id, int panel, std::shared_ptr<const CurveSource> source, Graph* graph)
      : id(id), panel(panel), source(std::move(source)), graph(graph) {}

  void set_style(const CurveStyle& style, const Theme& theme);
  void set_hidden(bool hidden);
  /// Name of its legend entry; empty: none.
  const QString& entry() const { return style.name.isEmpty() ? style.with : style.name; }
  /// Takes new samples if anything has changed; returns false if nothing has.
  bool take_samples(const View& view, int pixels, bool log_y);

  const int id;
  const int panel;
  const std::shared_ptr<const CurveSource> source;
  Graph* const graph; ///< owned by the canvas
  CurveStyle style;
  bool hidden = false; ///< by the user; change it with set_hidden()
  QColor color;
  QList<qreal> dashes;
  series::Samples samples; ///< cut just outside the view

private:
  void sample(const View& view, int pixels);
  bool sample_end(const View& view, int pixels); ///< false: no new point is in view
  void give_to_graph(bool log_y);

  std::optional<Look> look_;
  std::uint64_t revision_ = 0;
};

/// One of the plots: its axes and its y range.
class Panel {
public:
  Panel(Canvas& canvas, const PanelSpec& spec, const QSharedPointer<QCPAxisTickerText>& x_ticks);

  const PanelSpec spec;
  bool visible = true;
  double height; ///< relative to the others; spec.height is the usual one
  bool log = false;
  std::optional<Range> zoomed_y; ///< set if the user zoomed y; else y follows the curves
  Range y{0, 1};
  bool fit_anew = true; ///< the next fit need not keep the current range

  QCPAxisRect* rect() const { return rect_; }
  QRectF area() const { return QRectF(rect_->rect()); }
  double x_pixel(double x) const { return rect_->axis(QCPAxis::atBottom)->coordToPixel(x); }
  double y_pixel(double y) const { return rect_->axis(QCPAxis::atLeft)->coordToPixel(y); }
  double x_value(double pixel) const { return rect_->axis(QCPAxis::atBottom)->pixelToCoord(pixel); }
  double y_value(double pixel) const { return rect_->axis(QCPAxis::atLeft)->pixelToCoord(pixel); }

  /// Chooses the y range for the visible values. `clipping` is the fraction of values at either end that may be cut
  /// off.
  void fit(const std::vector<std::unique_ptr<Curve>>& curves, int number, const Scene& scene, const View& view,
           double clipping);
  /// Sets ranges and ticks of the axes; returns the width of the widest label.
  double set_axes(const View& view, int height, const QFont& font);
  void set_colors(const Theme& theme, const QFont& font);
  void set_lowest(bool lowest); ///< only the lowest panel has x labels

private:
  QCPAxisRect* rect_;
  QSharedPointer<QCPAxisTickerText> y_ticks_;
};

} // namespace batchscope::ui
