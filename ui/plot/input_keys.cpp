#include <QCoreApplication>
#include <QKeyEvent>

#include <algorithm>
#include <cmath>

#include "ui/plot/detail/hits.h"
#include "ui/plot/detail/input.h"

namespace batchscope::ui {

namespace {

constexpr double pan_of_a_key = 0.1; ///< fraction of the width
constexpr double zoom_of_a_key = 0.8;
constexpr double tens = 10;

} // namespace

/// Keys and their actions, one per line; the list of keys uses the same table.
struct Input::Key {
  std::vector<int> keys;
  Qt::KeyboardModifiers with;    ///< besides Shift, which `act` checks itself
  bool (Input::*counts)() const; ///< null: always
  void (Input::*act)(const QKeyEvent&);
  const char* shown; ///< untranslated, as is `help`
  const char* help;
};

const std::vector<Input::Key>& Input::keys() {
  static const std::vector<Key> all = {
      {{Qt::Key_Left, Qt::Key_Right},
       Qt::NoModifier,
       nullptr,
       &Input::pan,
       QT_TRANSLATE_NOOP("PlotKeys", "Left, Right"),
       QT_TRANSLATE_NOOP("PlotKeys", "Pan along x")},
      {{Qt::Key_Plus, Qt::Key_Equal, Qt::Key_Minus},
       Qt::NoModifier,
       nullptr,
       &Input::zoom,
       QT_TRANSLATE_NOOP("PlotKeys", "+, -"),
       QT_TRANSLATE_NOOP("PlotKeys", "Zoom in and out around the crosshair")},
      {{Qt::Key_Home},
       Qt::NoModifier,
       nullptr,
       &Input::show_all,
       QT_TRANSLATE_NOOP("PlotKeys", "Home"),
       QT_TRANSLATE_NOOP("PlotKeys", "Show all")},
      {{Qt::Key_End, Qt::Key_F},
       Qt::NoModifier,
       nullptr,
       &Input::follow,
       QT_TRANSLATE_NOOP("PlotKeys", "F, End"),
       QT_TRANSLATE_NOOP("PlotKeys", "Follow the newest step")},
      {{Qt::Key_Left, Qt::Key_Right},
       Qt::ControlModifier,
       nullptr,
       &Input::walk,
       QT_TRANSLATE_NOOP("PlotKeys", "Ctrl+Left, Ctrl+Right"),
       QT_TRANSLATE_NOOP("PlotKeys", "Move the crosshair; with Shift ten times as far")},
      {{Qt::Key_C},
       Qt::NoModifier,
       nullptr,
       &Input::set_cursor,
       QT_TRANSLATE_NOOP("PlotKeys", "C"),
       QT_TRANSLATE_NOOP("PlotKeys", "Set a cursor at the crosshair; a second one shows differences")},
      {{Qt::Key_M},
       Qt::NoModifier,
       nullptr,
       &Input::go_to_mark,
       QT_TRANSLATE_NOOP("PlotKeys", "M, Shift+M"),
       QT_TRANSLATE_NOOP("PlotKeys", "Go to the next or previous event")},
      {{Qt::Key_Up, Qt::Key_Down},
       Qt::NoModifier,
       &Input::handle_has_keys,
       &Input::move_handle,
       QT_TRANSLATE_NOOP("PlotKeys", "Tab, Up, Down"),
       QT_TRANSLATE_NOOP("PlotKeys", "Select a handle of the plan and move it by one")},
      {{Qt::Key_PageUp, Qt::Key_PageDown},
       Qt::NoModifier,
       &Input::handle_has_keys,
       &Input::move_handle,
       QT_TRANSLATE_NOOP("PlotKeys", "Page Up, Page Down"),
       QT_TRANSLATE_NOOP("PlotKeys", "Move the selected handle by ten")},
      {{Qt::Key_Escape},
       Qt::NoModifier,
       &Input::can_escape,
       &Input::escape,
       QT_TRANSLATE_NOOP("PlotKeys", "Escape"),
       QT_TRANSLATE_NOOP("PlotKeys", "Cancel the drag, remove the cursors, leave the handle, remove the crosshair")},
  };
  return all;
}

QList<KeyHelp> Input::key_help() {
  QList<KeyHelp> help;
  for (const Key& line : keys())
    help.append(
        {QCoreApplication::translate("PlotKeys", line.shown), QCoreApplication::translate("PlotKeys", line.help)});
  return help;
}

const Input::Key* Input::line_of(const QKeyEvent& event) const {
  const auto with = event.modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier);
  const auto line = std::find_if(keys().begin(), keys().end(), [&](const Key& each) {
    return each.with == with && std::find(each.keys.begin(), each.keys.end(), event.key()) != each.keys.end() &&
           (each.counts == nullptr || (this->*each.counts)());
  });
  return line == keys().end() ? nullptr : &*line;
}

bool Input::takes(const QKeyEvent& event) const {
  return line_of(event) != nullptr;
}

bool Input::key(const QKeyEvent& event) {
  const Key* line = line_of(event);
  if (line == nullptr)
    return false;
  if (!board_.scene.focus) {
    board_.scene.focus = true;
    board_.draw_top();
  }
  (this->*line->act)(event);
  return true;
}

