// Noise: the effective batch follows the gradient noise scale that is measured while training.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/schedule/schedule_kind.h"

namespace batchscope::schedule {

namespace {

/// The noise scale is uncertain and moves slowly: one change is at most this factor.
constexpr double most_at_once = 2;

class Noise : public BatchSchedule {
public:
  Noise(double multiplier, std::int64_t every, const ScheduleOrigin& origin, std::string text)
      : multiplier_(multiplier), every_(every), begin_(origin.state.step), text_(std::move(text)) {}

  ScheduleAnswer next(const ScheduleState& state) override {
    const auto scale = state.noise.scale();
    if ((state.step - begin_) % every_ != 0 || !scale)
      return {state.batch, {}};
    const auto batch = static_cast<double>(state.batch);
    const double wanted = multiplier_ * *scale / static_cast<double>(state.batches_in_step);
    return {whole_batch(std::max(1.0, std::clamp(wanted, batch / most_at_once, batch * most_at_once))), {}};
  }
  bool needs_feedback() const override { return true; }
  bool needs_noise() const override { return true; }
  std::string text() const override { return text_; }

private:
  double multiplier_;
  std::int64_t every_; ///< steps between two changes
  std::int64_t begin_;
  std::string text_;
};

std::unique_ptr<BatchSchedule> make_noise(const ScheduleText& text, const ScheduleOrigin& origin) {
  text.accept_only({"multiplier", "every"});
  return std::make_unique<Noise>(text.positive("multiplier", 1.0), text.has("every") ? text.integer("every", 1) : 50,
                                 origin, text.text());
}

} // namespace

extern const ScheduleKind noise_schedule;
const ScheduleKind noise_schedule{.name = "noise",
                                  .title = "Noise scale",
                                  .form = "noise:multiplier=1[,every=50]",
                                  .make = make_from<make_noise>,
                                  .example = [](std::int64_t /*batch*/, std::int64_t steps, double /*epochs*/) {
                                    return fmt::format("noise:multiplier=1,every={}",
                                                       std::clamp<std::int64_t>(steps / 10, 1, 50));
                                  }};

} // namespace batchscope::schedule
