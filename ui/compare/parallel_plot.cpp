#include "ui/compare/parallel_plot.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QToolTip>

#include <algorithm>
#include <cmath>

#include "ui/theme/theme.h"

namespace batchscope::ui {

namespace {

constexpr double side_lines = 4;      // beside the first and the last axis: half of a title
constexpr double above_lines = 2.9;   // title and the upper value
constexpr double below_lines = 1.5;   // the lower value
constexpr double lane_lines = 1.7;    // the lane of missing values
constexpr double reach = 9;           // px around an axis in which dragging brushes
constexpr double key_step = 0.05;     // of an axis, by which keys move a brush
constexpr double least_brush = 0.005; // of an axis; less is a click
constexpr double near_line = 5;       // px

/// Distance of a point from a line between two points.
double distance(const QPointF& at, const QPointF& a, const QPointF& b) {
  const QPointF along = b - a;
  const double length = QPointF::dotProduct(along, along);
  const double t = length > 0 ? std::clamp(QPointF::dotProduct(at - a, along) / length, 0.0, 1.0) : 0;
  const QPointF off = at - (a + t * along);
  return std::hypot(off.x(), off.y());
}

} // namespace

ParallelPlot::ParallelPlot(const Theme& theme, ComparisonView& view, QWidget* parent)
    : QWidget(parent), theme_(theme), view_(view) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Parallel coordinates"));
  setObjectName(QStringLiteral("parallel"));
  connect(&view, &ComparisonView::comparison_changed, this, &ParallelPlot::rebuild);
  connect(&view, &ComparisonView::visible_changed, this, &ParallelPlot::rebuild);
  connect(&view, &ComparisonView::marks_changed, this, [this](const QObject* by) {
    if (by != this)
      axes_.clear_brushes();
    update();
  });
  connect(&theme, &Theme::changed, this, &ParallelPlot::repaint_all);
}

QSize ParallelPlot::sizeHint() const {
  return {Theme::lines(50), Theme::lines(15)};
}

QSize ParallelPlot::minimumSizeHint() const {
  return {Theme::lines(20), Theme::lines(6.2)};
}

void ParallelPlot::rebuild() {
  axes_.rebuild(view_);
  chosen_axis_ = std::clamp(chosen_axis_, 0, std::max(0, int(axes_.axes().size()) - 1));
  hovered_.reset();
  repaint_all();
}

void ParallelPlot::repaint_all() {
  place_runs();
  background_ = {};
  update();
}

void ParallelPlot::place_runs() {
  pixels_.clear();
  for (int axis = 0; axis < std::ssize(axes_.axes()); ++axis) {
    const QPointF bottom = point(axis, 0);
    const double height = bottom.y() - point(axis, 1).y();
    const int missing = qRound(point(axis, ParallelAxes::missing_place).y());
    std::vector<QPoint>& pixels = pixels_.emplace_back();
    pixels.reserve(view_.visible().size());
    for (const float place : axes_.axes()[static_cast<std::size_t>(axis)].places)
      pixels.emplace_back(qRound(bottom.x()), place < 0 ? missing : qRound(bottom.y() - place * height));
  }
}

void ParallelPlot::restore(const QJsonArray& state) {
  axes_.restore(state);
  rebuild();
}

QRectF ParallelPlot::plot_rect() const {
  const double below = Theme::lines(below_lines) + (axes_.has_missing() ? Theme::lines(lane_lines) : 0);
  return QRectF(rect()).adjusted(Theme::lines(side_lines), Theme::lines(above_lines), -Theme::lines(side_lines),
                                 -below);
}

double ParallelPlot::axis_x(int axis) const {
  const QRectF plot = plot_rect();
  const auto count = std::ssize(axes_.axes());
  return count < 2 ? plot.center().x() : plot.left() + plot.width() * axis / double(count - 1);
}

QPointF ParallelPlot::point(int axis, double place) const {
  const QRectF plot = plot_rect();
  const double y = place < 0 ? plot.bottom() + Theme::lines(below_lines) + Theme::lines(lane_lines) * 0.4
                             : plot.bottom() - place * plot.height();
  return {axis_x(axis), y};
}

double ParallelPlot::place_at(double y) const {
  const QRectF plot = plot_rect();
  if (axes_.has_missing() && y > plot.bottom() + Theme::lines(below_lines) * 0.5)
    return ParallelAxes::missing_place;
  return std::clamp((plot.bottom() - y) / plot.height(), 0.0, 1.0);
}

int ParallelPlot::axis_at(const QPointF& at) const {
  const QRectF plot = plot_rect();
  if (at.y() < plot.top() - reach)
    return -1;
  for (int axis = 0; axis < std::ssize(axes_.axes()); ++axis)
    if (std::abs(axis_x(axis) - at.x()) <= reach)
      return axis;
  return -1;
}

