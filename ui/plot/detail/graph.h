#pragma once

#include "ui/plot/detail/canvas.h"
#include "ui/plot/linked_plots.h"

namespace batchscope::ui {

/// One line of a panel. With few points per pixel it is drawn as a line; where it is dense, as one vertical stroke per
/// column of pixels, which looks the same and is much faster. Of a staircase, dips of a single value are thin.
class Graph : public QCPGraph {
public:
  Graph(QCPAxis* x, QCPAxis* y) : QCPGraph(x, y) { setAdaptiveSampling(false); }

  void set_look(bool dashed, bool steps) {
    dashed_ = dashed;
    steps_ = steps;
  }

protected:
  void drawLinePlot(QCPPainter* painter, const QVector<QPointF>& points) const override;
  void drawScatterPlot(QCPPainter* painter, const QVector<QPointF>& points,
                       const QCPScatterStyle& style) const override;

private:
  void draw_line(QCPPainter& painter, const QVector<QPointF>& points) const;
  void draw_sparse(QCPPainter& painter, const QVector<QPointF>& points) const;
  void draw_dense(QCPPainter& painter, const QVector<QPointF>& points) const;

  bool dashed_ = false;
  bool steps_ = false;
};

} // namespace batchscope::ui
