#pragma once

#include <QWidget>

#include <optional>
#include <set>
#include <vector>

#include "ui/sweep/cell_layout.h"

namespace batchscope::ui {

class Theme;

/// The picture of a sweep that fills: a cell for each setting, coloured by the chosen metric. Cells can be chosen with
/// mouse and keyboard. Where they are small, texts are left out and the tooltip has them. UI thread.
class CellsPicture : public QWidget {
  Q_OBJECT

public:
  explicit CellsPicture(const Theme& theme, QWidget* parent = nullptr);

  void show_sweep(const SweepView& view, Metric metric);
  /// The runs of the answer's setting, and those of settings that cannot be told from it.
  void set_answer(const std::vector<std::int64_t>& best, const std::vector<std::int64_t>& ties);
  /// Chooses runs of the view; cells that have any of them are marked.
  void choose(const std::vector<std::size_t>& runs);
  std::vector<std::size_t> chosen() const; ///< all runs of the chosen cells
  const CellGrid& grid() const { return grid_; }
  /// Place of a cell in this widget, for tests; empty if there is none.
  QRect place_of(std::size_t cell) const;
  QString legend() const; ///< `95.0 % to 98.2 %`: what the colours of the worst and the best cell mean; may be empty

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

Q_SIGNALS:
  void choice_changed();
  void opened(); ///< the chosen cells are to be shown in full

protected:
  bool event(QEvent* event) override; // tooltips
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;

private:
  enum class Mark { none, tie, best };

  void lay_out();
  void set_current(std::size_t cell, bool toggle);
  std::optional<std::size_t> cell_at(const QPointF& at) const;
  std::optional<std::size_t> neighbour(int key) const;
  Mark mark_of(const Cell& cell) const;
  QColor fill_of(const Cell& cell) const;
  void draw_cell(QPainter& painter, std::size_t index) const;
  void draw_ground(QPainter& painter, const Cell& cell, const QRectF& place) const;
  void draw_frames(QPainter& painter, std::size_t index, const QRectF& place) const;
  void draw_texts(QPainter& painter, const Cell& cell, const QRectF& place, const QColor& ground) const;
  void draw_bars(QPainter& painter, const Cell& cell, const QRectF& room, const QColor& ground) const;

  const Theme& theme_;
  SweepView view_;
  Metric metric_ = Metric::accuracy;
  CellGrid grid_;
  CellLayout layout_;
  std::set<std::int64_t> best_, ties_;
  std::set<std::size_t> chosen_; ///< cells
  std::size_t current_ = 0;      ///< cell that the keyboard is at
};

/// A scale of the picture's colours with the values at its ends. UI thread.
class ColorLegend : public QWidget {
  Q_OBJECT

public:
  explicit ColorLegend(const Theme& theme, QWidget* parent = nullptr);
  void show_range(const QString& worst, const QString& best); ///< hidden without texts
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

protected:
  void paintEvent(QPaintEvent* event) override;

private:
  const Theme& theme_;
  QString worst_, best_;
};

/// Colour of a cell between the worst, 0, and the best, 1.
QColor cell_color(const Theme& theme, double goodness);

} // namespace batchscope::ui
