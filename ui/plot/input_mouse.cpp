#include <QApplication>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

#include "ui/plot/detail/hits.h"
#include "ui/plot/detail/input.h"

namespace batchscope::ui {

namespace {

constexpr double wheel_notch = 120;     ///< in Qt's units
constexpr double zoom_of_a_notch = 0.8; ///< of the width

} // namespace

void Input::press(const QMouseEvent& event) {
  if (event.button() != Qt::LeftButton || drag_ != Drag::none)
    return;
  const Picture picture = board_.picture();
  pressed_at_ = event.position();
  range_then_ = board_.view().range();
  panel_ = board_.panel_at(pressed_at_);
  y_then_ = panel_ ? panel_->zoomed_y : std::nullopt;
  if (!panel_ && !legend_at(picture, pressed_at_)) // a shared legend is above all panels
    return;
  drag_ = Drag::pressed;
  if (!panel_)
    return;
  if (event.modifiers().testFlag(Qt::ShiftModifier)) {
    drag_ = Drag::zoom;
  } else if (const PlotHandle* handle = handle_at(picture, pressed_at_)) {
    drag_ = Drag::handle;
    panel_ = board_.panel(handle->panel);
    handle_then_ = handle->y;
    grabbed_beside_ = panel_->y_pixel(handle->y) - pressed_at_.y();
    board_.scene.dragged_handle = handle->id;
    board_.scene.focused_handle = handle->id;
    board_.scene.dragged_to = handle->y;
    board_.draw_top();
  } else if (const auto cursor = cursor_at(picture, pressed_at_); cursor && !mark_at(picture, pressed_at_)) {
    drag_ = Drag::cursor;
    cursor_ = *cursor;
  }
}

void Input::move(const QMouseEvent& event) {
  const QPointF at = event.position();
  switch (drag_) {
  case Drag::none:
    hover(at);
    break;
  case Drag::pressed:
    if (panel_ && (at - pressed_at_).manhattanLength() >= QApplication::startDragDistance()) {
      drag_ = Drag::view;
      owner_.setCursor(Qt::ClosedHandCursor);
      drag_view(at);
    }
    break;
  case Drag::view:
    drag_view(at);
    break;
  case Drag::zoom:
    drag_zoom(at);
    break;
  case Drag::handle:
    drag_handle(at);
    break;
  case Drag::cursor: {
    auto cursors = board_.scene.cursors;
    cursors[cursor_] = x_at(at.x());
    put_cursors(cursors[0], cursors[1]);
    break;
  }
  }
  follow_pointer(at);
}

void Input::release(const QMouseEvent& event) {
  if (event.button() != Qt::LeftButton)
    return;
  const Drag drag = drag_;
  drag_ = Drag::none;
  if (drag == Drag::pressed) {
    if (toggle_entry(event))
      return hover(event.position());
    if (const PlotMark* mark = mark_at(board_.picture(), event.position())) {
      const qint64 id = mark->id;
      choose_mark(id);
      Q_EMIT owner_.mark_chosen(id);
    }
  } else if (drag == Drag::zoom) {
    const auto range = std::exchange(board_.scene.zooming, std::nullopt);
    constexpr double least = 4; // px: less is a click
    if (range && std::abs(event.position().x() - pressed_at_.x()) >= least)
      board_.navigate([&](View& view) { view.show(range->first, range->second); });
    board_.draw_top();
  } else if (drag == Drag::handle) {
    if (board_.scene.dragged_to != handle_then_)
      board_.scene.focused_handle.reset(); // otherwise its label would stay over the plots
    drop_handle();
  }
  hover(event.position());
}

/// Hides or shows the curve whose legend entry is at this place (with Ctrl, all curves of that name in all plots);
/// false if there is none.
bool Input::toggle_entry(const QMouseEvent& event) {
  const auto entry = legend_at(board_.picture(), event.position());
  if (!entry)
    return false;
  const QString name = entry->curve->style.name;
  const bool hide = !entry->curve->hidden;
  const bool everywhere = event.modifiers().testFlag(Qt::ControlModifier) || board_.scene.shared_legend;
  for (int panel = 0; board_.panel(panel) != nullptr; ++panel)
    if (everywhere || panel == entry->curve->panel)
      board_.set_hidden(panel, name, hide);
  return true;
}

void Input::double_click(const QMouseEvent& event) {
  if (event.button() == Qt::LeftButton && toggle_entry(event))
    return; // handled as two clicks
  if (event.button() == Qt::LeftButton && board_.panel_at(event.position()))
    owner_.show_all();
}

void Input::leave() {
  board_.scene.hovered_handle.reset();
  put_crosshair(std::nullopt, true);
}

bool Input::wheel(const QWheelEvent& event) {
  Panel* panel = board_.panel_at(event.position());
  if (!panel)
    return false;
  const double notches = event.angleDelta().y() / wheel_notch;
  const double aside = event.angleDelta().x() / wheel_notch;
  if (event.modifiers().testFlag(Qt::ControlModifier)) {
    const double factor = std::pow(zoom_of_a_notch, notches);
    const double around = to_place(panel->y_value(event.position().y()), panel->log);
    const double low = around + (to_place(panel->y.first, panel->log) - around) * factor;
    const double high = around + (to_place(panel->y.second, panel->log) - around) * factor;
    if (high - low > 1e-12 * std::max(std::abs(low), std::abs(high)) && std::isfinite(high - low))
      panel->zoomed_y = Range(to_value(low, panel->log), to_value(high, panel->log));
    board_.touch();
    board_.pacer().soon();
  } else if (std::abs(aside) > std::abs(notches)) {
    constexpr double of_a_notch = 0.1; // of the width
    board_.navigate([&](View& view) { view.move(view.range(), -aside * of_a_notch); });
  } else if (notches != 0) {
    const double around = panel->x_value(event.position().x());
    board_.navigate([&](View& view) { view.zoom(std::pow(zoom_of_a_notch, notches), around); });
  }
  return true;
}

void Input::help(const QHelpEvent& event) {
  QToolTip::showText(event.globalPos(), tip_at(board_.picture(), event.pos()), &owner_);
}

void Input::drag_view(const QPointF& at) {
  const double width = panel_->area().width();
  const QPointF by = at - pressed_at_;
  if (y_then_) {
    const double low = to_place(y_then_->first, panel_->log);
    const double high = to_place(y_then_->second, panel_->log);
    const double up = by.y() / panel_->area().height() * (high - low);
    panel_->zoomed_y = Range(to_value(low + up, panel_->log), to_value(high + up, panel_->log));
  }
  board_.navigate([&](View& view) { view.move(range_then_, -by.x() / width); });
}

void Input::drag_zoom(const QPointF& at) {
  const double here = panel_->x_value(std::clamp(at.x(), panel_->area().left(), panel_->area().right()));
  const double there = panel_->x_value(std::clamp(pressed_at_.x(), panel_->area().left(), panel_->area().right()));
  board_.scene.zooming = std::minmax({here, there});
  board_.draw_top();
}

void Input::drag_handle(const QPointF& at) {
  PlotHandle* handle = board_.scene.handle(board_.scene.dragged_handle);
  if (!handle)
    return;
  const QRectF area = panel_->area();
  const double y = at.y() + grabbed_beside_;
  if (y < area.top() && !panel_->log) {
    // Beyond the border the axis extends, the further out the faster, up to a limit.
    constexpr double most = 0.2;
    const double height = panel_->y.second - panel_->y.first;
    if (panel_->y.second < handle->highest)
      panel_->y.second += height * std::min(most, (area.top() - y) / area.height());
    if (panel_->zoomed_y)
      panel_->zoomed_y = panel_->y;
    board_.touch();
    board_.pacer().soon();
    set_handle(*handle, panel_->y.second);
  } else {
    set_handle(*handle, panel_->y_value(std::clamp(y, area.top(), area.bottom())));
  }
}

void Input::set_handle(PlotHandle& handle, double y) {
  const double value = handle.bounded(y);
  if (value == handle.y)
    return;
  handle.y = value;
  board_.scene.dragged_to = value;
  const qint64 id = handle.id; // a slot may replace all handles
  Q_EMIT owner_.handle_dragged(id, value);
  board_.draw_top();
}

void Input::drop_handle() {
  const auto id = std::exchange(board_.scene.dragged_handle, std::nullopt);
  if (id && board_.scene.dragged_to != handle_then_)
    Q_EMIT owner_.handle_dropped(*id, board_.scene.dragged_to);
  board_.touch_soon();
  board_.draw_top();
}

void Input::cancel() {
  const Drag drag = std::exchange(drag_, Drag::none);
  board_.scene.zooming.reset();
  if (drag == Drag::handle) {
    if (PlotHandle* handle = board_.scene.handle(board_.scene.dragged_handle))
      set_handle(*handle, handle_then_);
    drop_handle();
  }
  owner_.unsetCursor();
  board_.draw_top();
}

void Input::hover(const QPointF& at) {
  const Picture picture = board_.picture();
  const PlotHandle* handle = handle_at(picture, at);
  const auto hovered = handle ? std::optional(handle->id) : std::nullopt;
  if (handle)
    owner_.setCursor(Qt::SizeVerCursor);
  else if (mark_at(picture, at) || legend_at(picture, at))
    owner_.setCursor(Qt::PointingHandCursor);
  else if (cursor_at(picture, at))
    owner_.setCursor(Qt::SizeHorCursor);
  else
    owner_.unsetCursor();
  if (hovered == board_.scene.hovered_handle)
    return;
  board_.scene.hovered_handle = hovered;
  board_.draw_top();
}

void Input::follow_pointer(const QPointF& at) {
  const QRectF stack = board_.picture().stack();
  const bool inside = at.x() >= stack.left() && at.x() <= stack.right() && at.y() >= 0 && at.y() <= stack.bottom();
  put_crosshair(inside ? std::optional(x_at(at.x())) : std::nullopt, true);
}

double Input::x_at(double pixel) const {
  const auto [from, to] = board_.view().range();
  const double x = board_.picture().x_value(pixel);
  return std::clamp(board_.view().values() == XValues::whole ? std::round(x) : x, from, to);
}

} // namespace batchscope::ui
