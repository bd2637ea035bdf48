#include <QKeyEvent>

#include <algorithm>
#include <cmath>

#include "ui/plot/detail/hits.h"
#include "ui/plot/detail/input.h"

namespace batchscope::ui {

namespace {

constexpr double pan_of_a_key = 0.1; ///< of the width
constexpr double zoom_of_a_key = 0.8;
constexpr double tens = 10;

bool is_plain(const QKeyEvent& event) {
  return !(event.modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier));
}

} // namespace

bool Input::takes(const QKeyEvent& event) const {
  switch (event.key()) {
  case Qt::Key_Left:
  case Qt::Key_Right:
    return !event.modifiers().testFlag(Qt::AltModifier);
  case Qt::Key_Plus:
  case Qt::Key_Equal:
  case Qt::Key_Minus:
  case Qt::Key_Home:
  case Qt::Key_End:
  case Qt::Key_F:
  case Qt::Key_C:
  case Qt::Key_M:
    return is_plain(event);
  case Qt::Key_Up:
  case Qt::Key_Down:
  case Qt::Key_PageUp:
  case Qt::Key_PageDown:
    return is_plain(event) && board_.scene.focused_handle.has_value();
  case Qt::Key_Escape:
    return drag_ != Drag::none || board_.scene.focused_handle || board_.scene.cursors[0] || board_.scene.cursors[1];
  default:
    return false;
  }
}

bool Input::key(const QKeyEvent& event) {
  if (!takes(event))
    return false;
  if (!board_.scene.focus) {
    board_.scene.focus = true;
    board_.draw_top();
  }
  const bool control = event.modifiers().testFlag(Qt::ControlModifier);
  const double far = event.modifiers().testFlag(Qt::ShiftModifier) ? tens : 1;
  const auto middle = [&](const View& view) {
    const double from = to_place(view.range().first, view.log());
    const double to = to_place(view.range().second, view.log());
    return board_.scene.crosshair.value_or(to_value((from + to) / 2, view.log()));
  };
  switch (event.key()) {
  case Qt::Key_Left:
  case Qt::Key_Right: {
    const double direction = event.key() == Qt::Key_Left ? -1 : 1;
    if (control)
      step_crosshair(direction * far);
    else
      board_.navigate([&](View& view) { view.move(view.range(), direction * pan_of_a_key); });
    return true;
  }
  case Qt::Key_Plus:
  case Qt::Key_Equal:
    board_.navigate([&](View& view) { view.zoom(zoom_of_a_key, middle(view)); });
    return true;
  case Qt::Key_Minus:
    board_.navigate([&](View& view) { view.zoom(1 / zoom_of_a_key, middle(view)); });
    return true;
  case Qt::Key_Home:
    owner_.show_all();
    return true;
  case Qt::Key_End:
  case Qt::Key_F:
    owner_.set_following(true);
    return true;
  case Qt::Key_C:
    put_cursor();
    return true;
  case Qt::Key_M:
    next_mark(event.modifiers().testFlag(Qt::ShiftModifier) ? -1 : 1);
    return true;
  case Qt::Key_Up:
  case Qt::Key_Down:
    move_focused(event.key() == Qt::Key_Up ? 1 : -1);
    return true;
  case Qt::Key_PageUp:
  case Qt::Key_PageDown:
    move_focused(event.key() == Qt::Key_PageUp ? tens : -tens);
    return true;
  default:
    return escape();
  }
}

bool Input::escape() {
  if (drag_ != Drag::none) {
    cancel();
  } else if (board_.scene.cursors[0] || board_.scene.cursors[1]) {
    put_cursors(std::nullopt, std::nullopt);
  } else {
    board_.scene.focused_handle.reset();
    board_.draw_top();
  }
  return true;
}

bool Input::focus_next(bool next) {
  const auto& handles = board_.scene.handles;
  const auto now = std::find_if(handles.begin(), handles.end(),
                                [&](const PlotHandle& handle) { return handle.id == board_.scene.focused_handle; });
  qsizetype index = next ? 0 : handles.size() - 1;
  if (now != handles.end())
    index = now - handles.begin() + (next ? 1 : -1);
  else if (!next)
    return false;
  if (index < 0 || index >= handles.size())
    return false;
  const PlotHandle handle = handles[index];
  board_.scene.focused_handle = handle.id;
  board_.scene.focus = true;
  bring_into_view((handle.from + handle.to) / 2, handle.from, handle.to);
  board_.draw_top();
  return true;
}

