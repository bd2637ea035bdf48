#pragma once

#include <QElapsedTimer>
#include <QTimer>

#include <deque>
#include <functional>
#include <vector>

class QWidget;

namespace batchscope::ui {

/// When to draw: what grew by itself waits for its turn, so that all drawing takes at most about a tenth of one core;
/// what the user does is drawn at once; what is hidden is not drawn.
class Pacer {
public:
  /// `draw` returns false where there was nothing to draw.
  Pacer(QWidget& widget, std::function<bool()> draw);

  void refresh(); ///< when it is its turn
  void soon();    ///< once all events that wait are handled
  bool now();     ///< returns what `draw` returned
  bool visible() const;
  bool wanted() const { return wanted_; } ///< something is waiting to be drawn

  std::vector<double> times() const { return {times_.begin(), times_.end()}; }

private:
  double pause() const; ///< milliseconds after the last draw

  QWidget& widget_;
  std::function<bool()> draw_;
  QTimer timer_;
  QElapsedTimer since_last_;
  std::deque<double> costs_; ///< of the processor, in ms
  std::deque<double> times_; ///< of the clock, in ms
  bool wanted_ = true;
};

} // namespace batchscope::ui
