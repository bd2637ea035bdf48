#include "core/advice/rescale.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/advice/sources.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/schedule/learning_rate.h"

namespace batchscope::advice {

namespace {

constexpr double no_warmup = 2; ///< change of scale up to which none is needed
/// Effective batch from which label smoothing and other optimizers are suggested.
constexpr std::int64_t large_batch = 512;

/// One recipe being moved: each function adds the value of one setting.
class Move {
public:
  Move(const Recipe& recipe, const StepSizes& to) : recipe_(recipe) {
    moved_.from = recipe.sizes;
    moved_.to = to;
    moved_.scale = static_cast<double>(to.effective()) / static_cast<double>(recipe.sizes.effective());
    adam_ = recipe.optimizer == "adam" || recipe.optimizer == "adamw";
    if (!adam_ && recipe.optimizer != "sgd" && !recipe.optimizer.empty())
      throw input_error(
          fmt::format("--optimizer: {} is not accepted; accepted: sgd, adam, adamw", in_quotes(recipe.optimizer)));
    rule_ = !recipe.rule.empty() ? schedule::parse_rule(recipe.rule)
            : adam_              ? schedule::LearningRateRule::square_root
                                 : schedule::LearningRateRule::linear;
    if (rule_ == schedule::LearningRateRule::adascale && !recipe.noise_scale)
      throw input_error("--lr-rule: adascale needs --noise-scale, the noise scale of the gradient in examples");
  }

  Rescaled done() {
    learning_rate();
    warmup();
    if (adam_)
      betas();
    else if (recipe_.momentum)
      add({.key = "momentum",
           .title = "Momentum",
           .from = recipe_.momentum,
           .to = recipe_.momentum,
           .rule = "unchanged",
           .caveat = "Large steps accumulate in it: it works best with smaller batches.",
           .source = cite("goyal-2017")});
    weight_decay();
    dropout();
    ema();
    length();
    interval("evaluate_every", "Evaluate every", recipe_.evaluate_every);
    interval("save_every", "Save every", recipe_.save_every);
    return std::move(moved_);
  }

private:
  struct RateRule {
    schedule::LearningRateRule rule;
    const char* in_words;
    const char* caveat;
    std::string source;
  };

  /// The rules that apply, that of the recipe first.
  std::vector<RateRule> rate_rules() const {
    using schedule::LearningRateRule;
    std::vector<RateRule> rules{
        {LearningRateRule::linear, "linear in the effective batch",
         "Made for SGD, and keeps the speed of convergence, not the accuracy: validate; it fails where the rate "
         "becomes "
         "too large for the network.",
         cite("goyal-2017") + "; " + cite("tradeoffs", "pattern 2")},
        {LearningRateRule::square_root, "square root of the effective batch",
         "Made for Adam, with its betas and epsilon moved too; it keeps the speed of convergence, not the accuracy: "
         "validate.",
         cite("krizhevsky-2014") + "; for Adam " + cite("malladi-2022")}};
    if (recipe_.noise_scale)
      rules.push_back({LearningRateRule::adascale, "gain at the noise scale of the gradient",
                       "The noise scale grows during training: a run with --lr-rule adascale measures it.",
                       cite("johnson-2020")});
    std::stable_partition(rules.begin(), rules.end(), [&](const RateRule& each) { return each.rule == rule_; });
    return rules;
  }

  void learning_rate() {
    RescaledValue value{.key = "learning_rate", .title = "Learning rate", .from = recipe_.learning_rate};
    if (rule_ == schedule::LearningRateRule::none) {
      value.to = recipe_.learning_rate;
      value.rule = "unchanged, as asked";
      value.caveat = "A larger batch with the same rate converges slower for each example.";
      value.source = cite("batchscope");
    }
    // Only the ratio of the two terms counts.
    const schedule::GradientNoise noise{.squared = 1, .variance = recipe_.noise_scale.value_or(0)};
    for (const RateRule& each : rate_rules()) {
      const double rate = schedule::scaled_rate(recipe_.learning_rate, each.rule, moved_.to.effective(),
                                                moved_.from.effective(), noise);
      const std::string rule = fmt::format("{}, {}", times(rate / recipe_.learning_rate), each.in_words);
      if (value.to) {
        value.others.push_back({rate, rule, each.source});
        continue;
      }
      value.to = rate;
      value.rule = rule;
      value.caveat = each.caveat;
      value.source = each.source;
    }
    value.factor = *value.to / recipe_.learning_rate;
    add(std::move(value));
  }

  std::optional<std::int64_t> steps_after() const {
    if (recipe_.steps)
      return fewer(*recipe_.steps);
    if (recipe_.examples && recipe_.epochs)
      return steps_in_epoch(moved_.to) * *recipe_.epochs;
    return std::nullopt;
  }

