#pragma once

#include <QElapsedTimer>
#include <QTimer>

#include <deque>
#include <functional>
#include <vector>

class QWidget;

namespace batchscope::ui {

/// Decides when to draw. Growing curves wait for their turn, so that all drawing takes at most about a tenth of one
/// core; user input is drawn at once; a hidden widget is not drawn.
class Pacer {
public:
  /// `draw` returns false if there was nothing to draw.
  Pacer(QWidget& widget, std::function<bool()> draw);

  void refresh(); ///< draws when the pace allows
  void soon();    ///< draws once all pending events are handled
  bool now();     ///< draws now; returns the result of `draw`
  bool visible() const;
  bool wanted() const { return wanted_; } ///< a draw is pending

  std::vector<double> times() const { return {times_.begin(), times_.end()}; }

private:
  double pause() const; ///< milliseconds to wait after the last draw

  QWidget& widget_;
  std::function<bool()> draw_;
  QTimer timer_;
  QElapsedTimer since_last_;
  std::deque<double> costs_; ///< CPU time in ms
  std::deque<double> times_; ///< wall time in ms
  bool wanted_ = true;
};

} // namespace batchscope::ui
