#pragma once

#include <QPixmap>
#include <QTimer>
#include <QWidget>

#include <optional>

#include "ui/compare/comparison_view.h"
#include "ui/compare/parallel_axes.h"
#include "ui/widgets/keys.h"

class QMenu;

namespace batchscope::ui {

class Theme;

/// Parallel coordinates: a vertical axis for each field, a line for each run. Dragging along an axis marks the runs in
/// that range; dragging a title moves the axis; a right click opens the axis's menu. Runs without a value pass through
/// a lane below the axes. UI thread.
class ParallelPlot : public QWidget {
  Q_OBJECT

public:
  ParallelPlot(const Theme& theme, ComparisonView& view, QWidget* parent = nullptr);

  const ParallelAxes& axes() const { return axes_; }
  QJsonArray state() const { return axes_.state(); }
  void restore(const QJsonArray& state);
  static QList<KeyHelp> key_help();
  /// Position of a place on an axis, in this widget: for tests.
  QPointF point(int axis, double place) const;

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  bool event(QEvent* event) override; // tooltips

private:
  // Geometry.
  QRectF plot_rect() const; ///< from the tops to the bottoms of the axes
  double axis_x(int axis) const;
  double place_at(double y) const;
  int axis_at(const QPointF& at) const;  ///< near the axis's line; -1: none
  int title_at(const QPointF& at) const; ///< -1: none
  std::optional<std::size_t> run_at(const QPointF& at) const;
  // Changes.
  void rebuild();
  void repaint_all(); ///< also the lines in the background
  void place_runs();  ///< computes pixels_
  void brush(int axis, double from, double to);
  void apply_brushes();
  void move_brush(int axis, double by);
  void choose_axis(int axis);
  void fill_menu(QMenu& menu, int axis);
  // Painting, parallel_paint.cpp.
  void paint_background();
  void paint_many(QPainter& painter, bool emphasized_only) const;
  void paint_lines(QPainter& painter);
  void paint_axes(QPainter& painter);
  void paint_axis(QPainter& painter, int axis);
  void draw_run(QPainter& painter, std::size_t index) const;

  enum class Drag { none, brush, title };

  const Theme& theme_;
  ComparisonView& view_;
  ParallelAxes axes_;
  std::vector<std::vector<QPoint>> pixels_; ///< of the visible runs on each axis
  QPixmap background_;                      ///< all runs, in the background's colour; null: to be painted
  Drag drag_ = Drag::none;
  int dragged_axis_ = -1;
  double drag_from_ = 0;               ///< place or x where it began
  double drag_x_ = 0;                  ///< of a dragged title
  int chosen_axis_ = 0;                ///< for keys
  std::optional<std::size_t> hovered_; ///< index into the visible runs
};

} // namespace batchscope::ui
