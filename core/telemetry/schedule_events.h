#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/telemetry/reason.h"

// Events about batch sizes, schedules and learning rates.
namespace batchscope::telemetry {

/// The schedule was changed, or was to be.
struct ScheduleEdit {
  std::string schedule{};              ///< that was asked for
  std::optional<std::string> before{}; ///< schedule until then
  std::optional<std::int64_t> batch_before{}, batch{};
  std::optional<std::int64_t> applies_from_step{};
  std::optional<std::int64_t> command{}; ///< number of the command that asked for it
  std::optional<Reason> refused{};       ///< then nothing was changed
  bool operator==(const ScheduleEdit&) const = default;
};

/// The shares of the data streams were changed, or were to be.
struct SharesEdit {
  std::string shares{}; ///< that were asked for
  std::optional<std::string> before{};
  std::optional<std::int64_t> applies_from_step{};
  std::optional<std::int64_t> command{};
  std::optional<Reason> refused{};
  bool operator==(const SharesEdit&) const = default;
};

/// Another size was taken than was asked for.
struct Clamp {
  enum class What { schedule, batch, accumulate };
  What what = What::schedule; ///< what the schedule asked for, or a size that a program was sent
  std::int64_t asked = 0;
  std::int64_t taken = 0;
  Reason reason{}; ///< empty: the limits of the run
  bool operator==(const Clamp&) const = default;
};

/// The schedule gave no size; the batch stays as it is.
struct ScheduleProblem {
  Reason reason{};
  std::optional<std::int64_t> batch{}; ///< that is kept
  bool operator==(const ScheduleProblem&) const = default;
};

/// A program's step took other examples than were planned.
struct Differs {
  std::int64_t planned_batch = 0, planned_examples = 0;
  std::int64_t batch = 0, examples = 0;
  bool operator==(const Differs&) const = default;
};

/// A program's own learning-rate schedule goes on counting steps, although they have another size now.
struct RateBySteps {
  std::string text{}; ///< of a program's own; empty: nothing more is said
  bool operator==(const RateBySteps&) const = default;
};

/// A program's own learning-rate scheduler follows something else from now on.
struct SchedulerFollows {
  std::string name{};    ///< `OneCycleLR`
  std::string follows{}; ///< `progress`, or a word of a later version
  bool operator==(const SchedulerFollows&) const = default;
};

} // namespace batchscope::telemetry