  void warmup() {
    const std::optional<std::int64_t> steps = steps_after();
    const std::int64_t by_scale = schedule::automatic_warmup(scale(), steps.value_or(0));
    RescaledValue value{.key = "warmup_steps", .title = "Warm-up steps"};
    if (recipe_.warmup)
      value.from = static_cast<double>(*recipe_.warmup);
    const std::int64_t same_examples = recipe_.warmup.value_or(0) == 0 ? 0 : fewer(*recipe_.warmup);
    const std::int64_t used = std::max(by_scale, same_examples);
    value.to = static_cast<double>(used);
    value.factor = 1 / scale();
    value.rule = by_scale == 0 ? "none up to x 2" : "the larger of 5 % of the steps and 100 log2(scale)";
    if (recipe_.warmup && same_examples >= by_scale)
      value.rule = "over the same examples";
    value.source = cite("tradeoffs", "pattern 2");
    value.caveat = warmup_need();
    if (steps && used >= *steps)
      value.caveat += fmt::format(" That is as long as the training of {}: train longer, or scale less.",
                                  *steps == 1 ? "1 step" : format_count(*steps) + " steps");
    if (scale() > no_warmup)
      value.others = {{1000, "1000 steps", cite("tradeoffs", "pattern 2, code")}};
    add(std::move(value));
  }

  std::string warmup_need() const {
    const std::string change = fmt::format("The effective batch changes by x {:.4g}: ", scale());
    if (scale() <= no_warmup)
      return change + "no warm-up needed.";
    if (scale() < scale_that_needs_warmup)
      return change + "a warm-up may be needed.";
    return change + (scale() < scale_that_diverges ? "a warm-up is needed." : "without warm-up, training may diverge.");
  }

  /// The rule of the square root for Adam moves its averages too, as long as they stay averages.
  void betas() {
    const bool moved = rule_ == schedule::LearningRateRule::square_root;
    const auto beta = [&](const char* key, const char* title, double from) {
      const double by_rule = 1 - scale() * (1 - from);
      RescaledValue value{.key = key, .title = title, .from = from, .to = from, .rule = "unchanged"};
      value.source = cite("malladi-2022");
      if (moved && by_rule > 0) {
        value.to = by_rule;
        value.rule = fmt::format("1 - {:.4g} (1 - {:g})", scale(), from);
        value.caveat = "The average then covers the same examples; many recipes leave it.";
        value.others = {{from, "unchanged", cite("tradeoffs", "interaction 5")}};
      } else if (moved) {
        value.caveat = fmt::format("The rule, 1 - {:.4g} (1 - {:g}), leaves the range from 0 to 1.", scale(), from);
      } else {
        value.caveat = "Only the rule of the square root moves it.";
      }
      value.others.push_back({std::pow(from, scale()),
                              fmt::format("{:g} ^ {:.4g}, the same half-life in examples", from, scale()),
                              cite("marek-2025")});
      value.factor = *value.to / from;
      add(std::move(value));
    };
    beta("beta1", "Adam beta1", recipe_.beta1);
    beta("beta2", "Adam beta2", recipe_.beta2);
    RescaledValue epsilon{.key = "epsilon",
                          .title = "Adam epsilon",
                          .from = recipe_.epsilon,
                          .to = recipe_.epsilon,
                          .rule = "unchanged",
                          .source = cite("malladi-2022")};
    if (moved) {
      epsilon.factor = 1 / std::sqrt(scale());
      epsilon.to = recipe_.epsilon * epsilon.factor;
      epsilon.rule = times(epsilon.factor) + ", 1 / square root";
    }
    epsilon.caveat = "Rarely matters: it is far below the size of the gradients.";
    add(std::move(epsilon));
  }

  void weight_decay() {
    RescaledValue value{.key = "weight_decay", .title = "Weight decay", .from = recipe_.weight_decay};
    value.factor = std::sqrt(scale());
    if (value.from)
      value.to = schedule::scaled_weight_decay(*value.from, schedule::RegularizationRule::square_root,
                                               moved_.to.effective(), moved_.from.effective());
    value.rule = times(value.factor) + ", square root of the effective batch";
    value.source = cite("tradeoffs", "interaction 2");
    value.caveat = "Meant to make up for the noise that a larger batch lacks; too much of it lowers the accuracy.";
    value.others = {{value.from, "unchanged", cite("goyal-2017")}};
    add(std::move(value));
  }

