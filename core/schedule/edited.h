#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace batchscope::schedule {

/// Steps with a batch size of their own. Counted as the pieces of `piecewise` are: by the steps that are done.
struct FixedStretch {
  std::int64_t from = 0;          ///< done when it begins
  std::optional<std::int64_t> to; ///< done when it is over; nothing: it goes on to the end
  std::int64_t batch = 1;

  bool holds(std::int64_t steps_done) const { return steps_done >= from && (!to || steps_done < *to); }
};

/// `edited:100-200=64,300-=128,batch=16,base=linear:max=256` taken apart: a schedule, the base, but for some stretches
/// of steps. The base goes on beneath them by what it counts (steps, examples, epochs): what lies behind a stretch is
/// what it would have been.
struct EditedText {
  std::vector<FixedStretch> stretches; ///< in order; they do not overlap
  std::optional<std::int64_t> batch;   ///< that the base begins with, where it is not the batch of that moment
  std::string base;                    ///< any schedule but an edited one
};

bool is_edited(const std::string& schedule);
/// A schedule of another kind is taken for a base without stretches. Throws Error (input); the base is not looked at.
EditedText parse_edited(const std::string& schedule);
/// The text for it. One without stretches lets the base go on, where the run has had it: see make_schedule().
std::string to_text(const EditedText& edited);
/// The text that a schedule is shown with: that of the base where it has no stretches. Texts that cannot be read stay.
std::string text_in_force(const std::string& schedule);
/// Puts stretches over those that are there. Those that are over when `steps_done` are done are left out.
EditedText with_stretches(const EditedText& edited, const std::vector<FixedStretch>& over, std::int64_t steps_done);

} // namespace batchscope::schedule
