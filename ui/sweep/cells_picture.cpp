#include "ui/sweep/cells_picture.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QToolTip>

#include <algorithm>
#include <cmath>

#include "ui/sweep/cell_text.h"
#include "ui/theme/theme.h"

namespace batchscope::ui {

namespace {

constexpr int edge = 4; ///< px around the cells, for the frames of the outer ones

} // namespace

CellsPicture::CellsPicture(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Settings of the sweep"));
  connect(&theme, &Theme::changed, this, [this] {
    lay_out();
    update();
  });
}

void CellsPicture::show_sweep(const SweepView& view, Metric metric) {
  const bool same = view_.content && view.content && view.content->fields == view_.content->fields &&
                    view.content->sweep == view_.content->sweep;
  view_ = view;
  metric_ = metric;
  const std::size_t before = grid_.cells.size();
  grid_ = grid_of(view_, metric);
  if (!same || grid_.cells.size() != before) {
    chosen_.clear();
    current_ = 0;
  }
  lay_out();
  update();
}

void CellsPicture::set_answer(const std::vector<std::int64_t>& best, const std::vector<std::int64_t>& ties) {
  best_ = {best.begin(), best.end()};
  ties_ = {ties.begin(), ties.end()};
  update();
}

void CellsPicture::choose(const std::vector<std::size_t>& runs) {
  const std::set<std::size_t> wanted(runs.begin(), runs.end());
  std::set<std::size_t> cells;
  for (std::size_t i = 0; i < grid_.cells.size(); ++i)
    if (std::any_of(grid_.cells[i].runs.begin(), grid_.cells[i].runs.end(),
                    [&](std::size_t run) { return wanted.count(run) > 0; }))
      cells.insert(i);
  if (cells == chosen_)
    return;
  chosen_ = std::move(cells);
  if (!chosen_.empty() && chosen_.count(current_) == 0)
    current_ = *chosen_.begin();
  update();
}

std::vector<std::size_t> CellsPicture::chosen() const {
  std::vector<std::size_t> runs;
  for (const std::size_t cell : chosen_)
    runs.insert(runs.end(), grid_.cells[cell].runs.begin(), grid_.cells[cell].runs.end());
  return runs;
}

QRect CellsPicture::place_of(std::size_t cell) const {
  return cell < layout_.cells.size() ? layout_.cells[cell].translated(edge, edge).toAlignedRect() : QRect();
}

QString CellsPicture::legend() const {
  if (!grid_.any)
    return {};
  const bool larger = larger_is_better(metric_);
  return tr("%1 to %2")
      .arg(metric_text(metric_, larger ? grid_.least : grid_.most),
           metric_text(metric_, larger ? grid_.most : grid_.least));
}

QSize CellsPicture::sizeHint() const {
  return {Theme::lines(40), Theme::lines(18)};
}

QSize CellsPicture::minimumSizeHint() const {
  return {Theme::lines(16), Theme::lines(6)};
}

void CellsPicture::lay_out() {
  layout_ = layout_of(grid_, QSizeF(width() - 2 * edge, height() - 2 * edge), QFontMetricsF(font()));
}

void CellsPicture::resizeEvent(QResizeEvent* /*event*/) {
  lay_out();
}

void CellsPicture::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange)
    lay_out();
}

std::optional<std::size_t> CellsPicture::cell_at(const QPointF& at) const {
  const QPointF inside = at - QPointF(edge, edge);
  for (std::size_t i = 0; i < layout_.cells.size(); ++i)
    if (layout_.cells[i].contains(inside))
      return i;
  return std::nullopt;
}

void CellsPicture::set_current(std::size_t cell, bool toggle) {
  current_ = cell;
  if (!toggle)
    chosen_ = {cell};
  else if (chosen_.erase(cell) == 0)
    chosen_.insert(cell);
  setAccessibleDescription(cell_tip(view_, grid_.cells[cell], metric_));
  update();
  Q_EMIT choice_changed();
}

void CellsPicture::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton)
    return QWidget::mousePressEvent(event);
  if (const auto cell = cell_at(event->position()))
    return set_current(*cell, event->modifiers().testFlag(Qt::ControlModifier));
  if (!std::exchange(chosen_, {}).empty()) {
    update();
    Q_EMIT choice_changed();
  }
}

void CellsPicture::mouseDoubleClickEvent(QMouseEvent* event) {
  if (cell_at(event->position()))
    Q_EMIT opened();
}

/// The nearest cell in the direction of an arrow key; one that lies more to the side counts as farther away.
std::optional<std::size_t> CellsPicture::neighbour(int key) const {
  const QPointF from = layout_.cells[current_].center();
  std::optional<std::size_t> best;
  double least = 0;
  for (std::size_t i = 0; i < layout_.cells.size(); ++i) {
    const QPointF way = layout_.cells[i].center() - from;
    const double ahead = key == Qt::Key_Left    ? -way.x()
                         : key == Qt::Key_Right ? way.x()
                         : key == Qt::Key_Up    ? -way.y()
                                                : way.y();
    const double aside = key == Qt::Key_Left || key == Qt::Key_Right ? way.y() : way.x();
    const double far = ahead + 3 * std::abs(aside);
    if (i != current_ && ahead > 0.5 && (!best || far < least)) {
      best = i;
      least = far;
    }
  }
  return best;
}

void CellsPicture::keyPressEvent(QKeyEvent* event) {
  if (layout_.cells.empty() || current_ >= layout_.cells.size())
    return QWidget::keyPressEvent(event);
  switch (event->key()) {
  case Qt::Key_Left:
  case Qt::Key_Right:
  case Qt::Key_Up:
  case Qt::Key_Down:
    if (const auto next = neighbour(event->key())) {
      if (!event->modifiers().testFlag(Qt::ControlModifier))
        return set_current(*next, false);
      current_ = *next;
      update();
    }
    return;
  case Qt::Key_Space:
    return set_current(current_, event->modifiers().testFlag(Qt::ControlModifier));
  case Qt::Key_Return:
  case Qt::Key_Enter:
    if (chosen_.empty())
      set_current(current_, false);
    Q_EMIT opened();
    return;
  default:
    QWidget::keyPressEvent(event);
  }
}

void CellsPicture::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  update();
}

bool CellsPicture::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip)
    return QWidget::event(event);
  auto* help = static_cast<QHelpEvent*>(event);
  if (const auto cell = cell_at(help->pos()))
    QToolTip::showText(help->globalPos(), cell_tip(view_, grid_.cells[*cell], metric_), this, place_of(*cell));
  else
    QToolTip::hideText();
  return true;
}

} // namespace batchscope::ui

#include "moc_cells_picture.cpp"