int ParallelPlot::title_at(const QPointF& at) const {
  if (at.y() >= plot_rect().top() - reach)
    return -1;
  const auto count = std::ssize(axes_.axes());
  const double half = count < 2 ? width() / 2.0 : plot_rect().width() / double(count - 1) / 2;
  for (int axis = 0; axis < count; ++axis)
    if (std::abs(axis_x(axis) - at.x()) <= half)
      return axis;
  return -1;
}

std::optional<std::size_t> ParallelPlot::run_at(const QPointF& at) const {
  const auto right = std::ssize(axes_.axes());
  int left = 0;
  while (left + 1 < right && axis_x(left + 1) < at.x())
    ++left;
  if (left + 1 >= right || view_.comparison().runs().empty())
    return std::nullopt;
  std::optional<std::size_t> nearest;
  double least = near_line;
  for (std::size_t i = 0; i < view_.visible().size(); ++i) {
    if (view_.marking() && !view_.is_emphasized(view_.visible()[i]))
      continue; // what is in the background does not cover what is marked
    const auto axis = static_cast<std::size_t>(left);
    const double off = distance(at, pixels_[axis][i], pixels_[axis + 1][i]);
    if (off < least) {
      least = off;
      nearest = i;
    }
  }
  return nearest;
}

void ParallelPlot::brush(int axis, double from, double to) {
  const auto [low, high] = std::minmax(from, to);
  if (high - low < least_brush && low >= 0)
    axes_.brush(axis, std::nullopt);
  else
    axes_.brush(axis, std::pair(low, high));
  apply_brushes();
}

void ParallelPlot::apply_brushes() {
  view_.mark(axes_.brushed() ? axes_.inside(view_) : std::vector<std::size_t>{}, this);
  update();
}

void ParallelPlot::move_brush(int axis, double by) {
  if (axis >= std::ssize(axes_.axes()))
    return;
  const auto& range = axes_.axes()[static_cast<std::size_t>(axis)].brush;
  auto [from, to] = range.value_or(std::pair(by > 0 ? 0.0 : 0.75, by > 0 ? 0.25 : 1.0));
  if (range) {
    by = std::clamp(by, -from, 1 - to);
    from += by;
    to += by;
  }
  axes_.brush(axis, std::pair(from, to));
  apply_brushes();
}

void ParallelPlot::choose_axis(int axis) {
  chosen_axis_ = std::clamp(axis, 0, std::max(0, int(axes_.axes().size()) - 1));
  update();
}

void ParallelPlot::resizeEvent(QResizeEvent* /*event*/) {
  repaint_all();
}

void ParallelPlot::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  update();
}

void ParallelPlot::focusOutEvent(QFocusEvent* event) {
  QWidget::focusOutEvent(event);
  update();
}

void ParallelPlot::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton)
    return;
  const QPointF at = event->position();
  if (const int title = title_at(at); title >= 0) {
    drag_ = Drag::title;
    dragged_axis_ = title;
    drag_x_ = at.x();
  } else if (const int axis = axis_at(at); axis >= 0) {
    drag_ = Drag::brush;
    dragged_axis_ = axis;
    drag_from_ = place_at(at.y());
    choose_axis(axis);
  } else if (const auto run = run_at(at)) {
    axes_.clear_brushes();
    view_.mark({view_.visible()[*run]}, this);
  } else {
    axes_.clear_brushes();
    view_.clear_marks();
  }
}

void ParallelPlot::mouseMoveEvent(QMouseEvent* event) {
  const QPointF at = event->position();
  if (drag_ == Drag::brush) {
    brush(dragged_axis_, drag_from_, place_at(at.y()));
  } else if (drag_ == Drag::title) {
    drag_x_ = at.x();
    update();
  } else {
    setCursor(axis_at(at) >= 0 ? Qt::SizeVerCursor : title_at(at) >= 0 ? Qt::OpenHandCursor : Qt::ArrowCursor);
    const auto before = std::exchange(hovered_, axis_at(at) >= 0 ? std::nullopt : run_at(at));
    if (hovered_ != before)
      update();
  }
}

void ParallelPlot::mouseReleaseEvent(QMouseEvent* event) {
  const Drag drag = std::exchange(drag_, Drag::none);
  if (drag == Drag::brush)
    brush(dragged_axis_, drag_from_, place_at(event->position().y()));
  if (drag != Drag::title)
    return;
  int nearest = 0;
  for (int axis = 0; axis < std::ssize(axes_.axes()); ++axis)
    if (std::abs(axis_x(axis) - drag_x_) < std::abs(axis_x(nearest) - drag_x_))
      nearest = axis;
  if (axes_.move(dragged_axis_, nearest)) {
    chosen_axis_ = nearest;
    rebuild();
  }
  update();
}

void ParallelPlot::leaveEvent(QEvent* /*event*/) {
  hovered_.reset();
  update();
}

