#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/schedule/batch_schedule.h"
#include "core/schedule/schedule_text.h"

namespace batchscope::schedule {

/// Interface of a schedule kind; parsers, forms and menus use only this. A new kind is a file that defines a
/// ScheduleKind and a line in kinds.def.
struct ScheduleKind {
  const char* name;           ///< how a text begins: `linear`
  const char* title;          ///< in menus, English: "Linear ramp"
  const char* help = nullptr; ///< what it is, where the title is that of an example; null: the title says it
  const char* form;           ///< in help and messages: `linear:max=64[,epochs=E|...]`
  /// `text` is the whole text. Throws as make_schedule() does.
  std::unique_ptr<BatchSchedule> (*make)(const std::string& text, const ScheduleOrigin& origin);
  /// An example for a run with this first batch over this many steps and epochs.
  std::string (*example)(std::int64_t batch, std::int64_t steps, double epochs);
  /// Whether a schedule that is applied in mid-run, with the batch planned for that step, continues as planned. All
  /// others count from the step at which they are applied; resume them with `edited:base=`.
  bool depends_on_step_only = false;
  /// Whether it also scales the learning rate, which a piecewise schedule cannot express.
  bool sets_learning_rate = false;
  /// The first batch that a text gives; null if the kind can begin with any batch.
  std::optional<std::int64_t> (*first_batch)(const std::string& text) = nullptr;
};

const std::vector<const ScheduleKind*>& schedule_kinds();
/// The kind that a text begins with; null if there is none.
const ScheduleKind* kind_of(const std::string& text);

/// ScheduleKind::make of a schedule with named parameters.
template <std::unique_ptr<BatchSchedule> (*Make)(const ScheduleText&, const ScheduleOrigin&)>
std::unique_ptr<BatchSchedule> make_from(const std::string& text, const ScheduleOrigin& origin) {
  return Make(ScheduleText(text), origin);
}

/// Values of ScheduleKind::example(): ramps grow by this factor, in this many stages.
inline constexpr std::int64_t example_growth = 4;
inline constexpr std::int64_t example_stages = 4;

/// `value` rounded down to an integer batch, saturated to the range of int64. A value that is below an integer only by
/// a rounding error gives that integer (16 * 4^0.5 is 32).
std::int64_t whole_batch(double value);

} // namespace batchscope::schedule
