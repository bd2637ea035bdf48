// AdaBatch: the batch grows by a factor every few epochs, and the learning rate may shrink with it.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/schedule/schedule_kind.h"

namespace batchscope::schedule {

namespace {

class AdaBatch : public BatchSchedule {
public:
  AdaBatch(double factor, double every, double decay, const ScheduleOrigin& origin, std::string text)
      : factor_(factor), every_(every), decay_(decay), base_(static_cast<double>(origin.batch)),
        begin_(origin.state.epochs_passed), text_(std::move(text)) {}

  ScheduleAnswer next(const ScheduleState& state) override {
    return {whole_batch(base_ * std::pow(factor_, stage(state))), {}};
  }
  double learning_rate_factor(const ScheduleState& state) const override { return std::pow(decay_, stage(state)); }
  std::string text() const override { return text_; }

private:
  double stage(const ScheduleState& state) const {
    return std::floor(std::max(0.0, state.epochs_passed - begin_) / every_ + 1e-9);
  }

  double factor_;
  double every_;
  double decay_;
  double base_;
  double begin_;
  std::string text_;
};

std::unique_ptr<BatchSchedule> make_adabatch(const ScheduleText& text, const ScheduleOrigin& origin) {
  text.accept_only({"factor", "every", "lr-decay"});
  return std::make_unique<AdaBatch>(text.positive("factor"), text.positive("every"), text.positive("lr-decay", 1.0),
                                    origin, text.text());
}

} // namespace

extern const ScheduleKind adabatch_schedule;
const ScheduleKind adabatch_schedule{.name = "adabatch",
                                     .title = "AdaBatch",
                                     .form = "adabatch:factor=2,every=2[,lr-decay=0.375]",
                                     .make = make_from<make_adabatch>,
                                     .example =
                                         [](std::int64_t /*batch*/, std::int64_t /*steps*/, double epochs) {
                                           const double every =
                                               std::max(std::floor(epochs / static_cast<double>(example_stages)), 1.0);
                                           return fmt::format("adabatch:factor=2,every={:.0f}", every);
                                         },
                                     .sets_learning_rate = true};

} // namespace batchscope::schedule
