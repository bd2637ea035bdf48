#pragma once

#include <optional>

#include "ui/plot/range.h"

namespace batchscope::ui {

/// Position along an axis: proportional to the logarithm on a logarithmic axis.
double to_place(double value, bool log);
double to_value(double place, bool log);

/// The visible part of the x axis. While it shows all, it also follows: it keeps showing all.
class View {
public:
  /// Sets the full range, and the place that following keeps at the right.
  void set_full(const std::optional<Range>& full, double newest);
  void set_log(bool log);
  void set_values(XValues values) { values_ = values; }

  bool log() const { return log_; }
  XValues values() const { return values_; }
  const Range& range() const { return range_; }
  const Range& full() const { return full_; }
  bool following() const { return following_; }
  bool shows_all() const { return all_; }

  void set_following(bool following);
  void show_all();
  void show(double from, double to);
  /// Makes the range `factor` times as wide around a value, which keeps its place on the screen.
  void zoom(double factor, double around);
  /// Moves the range `start` right by a fraction of its width, within the full range.
  void move(const Range& start, double fraction);

private:
  void put(double from, double width); ///< positions; limited to the full range
  double min_width() const;

  Range full_{0, 1};
  Range range_{0, 1};
  double newest_ = 1;
  bool log_ = false;
  XValues values_ = XValues::whole;
  bool all_ = true;
  bool following_ = true;
};

} // namespace batchscope::ui