void Input::pan(const QKeyEvent& event) {
  const double direction = event.key() == Qt::Key_Left ? -1 : 1;
  board_.navigate([&](View& view) { view.move(view.range(), direction * pan_of_a_key); });
}

void Input::zoom(const QKeyEvent& event) {
  const double factor = event.key() == Qt::Key_Minus ? 1 / zoom_of_a_key : zoom_of_a_key;
  board_.navigate([&](View& view) {
    const double from = to_place(view.range().first, view.log());
    const double to = to_place(view.range().second, view.log());
    view.zoom(factor, board_.scene.crosshair.value_or(to_value((from + to) / 2, view.log())));
  });
}

void Input::show_all(const QKeyEvent& /*event*/) {
  owner_.show_all();
}

void Input::follow(const QKeyEvent& /*event*/) {
  owner_.set_following(true);
}

void Input::walk(const QKeyEvent& event) {
  const bool far = event.modifiers().testFlag(Qt::ShiftModifier);
  const double pixels = (event.key() == Qt::Key_Left ? -1 : 1) * (far ? tens : 1);
  const QRectF stack = board_.picture().stack();
  const auto [from, to] = board_.view().range();
  const double now = board_.scene.crosshair.value_or(x_at(stack.center().x()));
  double x = x_at(std::clamp(board_.picture().x_pixel(now) + pixels, stack.left(), stack.right()));
  if (board_.view().values() == XValues::whole && x == now)
    x = std::clamp(now + pixels, from, to);
  put_crosshair(x, true);
}

void Input::set_cursor(const QKeyEvent& /*event*/) {
  const auto x = board_.scene.crosshair;
  if (!x)
    return;
  const auto [first, second] = board_.scene.cursors;
  if (first && !second)
    put_cursors(first, x);
  else
    put_cursors(x, std::nullopt);
}

void Input::go_to_mark(const QKeyEvent& event) {
  const int direction = event.modifiers().testFlag(Qt::ShiftModifier) ? -1 : 1;
  const auto& marks = board_.scene.marks;
  if (marks.isEmpty())
    return;
  const auto chosen =
      std::find_if(marks.begin(), marks.end(), [&](const PlotMark& mark) { return mark.id == board_.scene.chosen; });
  qsizetype index = chosen - marks.begin();
  const qsizetype before = index;
  // One event may have a mark in each panel.
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

bool Input::handle_has_keys() const {
  return board_.scene.focused_handle.has_value();
}

void Input::move_handle(const QKeyEvent& event) {
  const bool up = event.key() == Qt::Key_Up || event.key() == Qt::Key_PageUp;
  const bool far = event.key() == Qt::Key_PageUp || event.key() == Qt::Key_PageDown;
  PlotHandle* handle = board_.scene.handle(board_.scene.focused_handle);
  if (!handle || drag_ == Drag::handle)
    return;
  const double to = handle->bounded(std::round(handle->y) + (up ? 1 : -1) * (far ? tens : 1));
  const qint64 id = handle->id;
  if (to == handle->y)
    return;
  set_handle(*handle, to);
  Q_EMIT owner_.handle_dropped(id, to);
  board_.touch_soon();
}

bool Input::can_escape() const {
  return drag_ != Drag::none || board_.scene.focused_handle || board_.scene.cursors[0] || board_.scene.cursors[1] ||
         board_.scene.crosshair;
}

void Input::escape(const QKeyEvent& /*event*/) {
  if (drag_ != Drag::none) {
    cancel();
  } else if (board_.scene.cursors[0] || board_.scene.cursors[1]) {
    put_cursors(std::nullopt, std::nullopt);
  } else {
    board_.scene.focused_handle.reset();
    put_crosshair(std::nullopt, true);
    board_.draw_top();
  }
}

/// Those of plots that are shown.
QList<PlotHandle> Input::reachable_handles() const {
  QList<PlotHandle> reachable;
  for (const PlotHandle& handle : board_.scene.handles)
    if (const Panel* panel = board_.panel(handle.panel); panel && panel->visible)
      reachable += handle;
  return reachable;
}

bool Input::focus_next(bool next) {
  const QList<PlotHandle> handles = reachable_handles();
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
  if (const auto handles = reachable_handles(); reason == Qt::BacktabFocusReason && !handles.isEmpty())
    board_.scene.focused_handle = handles.back().id;
  board_.draw_top();
}

void Input::focus_out() {
  board_.scene.focus = false;
  board_.scene.focused_handle.reset();
  board_.draw_top();
}

void Input::put_crosshair(std::optional<double> x, bool tell) {
  if (board_.scene.crosshair == x)
    return;
  board_.scene.crosshair = x;
  board_.draw_top();
  if (tell)
    Q_EMIT owner_.crosshair_moved(x);
}

void Input::put_cursors(std::optional<double> first, std::optional<double> second) {
  const std::array<std::optional<double>, 2> cursors{first, second};
  if (board_.scene.cursors == cursors)
    return;
  board_.scene.cursors = cursors;
  board_.draw_top();
  Q_EMIT owner_.cursors_changed();
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