void ParallelPlot::keyPressEvent(QKeyEvent* event) {
  const bool with_control = event->modifiers().testFlag(Qt::ControlModifier);
  const int axis = chosen_axis_;
  const auto changed = [this](bool change) {
    if (change)
      rebuild();
  };
  switch (event->key()) {
  case Qt::Key_Left:
  case Qt::Key_Right: {
    const int to = axis + (event->key() == Qt::Key_Left ? -1 : 1);
    if (with_control)
      changed(axes_.move(axis, to));
    choose_axis(to);
    break;
  }
  case Qt::Key_Up:
    move_brush(axis, key_step);
    break;
  case Qt::Key_Down:
    move_brush(axis, -key_step);
    break;
  case Qt::Key_L:
    if (axis < std::ssize(axes_.axes()))
      changed(axes_.set_log(axis, !axes_.axes()[static_cast<std::size_t>(axis)].axis.log()));
    break;
  case Qt::Key_F:
    changed(axes_.flip(axis));
    break;
  case Qt::Key_Delete:
    changed(axes_.remove(axis));
    break;
  case Qt::Key_Escape:
    axes_.clear_brushes();
    view_.clear_marks();
    break;
  case Qt::Key_Menu: {
    QContextMenuEvent menu(QContextMenuEvent::Keyboard, point(axis, 1).toPoint(),
                           mapToGlobal(point(axis, 1).toPoint()));
    contextMenuEvent(&menu);
    break;
  }
  default:
    QWidget::keyPressEvent(event);
  }
}

void ParallelPlot::contextMenuEvent(QContextMenuEvent* event) {
  const QPointF at = event->pos();
  const int axis = title_at(at) >= 0 ? title_at(at) : axis_at(at);
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  fill_menu(*menu, axis);
  menu->popup(event->globalPos());
}

void ParallelPlot::fill_menu(QMenu& menu, int axis) {
  if (axis >= 0) {
    const FieldAxis& shown = axes_.axes()[static_cast<std::size_t>(axis)].axis;
    QAction* log = menu.addAction(tr("Logarithmic"));
    log->setCheckable(true);
    log->setChecked(shown.log());
    log->setEnabled(shown.can_be_log());
    connect(log, &QAction::triggered, this, [this, axis](bool on) {
      if (axes_.set_log(axis, on))
        rebuild();
    });
    QAction* flip = menu.addAction(tr("Reverse axis"));
    flip->setCheckable(true);
    flip->setChecked(shown.flipped());
    connect(flip, &QAction::triggered, this, [this, axis] {
      if (axes_.flip(axis))
        rebuild();
    });
    QAction* hide = menu.addAction(tr("Hide %1").arg(shown.name()));
    hide->setEnabled(axes_.axes().size() > 2);
    connect(hide, &QAction::triggered, this, [this, axis] {
      if (axes_.remove(axis))
        rebuild();
    });
    menu.addSeparator();
  }
  QMenu* more = menu.addMenu(tr("Add an axis"));
  for (const CompareField& field : view_.comparison().fields) {
    const bool there = std::any_of(axes_.axes().begin(), axes_.axes().end(),
                                   [&](const ParallelAxes::Axis& each) { return each.axis.key() == field.key; });
    if (there || field.different < 2)
      continue; // the same in all runs
    connect(more->addAction(field.title), &QAction::triggered, this, [this, key = field.key] {
      if (axes_.add(key))
        rebuild();
    });
  }
  more->setEnabled(!more->isEmpty());
  connect(menu.addAction(tr("Reset the axes")), &QAction::triggered, this, [this] {
    axes_.reset();
    rebuild();
  });
}

bool ParallelPlot::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    auto* help = static_cast<QHelpEvent*>(event);
    if (const int title = title_at(help->pos()); title >= 0)
      QToolTip::showText(
          help->globalPos(),
          tr("%1: drag to move, right click for more").arg(axes_.axes()[static_cast<std::size_t>(title)].axis.name()),
          this);
    else if (hovered_ && *hovered_ < view_.visible().size())
      QToolTip::showText(help->globalPos(), view_.comparison().run_name(view_.visible()[*hovered_]), this);
    else if (axis_at(help->pos()) >= 0)
      QToolTip::showText(help->globalPos(), tr("Drag to mark the runs in a range"), this);
    else
      QToolTip::hideText();
    return true;
  }
  return QWidget::event(event);
}

QList<KeyHelp> ParallelPlot::key_help() {
  return {{tr("Left, Right"), tr("Choose an axis; with Ctrl: move it")},
          {tr("Up, Down"), tr("Mark a range of the chosen axis, and move it")},
          {tr("L, F, Del"), tr("Axis logarithmic, upside down, hidden")},
          {tr("Esc"), tr("Remove all marks")}};
}

} // namespace batchscope::ui

#include "moc_parallel_plot.cpp"
