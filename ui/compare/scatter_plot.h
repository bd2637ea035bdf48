#pragma once

#include <QWidget>

#include <optional>

#include "ui/compare/comparison_view.h"
#include "ui/compare/field_axis.h"

namespace batchscope::ui {

class Theme;

/// Two fields against each other: a point for the mean of repeats, or of each group if the page groups runs, with its
/// spread; and the front of those that no other one beats in both. Dragging marks the runs in a rectangle, a click
/// one. UI thread.
class ScatterPlot : public QWidget {
  Q_OBJECT

public:
  ScatterPlot(const Theme& theme, ComparisonView& view, QWidget* parent = nullptr);

  /// Keys of fields; unknown ones leave the plot empty.
  void set_fields(const QString& x, const QString& y);
  /// `accuracy against peak memory`.
  QString title() const;
  /// Where a run is drawn; nothing if it lacks a value. For tests.
  std::optional<QPointF> position(std::size_t run) const;
  /// Points of the front, from left to right; each is the first run of its group.
  const std::vector<std::size_t>& front() const { return front_; }
  /// Both means of the spot with a run, in the units of the axes; nothing if it has none.
  std::optional<QPointF> values(std::size_t run) const;

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override; // tooltips

private:
  /// A run, or the mean of a group.
  struct Spot {
    std::vector<std::size_t> runs;
    QPointF at;                ///< places, 0..1
    double across = 0, up = 0; ///< half of the 95 % interval of the mean, as places
    QPointF values;            ///< means
    QString label;
  };

  void rebuild();
  void find_front();
  QRectF plot_rect() const;
  QPointF on_screen(const QPointF& place) const;
  const Spot* spot_at(const QPointF& at) const;
  const Spot* spot_of(std::size_t run) const; ///< null if it has none
  void paint_grid(QPainter& painter) const;
  void paint_front(QPainter& painter) const;
  void paint_spots(QPainter& painter) const;
  void paint_labels(QPainter& painter) const;
  QString describe(const Spot& spot) const;

  const Theme& theme_;
  ComparisonView& view_;
  QString x_key_, y_key_;
  std::optional<FieldAxis> x_, y_;
  std::vector<Spot> spots_;
  std::vector<std::size_t> front_;
  std::vector<std::size_t> front_spots_;
  std::optional<QPointF> pressed_;
  QPointF pointer_;
};

} // namespace batchscope::ui
