#pragma once

#include <QPointF>

#include <optional>
#include <vector>

#include "ui/plot/detail/board.h"
#include "ui/widgets/keys.h"

class QHelpEvent;
class QKeyEvent;
class QMouseEvent;
class QWheelEvent;

namespace batchscope::ui {

/// Handles mouse and keyboard input of the plots.
class Input {
public:
  Input(LinkedPlots& owner, Board& board) : owner_(owner), board_(board) {}

  void press(const QMouseEvent& event);
  void move(const QMouseEvent& event);
  void release(const QMouseEvent& event);
  void double_click(const QMouseEvent& event);
  void leave();
  bool wheel(const QWheelEvent& event); ///< false: it was beside the plots
  void help(const QHelpEvent& event);   ///< tooltips

  bool takes(const QKeyEvent& event) const; ///< handled before the window's shortcuts
  bool key(const QKeyEvent& event);         ///< false: not a key of the plots
  static QList<KeyHelp> key_help();         ///< descriptions of the keys
  bool focus_next(bool next);               ///< between handles; false: move on to the next widget
  void focus_in(Qt::FocusReason reason);
  void focus_out();

  /// Set crosshair, mark or cursors; also called from outside.
  void put_crosshair(std::optional<double> x, bool tell);
  void choose_mark(std::optional<qint64> id);
  void put_cursors(std::optional<double> first, std::optional<double> second);

private:
  enum class Drag { none, pressed, view, zoom, handle, cursor };

  bool toggle_entry(const QMouseEvent& event);
  void drag_view(const QPointF& at);
  void drag_zoom(const QPointF& at);
  void drag_handle(const QPointF& at);
  void drop_handle();
  void cancel();
  void hover(const QPointF& at);
  void follow_pointer(const QPointF& at);
  double x_at(double pixel) const; ///< limited to the view; rounded if x is an integer
  void set_handle(PlotHandle& handle, double y);

  // Keys, input_keys.cpp.
  struct Key;
  static const std::vector<Key>& keys();
  const Key* line_of(const QKeyEvent& event) const;
  void pan(const QKeyEvent& event);
  void zoom(const QKeyEvent& event);
  void show_all(const QKeyEvent& event);
  void follow(const QKeyEvent& event);
  void walk(const QKeyEvent& event);
  void set_cursor(const QKeyEvent& event);
  void go_to_mark(const QKeyEvent& event);
  bool handle_has_keys() const;
  QList<PlotHandle> reachable_handles() const;
  void move_handle(const QKeyEvent& event);
  bool can_escape() const;
  void escape(const QKeyEvent& event);

  void bring_into_view(double x, double from, double to); ///< x, unless part of [from, to] is visible

  LinkedPlots& owner_;
  Board& board_;
  Drag drag_ = Drag::none;
  QPointF pressed_at_;
  Range range_then_;            ///< x range when the drag began
  std::optional<Range> y_then_; ///< y range of the panel, if it was zoomed
  Panel* panel_ = nullptr;      ///< where the drag began
  double handle_then_ = 0;      ///< y of the handle when the drag began
  double grabbed_beside_ = 0;   ///< px from the pointer to the handle
  std::size_t cursor_ = 0;
};

} // namespace batchscope::ui
