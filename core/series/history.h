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

/// The quantity on a plot's x axis.
enum class Axis {
  step,
  examples,
  epoch,
  seconds, ///< since the run's start, without pauses
  clock    ///< seconds since 1970: pauses, and the time until a run was resumed, are in it
};
inline constexpr int axis_count = 5;

inline bool is_time(Axis axis) {
  return axis == Axis::seconds || axis == Axis::clock;
}

/// A position on every axis, in the order of Axis.
using Place = std::array<double, axis_count>;

/// The x values that several series share: all step series, or one series with points of its own.
class Frame {
public:
  /// Appends a point. A coordinate that is not finite or would decrease takes the value of the point before.
  void append(const Place& where);
  std::size_t size() const { return x_[0].size(); }
  /// Finite and nondecreasing.
  const Column<double>& x(Axis axis) const { return x_[static_cast<std::size_t>(axis)]; }

private:
  std::array<Column<double>, axis_count> x_;
};

/// One series of a history.
struct Series {
  std::string name;
  std::shared_ptr<const Frame> frame;
  Pyramid values; ///< values[i] belongs to the frame's point i
};

/// The data of a run or a plan in memory, by series name, for plotting. It grows with the records and events that the
/// run reports, live or from the database. One thread at a time.
class History {
public:
  History();
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  /// When the run started, in seconds since 1970, for Axis::clock. Call it before anything is appended.
  void set_began(double unix_seconds) { began_ = clock_ahead_ = unix_seconds; }
  double began() const { return began_; } ///< 0: not known

  void append(const telemetry::StepRecord& record);
  /// The event's values become points of series; a ValuesOnly holds nothing else. Append it after the records
  /// up to its step, which give its position on the other axes; on Axis::seconds it is never before its step.
  void append(const telemetry::Event& event);

  /// Names are those of telemetry::step_series(), StepRecord::more and Event::values; a name of the latter two that
  /// step_series() already has becomes `other.NAME`. Null if nothing was reported yet; device_bytes is null unless
  /// known at some step, and NaN where unknown; allocated_bytes and reserved_bytes, which programs measure at some
  /// steps only, hold their last value. Pointers stay valid while the history lives.
  const Series* find(const std::string& name) const;

  /// Names of all series but those of step_series(), sorted.
  std::vector<std::string> others() const;

  const std::vector<telemetry::Event>& events() const { return events_; } ///< without ValuesOnly
  std::size_t steps() const { return steps_->size(); }                    ///< number of step records
  /// Increases with every append: if the revision is unchanged, there is nothing new to draw.
  std::uint64_t revision() const { return revision_; }
  /// Position of a step on an axis: exact at recorded steps, else that of the nearest earlier one; nothing before the
  /// first record. On Axis::step it is the step itself.
  std::optional<double> position(std::int64_t step, Axis axis) const;
  /// Position on Axis::clock of events()[event]: after a pause that ended at its step, unlike that step.
  double clock(std::size_t event) const { return event_clocks_[event]; }
  /// The last recorded step at or before a position on an axis; nothing before the first record.
  std::optional<std::int64_t> step_at(double position, Axis axis) const;

private:
  struct Other {
    std::shared_ptr<Frame> frame;
    Series series;
  };

  bool carries(const Series& series) const;
  void append_other(const std::string& name, double value, const Place& where);
  void set_clock(const telemetry::Event& event);

  std::shared_ptr<Frame> steps_;
  std::vector<Series> of_steps_; ///< in the order of telemetry::step_series()
  std::map<std::string, Other> others_;
  std::vector<telemetry::Event> events_;
  std::vector<double> event_clocks_; ///< by event
  std::vector<double> row_;          ///< of the last record
  std::size_t device_bytes_ = 0;     ///< its index in the row
  double began_ = 0;
  double last_seconds_ = 0; ///< that were known
  double clock_ahead_ = 0;  ///< Axis::clock is Axis::seconds and this
  std::uint64_t revision_ = 0;
};

} // namespace batchscope::series