void Input::focus_in(Qt::FocusReason reason) {
  board_.scene.focus =
      reason == Qt::TabFocusReason || reason == Qt::BacktabFocusReason || reason == Qt::ShortcutFocusReason;
  if (reason == Qt::BacktabFocusReason && !board_.scene.handles.isEmpty())
    board_.scene.focused_handle = board_.scene.handles.back().id;
  board_.draw_top();
}

void Input::focus_out() {
  board_.scene.focus = false;
  board_.scene.focused_handle.reset();
  board_.draw_top();
}

void Input::move_focused(double by) {
  PlotHandle* handle = board_.scene.handle(board_.scene.focused_handle);
  if (!handle || drag_ == Drag::handle)
    return;
  const double to = handle->bounded(std::round(handle->y) + by);
  const qint64 id = handle->id;
  if (to == handle->y)
    return;
  set_handle(*handle, to);
  Q_EMIT owner_.handle_dropped(id, to);
  board_.touch_soon();
}

void Input::step_crosshair(double pixels) {
  const QRectF stack = board_.picture().stack();
  const auto [from, to] = board_.view().range();
  const double now = board_.scene.crosshair.value_or(x_at(stack.center().x()));
  double x = x_at(std::clamp(board_.picture().x_pixel(now) + pixels, stack.left(), stack.right()));
  if (board_.view().integer() && x == now)
    x = std::clamp(now + pixels, from, to);
  put_crosshair(x, true);
}

void Input::put_crosshair(std::optional<double> x, bool tell) {
  if (board_.scene.crosshair == x)
    return;
  board_.scene.crosshair = x;
  board_.draw_top();
  if (tell)
    Q_EMIT owner_.crosshair_moved(x);
}

void Input::put_cursor() {
  const auto x = board_.scene.crosshair;
  if (!x)
    return;
  const auto [first, second] = board_.scene.cursors;
  if (first && !second)
    put_cursors(first, x);
  else
    put_cursors(x, std::nullopt);
}

void Input::put_cursors(std::optional<double> first, std::optional<double> second) {
  const std::array<std::optional<double>, 2> cursors{first, second};
  if (board_.scene.cursors == cursors)
    return;
  board_.scene.cursors = cursors;
  board_.draw_top();
  Q_EMIT owner_.cursors_changed();
}

void Input::next_mark(int direction) {
  const auto& marks = board_.scene.marks;
  if (marks.isEmpty())
    return;
  const auto chosen =
      std::find_if(marks.begin(), marks.end(), [&](const PlotMark& mark) { return mark.id == board_.scene.chosen; });
  qsizetype index = chosen - marks.begin();
  const qsizetype before = index;
  // One thing that happened may have a mark in each panel.
  do {
    if (chosen == marks.end() && index == marks.size())
      index = direction > 0 ? 0 : marks.size() - 1;
    else
      index = (index + direction + marks.size()) % marks.size();
  } while (index != before && board_.scene.chosen == marks[index].id);
  const qint64 id = marks[index].id;
  choose_mark(id);
  Q_EMIT owner_.mark_chosen(id);
}

void Input::choose_mark(std::optional<qint64> id) {
  board_.scene.chosen = id;
  board_.touch();
  board_.pacer().soon();
  if (const PlotMark* mark = board_.scene.mark(id))
    bring_into_view(mark->x, mark->x, mark->x);
}

void Input::bring_into_view(double x, double from, double to) {
  const Range shown = board_.view_by_now().range();
  if (to >= shown.first && from <= shown.second)
    return;
  board_.navigate([&](View& view) {
    const double middle = to_place(x, view.log());
    const double half = (to_place(shown.second, view.log()) - to_place(shown.first, view.log())) / 2;
    view.show(to_value(middle - half, view.log()), to_value(middle + half, view.log()));
  });
}

} // namespace batchscope::ui