  void dropout() {
    if (recipe_.dropout) {
      RescaledValue value{.key = "dropout", .title = "Dropout", .from = recipe_.dropout};
      value.to = schedule::scaled_dropout(*value.from, schedule::RegularizationRule::square_root, moved_.to.effective(),
                                          moved_.from.effective());
      value.factor = *value.from > 0 ? *value.to / *value.from : 1;
      value.rule = times(std::sqrt(scale())) + ", square root of the effective batch, at most 0.5";
      value.source = cite("tradeoffs", "interaction 3");
      value.caveat = "The right value depends on the layer, mostly from 0.1 to 0.5.";
      add(std::move(value));
    }
    if (scale() > 1 && moved_.to.effective() >= large_batch)
      add({.key = "label_smoothing",
           .title = "Label smoothing",
           .to = 0.1,
           .rule = "0.1 for large batches",
           .caveat = "A suggestion for classification.",
           .source = cite("tradeoffs", "pattern 5, rule 2")});
  }

  void ema() {
    if (!recipe_.ema)
      return;
    const double to = std::pow(*recipe_.ema, scale());
    add({.key = "ema",
         .title = "EMA decay",
         .from = recipe_.ema,
         .to = to,
         .factor = to / *recipe_.ema,
         .rule = fmt::format("{:g} ^ {:.4g}", *recipe_.ema, scale()),
         .caveat = "Updated once per optimizer step, never per micro batch.",
         .source = cite("busbridge-2023")});
  }

  void length() {
    if (recipe_.epochs) {
      const auto from = static_cast<double>(*recipe_.epochs);
      RescaledValue value{
          .key = "epochs", .title = "Epochs", .from = from, .to = from, .rule = "unchanged, the same examples"};
      value.source = cite("goyal-2017");
      value.caveat = "Fewer updates: with a much larger batch they may not be enough.";
      if (scale() > 1) {
        // x 4 needs 1.5 to 2 times the epochs: powers of the scale that give these.
        const double few = std::pow(scale(), std::log(1.5) / std::log(4.0)), many = std::sqrt(scale());
        value.others = {{from * few, times(few) + ", as 1.5 for x 4", cite("tradeoffs", "interaction 4, text")},
                        {from * many, times(many) + ", as 2 for x 4", cite("tradeoffs", "interaction 4, text")},
                        {from * scale(), times(scale()) + ", the same number of updates",
                         cite("tradeoffs", "interaction 4, code")}};
      }
      add(std::move(value));
    }
    if (recipe_.steps) {
      add({.key = "steps",
           .title = "Steps",
           .from = static_cast<double>(*recipe_.steps),
           .to = static_cast<double>(fewer(*recipe_.steps)),
           .factor = 1 / scale(),
           .rule = "over the same examples",
           .caveat = "The same number of steps costs the same updates, but other examples.",
           .source = cite("batchscope"),
           .others = {{static_cast<double>(*recipe_.steps), "unchanged, the same number of updates",
                       cite("tradeoffs", "interaction 4, code")}}});
    }
    RescaledValue value{.key = "steps_per_epoch",
                        .title = "Steps per epoch",
                        .factor = 1 / scale(),
                        .rule = "examples / effective batch, rounded up",
                        .source = cite("online")};
    if (recipe_.examples) {
      value.from = static_cast<double>(steps_in_epoch(moved_.from));
      value.to = static_cast<double>(steps_in_epoch(moved_.to));
    }
    value.caveat = "Everything that counts steps moves with it.";
    add(std::move(value));
  }

  void interval(const char* key, const char* title, const std::optional<std::int64_t>& steps) {
    RescaledValue value{.key = key, .title = title, .factor = 1 / scale(), .rule = "over the same examples"};
    if (steps) {
      value.from = static_cast<double>(*steps);
      value.to = std::max(1.0, std::round(static_cast<double>(*steps) / scale()));
    }
    value.caveat = "In optimizer steps, at least 1.";
    value.source = cite("batchscope");
    add(std::move(value));
  }

  void add(RescaledValue value) { moved_.values.push_back(std::move(value)); }
  double scale() const { return moved_.scale; }
  static std::string times(double factor) { return fmt::format("x {:.4g}", factor); }
  /// Steps over the same examples, rounded up: no example is left out.
  std::int64_t fewer(std::int64_t steps) const {
    return std::max<std::int64_t>(1, std::llround(std::ceil(static_cast<double>(steps) / scale() - 1e-9)));
  }
  std::int64_t steps_in_epoch(const StepSizes& sizes) const {
    return (*recipe_.examples + sizes.effective() - 1) / sizes.effective();
  }

  const Recipe& recipe_;
  Rescaled moved_;
  bool adam_ = false;
  schedule::LearningRateRule rule_ = schedule::LearningRateRule::linear;
};

} // namespace

Rescaled rescale(const Recipe& recipe, const StepSizes& to) {
  return Move(recipe, to).done();
}

} // namespace batchscope::advice
