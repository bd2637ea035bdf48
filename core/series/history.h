#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/series/pyramid.h"
#include "core/telemetry/record.h"

namespace batchscope::series {

/// What a plot of a run may have along its x axis.
enum class Axis { step, examples, epoch, seconds };
inline constexpr int axis_count = 4;

/// A place on every axis, in their order.
using Place = std::array<double, axis_count>;

/// Points that have their x values in common: all series of the steps, or one that comes now and then.
class Frame {
public:
  /// A coordinate that is not finite or would fall stays where the point before had it.
  void append(const Place& where);
  std::size_t size() const { return x_[0].size(); }
  /// Finite, and never falls.
  const Column<double>& x(Axis axis) const { return x_[static_cast<std::size_t>(axis)]; }

private:
  std::array<Column<double>, axis_count> x_;
};

/// One series of a history.
struct Series {
  std::string name;
  std::shared_ptr<const Frame> frame;
  Pyramid values; ///< values[i] is that of the frame's point i
};

/// A run (or a plan) in memory for whoever draws it: what it reported, by name. Grows by records and events as the run
/// reports them, from wherever they come. One thread at a time.
class History {
public:
  History();
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  void append(const telemetry::StepRecord& record);
  /// Its values become points of series; an event without a kind is nothing but its values. Comes after the records up
  /// to its step, from which its place on the other axes is known; on Axis::seconds it is never before its step's.
  void append(const telemetry::Event& event);

  /// Names as in telemetry::step_series(), and those of StepRecord::more and Event::values; where one of these is taken
  /// by step_series() it is `other.NAME`. Nothing where none was reported (yet); device_bytes only where it is known at
  /// some step, and NaN where not. Pointers stay valid while the history lives.
  const Series* find(const std::string& name) const;

  const std::vector<telemetry::Event>& events() const { return events_; } ///< those that have a kind
  std::size_t steps() const { return steps_->size(); }                    ///< step records appended
  /// Grows with everything appended: equal revisions mean that nothing new is there to draw.
  std::uint64_t revision() const { return revision_; }
  /// Where a step lies on an axis: exact at recorded steps, the nearest earlier one otherwise; nothing before the first
  /// record. On Axis::step every step is where it is.
  std::optional<double> position(std::int64_t step, Axis axis) const;
  /// The last recorded step at or before a place on an axis; nothing before the first record.
  std::optional<std::int64_t> step_at(double position, Axis axis) const;

private:
  struct Other {
    std::shared_ptr<Frame> frame;
    Series series;
  };

  bool carries(const Series& series) const;
  void append_other(const std::string& name, double value, const Place& where);

  std::shared_ptr<Frame> steps_;
  std::vector<Series> of_steps_; ///< in the order of telemetry::step_series()
  std::map<std::string, Other> others_;
  std::vector<telemetry::Event> events_;
  std::vector<double> row_;      ///< of the last record
  std::size_t device_bytes_ = 0; ///< its place in the row
  std::uint64_t revision_ = 0;
};

} // namespace batchscope::series
