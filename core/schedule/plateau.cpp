// Plateau: the batch grows when the smoothed loss stalls, where a learning rate would shrink.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/json.h"
#include "core/schedule/schedule_kind.h"

namespace batchscope::schedule {

namespace {

/// A fall of this many thresholds is fast: a two-way schedule shrinks the batch then.
constexpr double fast_fall = 10;

struct PlateauOptions {
  double factor = 2;
  std::int64_t patience = 50; ///< steps between two comparisons
  double threshold = 0.01;    ///< of the loss; a smaller fall is a stall
  std::optional<double> shrink;
};

class Plateau : public BatchSchedule {
public:
  Plateau(const PlateauOptions& options, const ScheduleOrigin& origin, std::string text)
      : options_(options), first_batch_(static_cast<double>(origin.batch)), compared_at_(origin.state.step),
        text_(std::move(text)) {}

  ScheduleAnswer next(const ScheduleState& state) override {
    if (state.step - compared_at_ < options_.patience || std::isnan(state.loss_ema))
      return {state.batch, {}};
    compared_at_ = state.step;
    if (!lowest_) {
      lowest_ = state.loss_ema;
      return {state.batch, {}};
    }
    const double fall = *lowest_ > 0 ? 1 - state.loss_ema / *lowest_ : 0;
    lowest_ = std::min(*lowest_, state.loss_ema);
    const auto batch = static_cast<double>(state.batch);
    if (fall < options_.threshold)
      return {whole_batch(batch * options_.factor), {}};
    if (options_.shrink && fall > fast_fall * options_.threshold && batch > first_batch_)
      return {whole_batch(std::max(first_batch_, batch / *options_.shrink)), {}};
    return {state.batch, {}};
  }
  bool needs_feedback() const override { return true; }
  std::string text() const override { return text_; }
  std::string state() const override {
    return json_text(Json{{"compared_at", compared_at_}, {"lowest", lowest_ ? json_number(*lowest_) : Json(nullptr)}});
  }
  void restore(const std::string& state) override {
    const Json json = parse_json(state);
    compared_at_ = json.at("compared_at").get<std::int64_t>();
    const Json& lowest = json.at("lowest");
    lowest_ = lowest.is_null() ? std::nullopt : std::optional(number_from_json(lowest));
  }

private:
  PlateauOptions options_;
  double first_batch_;
  std::int64_t compared_at_;     ///< step of the last comparison
  std::optional<double> lowest_; ///< smoothed loss at the comparisons so far
  std::string text_;
};

std::unique_ptr<BatchSchedule> make_plateau(const ScheduleText& text, const ScheduleOrigin& origin) {
  text.accept_only({"factor", "patience", "threshold", "shrink"});
  PlateauOptions options;
  options.factor = text.positive("factor", options.factor);
  if (text.has("patience"))
    options.patience = text.integer("patience", 1);
  options.threshold = text.positive("threshold", options.threshold);
  if (text.has("shrink"))
    options.shrink = text.positive("shrink");
  if (options.factor <= 1 || options.shrink.value_or(2) <= 1)
    text.refuse("factor and shrink must be above 1 (the batch is multiplied by factor and divided by shrink)");
  return std::make_unique<Plateau>(options, origin, text.text());
}

} // namespace

extern const ScheduleKind plateau_schedule;
const ScheduleKind plateau_schedule{.name = "plateau",
                                    .title = "Plateau",
                                    .form = "plateau:factor=2,patience=50[,threshold=0.01][,shrink=2]",
                                    .make = make_from<make_plateau>,
                                    .example = [](std::int64_t /*batch*/, std::int64_t steps, double /*epochs*/) {
                                      return fmt::format("plateau:factor=2,patience={}",
                                                         std::clamp<std::int64_t>(steps / 10, 1, 50));
                                    }};

} // namespace batchscope::schedule
