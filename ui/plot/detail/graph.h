#pragma once

#include "ui/plot/detail/canvas.h"
#include "ui/plot/linked_plots.h"

namespace batchscope::ui {

/// One line of a panel. Where few points are on a pixel it is drawn smooth; where it is dense, as one upright stroke a
/// column of pixels, which shows the same and costs a small part.
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
  void draw_sparse(QCPPainter& painter, const QVector<QPointF>& points) const;
  void draw_dense(QCPPainter& painter, const QVector<QPointF>& points) const;

  bool dashed_ = false;
  bool steps_ = false;
};

} // namespace batchscope::ui
