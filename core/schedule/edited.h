#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace batchscope::schedule {

/// A range of steps with a fixed batch size, counted in steps done, as in `piecewise`.
struct FixedStretch {
  std::int64_t from = 0;          ///< steps done when it begins
  std::optional<std::int64_t> to; ///< steps done when it ends; nothing: it lasts to the end
  std::int64_t batch = 1;

  bool holds(std::int64_t steps_done) const { return steps_done >= from && (!to || steps_done < *to); }
};

/// The parsed form of `edited:100-200=64,300-=128,batch=16,base=linear:max=256`: a base schedule with stretches of
/// steps that override it. The base keeps counting (steps, examples, epochs) during the overrides; after one it returns
/// the batch it would have had without it.
struct EditedText {
  std::vector<FixedStretch> stretches; ///< in order; they do not overlap
  std::optional<std::int64_t> batch;   ///< first batch of the base; nothing: the current batch
  std::string base;                    ///< any schedule that is not edited
};

bool is_edited(const std::string& schedule);
/// A schedule that is not edited becomes a base without stretches. Throws Error (input); does not check the base.
EditedText parse_edited(const std::string& schedule);
/// The inverse. A text without stretches continues the base if the run has had it: see make_schedule().
std::string to_text(const EditedText& edited);
/// The text to display: the base's if there are no stretches. An invalid text is returned unchanged.
std::string text_in_force(const std::string& schedule);
/// Overrides the existing stretches with `over`. Drops stretches that have ended after `steps_done` steps.
EditedText with_stretches(const EditedText& edited, const std::vector<FixedStretch>& over, std::int64_t steps_done);

} // namespace batchscope::schedule
